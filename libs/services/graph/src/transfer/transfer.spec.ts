import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { Module } from '@nestjs/common';
import {
  type Caller,
  exportGraph,
  type GraphDocument,
  LIMITS,
  type OutputOf,
  putImportPart,
  runImport,
  type ValidationIssue,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { ExportHandlers } from './export.handlers.js';
import { ImportHandlers } from './import.handlers.js';

@Module({ controllers: [ImportHandlers, ExportHandlers] })
class TransferModule {}

const DEMO = new URL('../../../../../apps/device-agent/demo/linden-bakery.json', `file://${import.meta.dirname}/`);

interface Flags {
  readonly dry_run?: boolean;
  readonly confirmed?: boolean;
}

async function upload(
  services: ServiceHarness,
  caller: Caller,
  document: string | Buffer,
): Promise<{ upload_id: string; parts: number }> {
  const upload_id = newId();
  const bytes = Buffer.from(document);
  const parts = Math.max(1, Math.ceil(bytes.length / 10_000));
  for (let index = 0; index < parts; index += 1) {
    const data = gzipSync(bytes.subarray(index * 10_000, (index + 1) * 10_000)).toString('base64');
    await services.call(putImportPart, { upload_id, index, data }, caller);
  }
  return { upload_id, parts };
}

async function importText(
  services: ServiceHarness,
  caller: Caller,
  text: string,
  flags: Flags = {},
): Promise<OutputOf<typeof runImport>> {
  return services.call(runImport, { ...(await upload(services, caller, text)), ...flags }, caller);
}

async function issuesOf(services: ServiceHarness, caller: Caller, document: unknown): Promise<ValidationIssue[]> {
  const text = typeof document === 'string' || Buffer.isBuffer(document) ? document : JSON.stringify(document);
  const error = await services.refusal(runImport, await upload(services, caller, text), caller, 'VALIDATION_FAILED');
  return error.details?.['issues'] as ValidationIssue[];
}

describe('import and export of a workspace', () => {
  let services: ServiceHarness;
  let admin: Caller;

  beforeEach(async () => {
    services = await startServices([TransferModule]);
    admin = await services.user('Admin', 'manage');
  });
  afterEach(() => services.close());

  const demo = async (): Promise<
    Record<string, unknown[]> & { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] }
  > => JSON.parse(await readFile(DEMO, 'utf8'));
  const exported = (): Promise<GraphDocument> => services.call(exportGraph, {}, admin);

  it('brings a document in, and the same document again changes nothing [graph.import.idempotent-by-key]', async () => {
    const text = await readFile(DEMO, 'utf8');
    const first = await importText(services, admin, text);
    expect(first).toMatchObject({
      applied: true,
      created: { actors: 8, nodes: 21, edges: 25, events: 14 },
      updated: {},
    });
    const before = await exported();
    const again = await importText(services, admin, text);
    expect(again).toMatchObject({
      applied: true,
      created: {},
      updated: {},
      unchanged: { actors: 8, nodes: 21, edges: 25, events: 14 },
    });
    const after = await exported();
    expect({ ...after, audit: [] }).toEqual({ ...before, audit: [] });
  });

  it('changes only what differs, and tells it in the audit trail', async () => {
    const document = await demo();
    await importText(services, admin, JSON.stringify(document));
    Object.assign(document.nodes[1] ?? {}, {
      goal: 'Warm bread at six.',
      responsibilities: [{ title: 'Head baker', assignees: ['person:ema'] }],
    });
    const report = await importText(services, admin, JSON.stringify(document));
    expect(report.updated).toEqual({ nodes: 1, responsibilities: 1 });
    const entry = (await exported()).audit.findLast((line) => line.target_kind === 'node');
    expect(entry).toMatchObject({
      action: 'run_import',
      before: { goal: 'Every loaf leaves the oven as the recipe says.' },
      after: { goal: 'Warm bread at six.' },
    });
  });

  it('round-trips through an empty workspace to an identical one [graph.export.round-trip, graph.export.complete]', async () => {
    await importText(services, admin, await readFile(DEMO, 'utf8'));
    const user = await services.user('Ema');
    await services.database.prisma.user.update({
      where: { id: user.user_id },
      data: { claimScope: 'read', email: 'ema@example.org', handle: 'ema' },
    });
    const group = newId();
    await services.database.pool.query('INSERT INTO identity.user_group (id, name) VALUES ($1, $2)', [group, 'Bakers']);
    await services.database.pool.query('INSERT INTO identity.membership (group_id, user_id) VALUES ($1, $2)', [
      group,
      user.user_id,
    ]);
    const document = await exported();
    const bakehouse = document.nodes.find((node) => node.key === 'area:bakehouse');
    if (bakehouse) bakehouse.sharing = { visibility: 'group', recipients: [{ group, access: 'write' }] };
    await importText(services, admin, JSON.stringify(document));

    const original = await exported();
    await using empty = await startServices([TransferModule]);
    const other = await empty.user('Somebody else', 'manage');
    await importText(empty, other, JSON.stringify(original));
    const copy = await empty.call(exportGraph, {}, other);
    expect(copy.users.filter((one) => one.id !== other.user_id)).toEqual(original.users);
    expect(copy.audit.slice(0, -1)).toEqual(original.audit);
    expect({ ...copy, users: [], audit: [] }).toEqual({ ...original, users: [], audit: [] });
    const sets = 'SELECT count(*)::int AS restricted FROM graph.node WHERE access_set_id IS NOT NULL';
    expect((await empty.database.pool.query(sets)).rows).toEqual((await services.database.pool.query(sets)).rows);
  });

  it('only counts on a dry run', async () => {
    const report = await importText(services, admin, await readFile(DEMO, 'utf8'), { dry_run: true });
    expect(report).toMatchObject({ applied: false, created: { nodes: 21 } });
    expect((await exported()).nodes).toEqual([]);
  });

  it('reports every problem with its path and writes nothing [graph.import.validates-before-writing, graph.import.reports-every-problem]', async () => {
    const document = await demo();
    Object.assign(document.nodes[1] ?? {}, {
      owner: 'person:nobody',
      lifecycle: 'done',
      organization: 'organization:missing',
    });
    Object.assign(document.nodes[6] ?? {}, { tools: [{ name: 'Bad', url: 'javascript:alert(1)' }] });
    document.nodes.push({ key: 'area:shop', type: 'area', name: 'Twice', organization: 'organization:linden-bakery' });
    document.nodes.push({
      key: 'principle:duties',
      type: 'principle',
      name: 'Duties',
      organization: 'organization:linden-bakery',
      responsibilities: [{ title: 'No' }],
    });
    document.edges.push({ from: 'area:bakehouse', to: 'process:daily-baking', relation: 'belongs_to' });
    document.edges.push({ from: 'area:shop', to: 'area:shop', relation: 'related_to' });
    const paths = (await issuesOf(services, admin, document)).map((issue) => issue.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'nodes.1.owner',
        'nodes.1.lifecycle',
        'nodes.1.organization',
        'nodes.6.tools.0.url',
        'nodes.21.key',
        'nodes.22.responsibilities',
        'edges.26',
      ]),
    );
    expect(paths.some((path) => path.startsWith('edges.'))).toBe(true);
    expect((await exported()).nodes).toEqual([]);
  });

  it('names fields of the wrong shape, unknown fields and text that is not JSON [graph.import.format]', async () => {
    expect(await issuesOf(services, admin, '{"format": "workspace-graph/1", "nodes": [')).toMatchObject([{ path: '' }]);
    expect(await issuesOf(services, admin, { format: 'other/2', nodes: [] })).toMatchObject([{ path: 'format' }]);
    const wrong = { format: 'workspace-graph/1', nodes: [{ key: 'a', type: 'planet', name: '', colour: 'red' }] };
    expect((await issuesOf(services, admin, wrong)).map((issue) => issue.path)).toEqual(
      expect.arrayContaining(['nodes.0.type', 'nodes.0.name', 'nodes.0']),
    );
  });

  it('says where text is no JSON, and in what encoding it must be, in no words of a parser', async () => {
    const text = '{"format":"workspace-graph/1","nodes":[]}';
    const cases: readonly (readonly [string | Buffer, string])[] = [
      [Buffer.from(`\ufeff${text}`, 'utf16le'), 'it is not text in UTF-8; save it in that encoding'],
      [Buffer.from(text, 'utf16le'), 'it is not text in UTF-8; save it in that encoding'],
      [Buffer.from('{"format":"\u00e9"}', 'latin1'), 'it is not text in UTF-8; save it in that encoding'],
      ['<!doctype html>', '"<" is not allowed at byte 0'],
      ['{“format”:1}', 'the character is not allowed at byte 1'],
      [text.replace('[]', '[,]'), '"," is not allowed at this position'],
      [text.replace('[]', '[{]'), '"]" is not allowed at this position'],
      [text.replace('[]', '[NaN]'), '"N" is not allowed at byte 39'],
      [`${text} "x`, 'it ends too early'],
    ];
    for (const [document, why] of cases)
      expect(await issuesOf(services, admin, document)).toEqual([
        { path: '', message: `the document is not JSON: ${why}` },
      ]);
  });

  it('reports what contradicts itself beside what cannot be read [graph.import.reports-every-problem]', async () => {
    const document = {
      format: 'workspace-graph/1',
      nodes: [
        { key: 'o', type: 'organization', name: 'O' },
        { key: 'a', type: 'area', name: 'A', organization: 'o', bogus: 1, description: 5, owner: 'person:nobody' },
        {
          key: 'p',
          type: 'project',
          name: 'P',
          organization: 'nowhere',
          responsibilities: [{ description: 'no title' }],
        },
        { key: 'q', type: 'project', name: 'Q', organization: 'nowhere' },
      ],
      edges: [
        { from: 'a', to: 'p', relation: 'likes' },
        { from: 'zz', to: 'a', relation: 'related_to' },
        { from: 'a', to: 'a', relation: 'related_to' },
      ],
      events: [{ node: 'yy', kind: 'note', content: 'x', occurred_at: '2026-01-01T00:00:00Z' }],
    };
    const issues = await issuesOf(services, admin, document);
    expect(issues.map(({ path }) => path).toSorted()).toEqual([
      'edges.0.relation',
      'edges.1.from',
      'edges.2',
      'events.0.node',
      'nodes.1',
      'nodes.1.description',
      'nodes.1.owner',
      'nodes.2.organization',
      'nodes.2.responsibilities.0.title',
      'nodes.3.organization',
    ]);
    expect((await exported()).nodes).toEqual([]);
  });

  it('reports problems of all nodes, also where the type of another one cannot be read [graph.import.reports-every-problem]', async () => {
    const nodes = [
      { key: 'o', type: 'organization', name: 'O' },
      { key: 'a', type: 'planet', name: 'A', organization: 'nowhere' },
      { key: 5, type: 'area', name: 'B', organization: 'o', owner: 'nobody' },
      { key: 'c', type: 'area', name: 'C', organization: 'a', lifecycle: 'done' },
      { key: 'd', type: 'area', name: '', tools: [{ name: 'Bad', url: 'javascript:alert(1)' }] },
      { key: 'o', type: 'organization', name: 'Twice' },
    ];
    const edges = [
      { from: 'a', to: 'd', relation: 'related_to' },
      { from: 'a', to: 'zz', relation: 'related_to' },
    ];
    const issues = await issuesOf(services, admin, { format: 'workspace-graph/1', colour: 'red', nodes, edges });
    expect(issues.map(({ path }) => path)).toEqual([
      '',
      'nodes.1.type',
      'nodes.1.organization',
      'nodes.2.key',
      'nodes.2.owner',
      'nodes.3.lifecycle',
      'nodes.4.name',
      'nodes.4.tools.0.url',
      'nodes.4.organization',
      'nodes.5.key',
      'edges.1.to',
    ]);
  });

  it('lists the first problems of a document that has very many, and counts all [graph.import.reports-every-problem]', async () => {
    const nodes = [{ key: 'o', type: 'organization', name: 'O' }];
    const wrong = Array.from({ length: LIMITS.importIssues }, () => ({ from: 'o', to: 'o', relation: 'likes' }));
    const lost = Array.from({ length: 500 }, (_one, index) => ({ from: 'o', to: `x${index}`, relation: 'related_to' }));
    const text = JSON.stringify({ format: 'workspace-graph/1', nodes, edges: [...lost, ...wrong, ...wrong] });
    const refused = await services.refusal(runImport, await upload(services, admin, text), admin, 'VALIDATION_FAILED');
    const issues = refused.details?.['issues'] as ValidationIssue[];
    expect([issues.length, issues[0]?.path, issues[999]?.path]).toEqual([1_000, 'edges.0.to', 'edges.749']);
    // Joined to itself, besides a relation that there is not.
    expect(refused.details?.['issue_count']).toBe(500 + 4 * LIMITS.importIssues);
  });

  it('reports what cannot be read alone where it tells too little of the rest', async () => {
    const edges = [{ from: 'zz', to: 'a', relation: 'related_to' }];
    const nameless = { format: 'workspace-graph/1', nodes: [{ key: 'a', type: 'area' }], edges };
    expect((await issuesOf(services, admin, nameless)).map(({ path }) => path)).toContain('nodes.0.name');
    for (const broken of [{ nodes: 5, edges }, { format: 'workspace-graph/1', nodes: [5], edges }, [], null])
      expect(await issuesOf(services, admin, broken)).not.toEqual([]);
  });

  it('finds a cycle that the document closes with edges that exist', async () => {
    await importText(services, admin, await readFile(DEMO, 'utf8'));
    const closing = {
      format: 'workspace-graph/1',
      nodes: [],
      edges: [{ from: 'area:bakehouse', to: 'project:second-oven', relation: 'belongs_to' }],
    };
    expect(await issuesOf(services, admin, closing)).toEqual([
      { path: 'edges.0', message: 'belongs_to edges form a cycle' },
    ]);
  });

  it('waits for confirmation when it would open what is restricted', async () => {
    await services.user('Onlooker');
    const nodes = [
      { key: 'o', type: 'organization', name: 'O' },
      { key: 'a', type: 'area', name: 'A', organization: 'o', sharing: { visibility: 'private' } },
    ];
    await importText(services, admin, JSON.stringify({ format: 'workspace-graph/1', nodes }));
    const opened = JSON.stringify({
      format: 'workspace-graph/1',
      nodes: [{ ...nodes[1], sharing: { visibility: 'everyone' } }],
    });
    const waiting = await importText(services, admin, opened);
    expect(waiting).toMatchObject({ applied: false, preview: { widens: true, opens_to_everyone: 1 } });
    expect((await exported()).nodes[1]?.sharing?.visibility).toBe('private');
    expect(await importText(services, admin, opened, { confirmed: true })).toMatchObject({ applied: true });
    expect((await exported()).nodes[1]?.sharing?.visibility).toBe('everyone');
  });

  it('refuses text that the database cannot hold, wherever it stands', async () => {
    const lone = '\ud800';
    const audit = {
      id: newId(),
      at: '2026-01-01T00:00:00.000Z',
      user: null,
      via: 'rest',
      action: 'x',
      target_kind: 'x',
      target_id: null,
      after: null,
      request_id: 'r',
    };
    const document = {
      format: 'workspace-graph/1',
      nodes: [
        { key: 'a\u0000', type: 'organization', name: 'A' },
        { key: `b${lone}`, type: 'organization', name: 'B' },
      ],
      audit: [
        { ...audit, before: { deep: [{ text: 'x\u0000' }] } },
        { ...audit, id: newId(), before: { [lone]: 1 } },
      ],
    };
    const paths = (await issuesOf(services, admin, document)).map((issue) => issue.path);
    expect(paths).toEqual(['nodes.0.key', 'nodes.1.key', 'audit.0.before', 'audit.1.before']);
  });

  it('takes equal events without a key once', async () => {
    const events = [{ node: 'o', kind: 'note', content: 'One', occurred_at: '2026-01-01T00:00:00.000Z' }];
    const text = JSON.stringify({
      format: 'workspace-graph/1',
      nodes: [{ key: 'o', type: 'organization', name: 'O' }],
      events,
    });
    await importText(services, admin, text);
    expect((await importText(services, admin, text)).unchanged).toMatchObject({ events: 1 });
    expect((await exported()).events).toHaveLength(1);
  });

  it('says of equal events in one document what to do, and nothing of a key that nobody sent', async () => {
    const event = { node: 'o', kind: 'note', content: 'One', occurred_at: '2026-01-01T00:00:00.000Z' };
    const document = {
      format: 'workspace-graph/1',
      nodes: [{ key: 'o', type: 'organization', name: 'O' }],
      events: [event, { ...event, occurred_at: '2026-01-01' }, { ...event, key: 'k' }],
    };
    expect(await issuesOf(services, admin, document)).toEqual([
      { path: 'events.1', message: 'equals events.0; of equal events all but one need a key' },
    ]);
  });

  it('is carried out once when it is repeated, by the same upload or another one, and not for another document', async () => {
    const [text, callId] = [await readFile(DEMO, 'utf8'), newId()];
    const first = await upload(services, admin, text);
    const report = await services.call(runImport, first, admin, callId);
    expect(await services.call(runImport, first, admin, callId)).toEqual(report);
    expect(await services.call(runImport, await upload(services, admin, text), admin, callId)).toEqual(report);
    const other = await upload(services, admin, '{"format":"workspace-graph/1","nodes":[]}');
    await expect(services.call(runImport, other, admin, callId)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await exported()).audit.filter((line) => line.target_kind === 'workspace')).toHaveLength(1);
  });

  it('does not take the parts of another user, nor an upload with a part missing', async () => {
    const other = await services.user('Other', 'manage');
    const theirs = await upload(services, other, '{"format":"workspace-graph/1","nodes":[]}');
    await services.refusal(runImport, theirs, admin, 'UPLOAD_NOT_FOUND');
    await services.refusal(runImport, { ...theirs, parts: 2 }, other, 'UPLOAD_NOT_FOUND');
  });
});
