import { gzipSync } from 'node:zlib';
import { exportGraph, putImportPart, runImport, type ValidationIssue } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let project: string;
beforeAll(async () => {
  graph = await startGraph();
});
beforeEach(async () => {
  project = (await graph.node('project', `Project ${newId()}`)).id;
});
afterAll(() => graph.close());

async function uploaded(files: readonly object[]): Promise<{ upload_id: string; parts: number }> {
  const upload_id = newId();
  const text = JSON.stringify({ format: 'workspace-graph/1', nodes: [], files });
  await graph.call(putImportPart, { upload_id, index: 0, data: gzipSync(text).toString('base64') }, graph.admin);
  return { upload_id, parts: 1 };
}

const bring = async (...files: readonly object[]) => graph.call(runImport, await uploaded(files), graph.admin);
const file = (path: string, more: object = {}) => ({ node: project, path, mime_type: 'text/plain', ...more });
const records = () =>
  graph.sql<{ id: string; path: string; sha256: string | null; version: number; created_by: string | null }>(
    'SELECT id, path, sha256, version, created_by FROM file.record WHERE node_id = $1 ORDER BY path',
    [project],
  );

describe('files of a document', () => {
  it('are tracked from then on, by who imports them, in NFC [files.path.nfc]', async () => {
    expect(
      await bring(file('wip/Cafe\u0301'), file('outputs/b', { sha256: '0a'.repeat(32), size_bytes: 3 })),
    ).toMatchObject({
      applied: true,
      created: { files: 2 },
    });
    const common = { id: expect.any(String), version: 1, created_by: graph.admin.user_id };
    expect(await records()).toEqual([
      { ...common, path: 'outputs/b', sha256: '0a'.repeat(32) },
      { ...common, path: 'wip/Caf\u00e9', sha256: null },
    ]);
    const told = await graph.sql(
      `SELECT 1 FROM outbox.event WHERE type = 'file.changed' AND payload ->> 'node_id' = $1`,
      [project],
    );
    expect(told).toHaveLength(1);
  });

  it('leave those that are there as they are, found by id or by path', async () => {
    const [one, two] = [await graph.file(project, 'wip/1'), await graph.file(project, 'wip/2')];
    const before = await records();
    const again = [
      file('wip/elsewhere', { id: one, sha256: '0b'.repeat(32) }),
      file('wip/2', { id: newId(), version: 9 }),
    ];
    expect(await bring(...again)).toMatchObject({ created: {}, updated: {}, unchanged: { files: 2 } });
    expect(await records()).toEqual(before);
    expect(before.map(({ id }) => id)).toEqual([one, two]);
    const { files } = await graph.call(exportGraph, {}, graph.admin);
    expect(files.filter(({ node }) => node === project).map(({ id }) => id)).toEqual([one, two]);
  });

  it('tell every problem at its place, and nothing is written [graph.import.reports-every-problem] [files.path.case-collision-reported] [files.path.segments-refused]', async () => {
    await graph.file(project, 'wip/There.md');
    const before = await records();
    const id = newId();
    const documents = [
      file('wip/good'),
      file('wip/../bad'),
      file('elsewhere/x'),
      file('wip/a', { node: 'nobody' }),
      file('wip/GOOD'),
      file('wip/there.MD'),
      file('wip/b', { id }),
      file('wip/c', { id }),
      file('wip/d', { created_by: 'nobody' }),
    ];
    const error = await graph.refusal(runImport, await uploaded(documents), graph.admin, 'VALIDATION_FAILED');
    const issues = (error.details?.['issues'] ?? []) as ValidationIssue[];
    expect(issues.map(({ path }) => path)).toEqual([
      'files.1.path',
      'files.2.path',
      'files.3.node',
      'files.4.path',
      'files.5.path',
      'files.7.id',
      'files.8.created_by',
    ]);
    expect(await records()).toEqual(before);
  });
});
