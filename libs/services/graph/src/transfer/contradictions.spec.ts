import 'reflect-metadata';
import { gzipSync } from 'node:zlib';
import {
  addResponsibility,
  type Caller,
  exportGraph,
  GraphDocument,
  LIMITS,
  listEvents,
  putImportPart,
  runImport,
  type ValidationIssue,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

async function uploaded(document: unknown): Promise<{ upload_id: string; parts: number }> {
  const upload_id = newId();
  const text =
    typeof document === 'string' ? document : JSON.stringify({ format: 'workspace-graph/1', ...(document as object) });
  await graph.call(putImportPart, { upload_id, index: 0, data: gzipSync(text).toString('base64') }, graph.admin);
  return { upload_id, parts: 1 };
}

const bring = async (document: unknown) => graph.call(runImport, await uploaded(document), graph.admin);

async function problems(document: unknown): Promise<string[]> {
  const error = await graph.refusal(runImport, await uploaded(document), graph.admin, 'VALIDATION_FAILED');
  const issues = (error.details?.['issues'] ?? []) as ValidationIssue[];
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

const org = { key: 'org', type: 'organization', name: 'Org' };
const area = (key: string, more: object = {}) => ({ key, type: 'area', name: key, organization: 'org', ...more });
const note = (key: string, node: string, more: object = {}) => ({
  key,
  node,
  kind: 'note',
  content: key,
  occurred_at: '2026-01-01T00:00:00Z',
  ...more,
});
const user = (key: string, more: object = {}) => ({ key, name: key, max_scope: 'write', ...more });

describe('a document that contradicts itself', () => {
  it('is told so at the place, for people and groups [graph.import.reports-every-problem]', async () => {
    const told = await problems({
      nodes: [
        {
          ...org,
          sharing: {
            visibility: 'group',
            recipients: [
              { user: 'u', access: 'read' },
              { user: 'u', access: 'write' },
            ],
          },
        },
      ],
      users: [user('u', { external_id: 'x' }), user('v', { external_id: 'x' })],
      groups: [
        { key: 'g', name: 'Bakers', claim: 'c' },
        { key: 'h', name: 'bákers' },
        { key: 'i', name: 'Others', claim: 'c' },
      ],
      actors: [
        { key: 'a', type: 'person', name: 'A', user: 'u' },
        { key: 'b', type: 'person', name: 'B', user: 'u' },
      ],
    });
    expect(told).toEqual([
      'users.1: is the same user as another record of the document',
      'groups.1: is the same group as another record of the document',
      'groups.2.claim: is the claim of another group',
      'actors.1.user: is already tied to another actor',
      'nodes.0.sharing.recipients.1: is in the list twice',
    ]);
  });

  it('is told so for ids that stand twice, and for states that a type does not have', async () => {
    const id = newId();
    const told = await problems({
      nodes: [
        { ...org, lifecycle_before_archive: 'done', health_note: 'Fine' },
        area('a', {
          responsibilities: [
            { id, title: '1' },
            { id, title: '2' },
          ],
          tools: [{ id, name: '1' }],
        }),
        area('b', {
          data_sources: [{ id, name: '2' }],
          membership: { id, created_by: null, created_at: '2026-01-01T00:00:00Z' },
        }),
      ],
      edges: [{ from: 'a', to: 'b', relation: 'related_to', id }],
    });
    expect(told.map((line) => line.split(':')[0])).toEqual([
      'nodes.0.lifecycle_before_archive',
      'nodes.0.health_note',
      'nodes.1.responsibilities.1.id',
      'nodes.2.data_sources.0.id',
      'edges.0.id',
    ]);
  });

  it('is told so for events that supersede themselves, each other, one event twice, or one of another node', async () => {
    const told = await problems({
      nodes: [org, area('a'), area('b')],
      events: [
        note('self', 'a', { supersedes: 'self' }),
        note('one', 'a', { supersedes: 'two' }),
        note('two', 'a', { supersedes: 'one' }),
        note('old', 'a'),
        note('new', 'a', { supersedes: 'old' }),
        note('newer', 'a', { supersedes: 'old' }),
        note('elsewhere', 'b', { supersedes: 'new' }),
      ],
    });
    expect(told).toEqual([
      'events.0.supersedes: forms a cycle',
      'events.5.supersedes: is already superseded by another event',
      'events.6.supersedes: is an event of another node',
    ]);
  });

  it('is refused for what no call may say either: blank events, too many recipients or assignees, long reasons', async () => {
    const people = Array.from({ length: LIMITS.recipientsPerNode + 1 }, (_, place) => `u${place}`);
    const recipients = people.map((key) => ({ user: key, access: 'read' }));
    const assignees = people.slice(0, LIMITS.assigneesPerResponsibility + 1).map(() => 'a');
    const long = 'x'.repeat(LIMITS.reasonLength + 1);
    const request = {
      id: newId(),
      node_id: newId(),
      user: 'u0',
      access: 'read',
      state: 'refused',
      requested_at: '2026-01-01T00:00:00Z',
      decided_at: null,
      decided_by: null,
    };
    const told = await problems({
      users: people.map((key) => user(key)),
      actors: [{ key: 'a', type: 'person', name: 'A' }],
      nodes: [
        { ...org, sharing: { visibility: 'group', recipients } },
        area('b', { responsibilities: [{ title: 'Ovens', assignees }] }),
      ],
      events: [note('blank', 'b', { content: ' \n\t' })],
      access_requests: [{ ...request, reason: long, decision_note: long }],
    });
    expect(told).toEqual([
      'nodes.0.sharing.recipients: must have at most 500 items',
      'nodes.1.responsibilities.0.assignees: must have at most 200 items',
      'events.0.content: must not be blank',
      'access_requests.0.reason: must have at most 2000 characters',
      'access_requests.0.decision_note: must have at most 2000 characters',
    ]);
  });

  it('is refused for what the database could not hold: places, versions, times, depth', async () => {
    const told = await problems({
      nodes: [{ ...org, position: [1e300, 0], version: 3e9 }, area('a')],
      events: [
        note('early', 'a', { occurred_at: '0001-01-01T00:00:00+01:00' }),
        note('late', 'a', { occurred_at: '9999-12-31T23:00:00-01:00' }),
      ],
    });
    expect(told.map((line) => line.split(':')[0])).toEqual([
      'nodes.0.position.0',
      'nodes.0.version',
      'events.0.occurred_at',
      'events.1.occurred_at',
    ]);
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await problems(`{"format":"workspace-graph/1","nodes":[],"audit":[{"after":${nested}}]}`)).toEqual([
      ': the document is nested deeper than 64 levels',
    ]);
  });
});

describe('a document that contradicts the workspace', () => {
  it('is told so at the place', async () => {
    const other = { key: 'other', type: 'organization', name: 'Other' };
    await bring({
      nodes: [org, other, area('same'), area('twin', { name: 'same', organization: 'other' })],
      users: [user('u')],
      groups: [{ key: 'g', name: 'Readers', claim: 'readers' }],
      actors: [{ key: 'a', type: 'person', name: 'A', user: 'u' }],
      events: [note('first', 'same'), note('second', 'same', { supersedes: 'first' })],
    });
    const u = (await graph.sql<{ id: string }>(`SELECT id FROM identity."user" WHERE name = 'u'`))[0]?.id;
    const told = await problems({
      nodes: [area('same', { organization: 'other' })],
      groups: [{ key: 'h', name: 'More readers', claim: 'readers' }],
      actors: [{ key: 'b', type: 'person', name: 'B', user: u }],
      events: [note('second', 'twin'), note('third', 'same', { supersedes: 'first' })],
    });
    expect(told).toEqual([
      'groups.0.claim: is the claim of another group',
      'actors.0.user: is already tied to another actor',
      'nodes.0.organization: has another area with the sync_key "same"',
      'events.0.node: the event belongs to another node, which never changes',
      'events.1.supersedes: is already superseded by another event',
    ]);
  });

  it('takes ids that are taken meanwhile for new ones', async () => {
    const id = newId();
    const edge = (from: string, to: string) => ({ from, to, relation: 'applies', id });
    await bring({ nodes: [org, area('x'), area('y')], edges: [edge('x', 'y')] });
    expect((await bring({ nodes: [], edges: [edge('y', 'x')] })).created).toEqual({ edges: 1 });
  });
});

describe('an import', () => {
  it('marks as superseded what it brings the successor of, without being told', async () => {
    await bring({
      nodes: [org, area('chain')],
      events: [note('was', 'chain'), note('is', 'chain', { supersedes: 'was' })],
    });
    await bring({ nodes: [], events: [note('will be', 'chain', { supersedes: 'is' })] });
    const [{ id = '' } = {}] = await graph.sql<{ id: string }>(`SELECT id FROM graph.node WHERE import_key = 'chain'`);
    const { items } = await graph.call(listEvents, { node_id: id, status: ['active', 'superseded'] }, graph.reader);
    const told = items.map(({ content, status, superseded_by_id: by }) => [content, status, by !== null]).sort();
    expect(told).toEqual([
      ['is', 'superseded', true],
      ['was', 'superseded', true],
      ['will be', 'active', false],
    ]);
    expect(GraphDocument.safeParse(await graph.call(exportGraph, {}, graph.admin)).success).toBe(true);
  });

  it('waits for a change of the same node that is under way', async () => {
    const duties = (...titles: string[]) => ({
      nodes: [area('busy', { responsibilities: titles.map((title) => ({ title })) })],
    });
    await bring({ nodes: [org, area('busy')] });
    const [{ id = '' } = {}] = await graph.sql<{ id: string }>(`SELECT id FROM graph.node WHERE import_key = 'busy'`);
    const add = (caller: Caller) => graph.call(addResponsibility, { node_id: id, title: 'By hand' }, caller);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([add(graph.admin), bring(duties('One', 'Two')), add(graph.admin), bring(duties('Three'))]);
      const places = await graph.sql<{ position: number }>(
        'SELECT position FROM graph.responsibility WHERE node_id = $1 ORDER BY 1',
        [id],
      );
      expect(places.map(({ position }) => position)).toEqual(places.map((_place, index) => index));
    }
  });
});
