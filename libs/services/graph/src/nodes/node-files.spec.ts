import {
  type Caller,
  getContext,
  getNode,
  getOverview,
  LIMITS,
  type OutputOf,
  purgeNode,
  RawJson,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let node: NodeAnswer;
beforeAll(async () => {
  graph = await startGraph();
});
beforeEach(async () => {
  node = await graph.node('project', `Node ${newId()}`);
});
afterAll(() => graph.close());

const read = (caller: Caller = graph.reader): Promise<OutputOf<typeof getNode>> =>
  graph.call(getNode, { node_id: node.id }, caller);

describe('the files of a node', () => {
  it('come with the node, the newest first, with their status [graph.node.detail-local-path] [files.record.status-by-section]', async () => {
    expect(await read()).toMatchObject({ files: { items: [], complete: true }, local_path: null });
    for (const path of ['wip/a.md', 'outputs/b.md', 'resources/c.md']) await graph.file(node.id, path);
    const { files } = await read();
    expect(files.items.map(({ path, status }) => [path, status])).toEqual([
      ['resources/c.md', null],
      ['outputs/b.md', 'output'],
      ['wip/a.md', 'wip'],
    ]);
    expect(files).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ size_bytes: 7, mime_type: 'text/plain' })]),
      complete: true,
    });
  });

  it('are cut to the newest where there are many, and the answer says so', async () => {
    for (let n = 0; n < LIMITS.nodeFiles; n += 1) await graph.file(node.id, `wip/${n}`);
    expect((await read()).files.complete).toBe(true);
    await graph.file(node.id, 'wip/newest');
    const { files } = await read();
    expect(files).toMatchObject({ complete: false, items: { length: LIMITS.nodeFiles } });
    expect(files.items[0]?.path).toBe('wip/newest');
    const context = await graph.call(getContext, { node_id: node.id, max_tokens: 100_000 }, graph.reader);
    expect(context.node.files).toEqual(files);
    const short = await graph.call(getContext, { node_id: node.id, max_tokens: 1_000 }, graph.reader);
    expect(short.left_out.node).toContain('files');
    expect(short.node.files).toMatchObject({ complete: false });
    expect(short.node.files.items.length).toBeLessThan(LIMITS.nodeFiles);
  });

  it('stand before the place for the folder, which ends the text of the answer', async () => {
    const envelope = { callId: newId(), requestId: 'r', caller: graph.reader };
    const registry = graph.module.get(OperationRegistry);
    const call = { envelope, signal: new AbortController().signal };
    const reply = await registry.dispatch(getNode, { node_id: node.id }, call);
    if (!(reply instanceof RawJson)) throw new Error('The answer is not raw');
    expect(reply.text.endsWith('"local_path" : null}')).toBe(true);
  });

  it('are buried with their node, after a preview that counts them [graph.node.purge-writes-file-tombstones] [graph.node.purge-preview-first]', async () => {
    const ids = [await graph.file(node.id, 'wip/a.md'), await graph.file(node.id, 'outputs/b.md')];
    const preview = await graph.call(purgeNode, { node_id: node.id }, graph.admin);
    expect(preview).toMatchObject({ applied: false, removes: { files: 2 } });
    expect((await read()).files.items).toHaveLength(2);
    await graph.call(purgeNode, { node_id: node.id, confirmed: true }, graph.admin);
    const left = await graph.sql(
      'SELECT file_id, reason, remote_path FROM file.tombstone WHERE node_id = $1 ORDER BY file_id',
      [node.id],
    );
    const folder = `acme/projects/${node.sync_key}`;
    expect(left).toEqual([
      { file_id: ids[0], reason: 'purged', remote_path: `${folder}/wip/a.md` },
      { file_id: ids[1], reason: 'purged', remote_path: `${folder}/outputs/b.md` },
    ]);
    expect(await graph.sql('SELECT 1 FROM file.record WHERE node_id = $1', [node.id])).toEqual([]);
  });
});

describe('the overview', () => {
  const stuck = async (caller: Caller): Promise<string[]> =>
    (await graph.call(getOverview, {}, caller)).attention.stuck_operations.map(({ message }) => message);
  const note = (fileId: string, error: string | null, toNode: string | null = null): Promise<unknown> =>
    graph.sql(
      `INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_node_id, to_path, last_error, attempts)
       VALUES ($1, $2, $3, 'move', 'wip/a', $4, 'wip/b', $5, 3)`,
      [newId(), fileId, node.id, toNode, error],
    );

  it('tells operations on files that failed half-way, to who sees all that they tell of [graph.overview.permission-filtered]', async () => {
    const file = await graph.file(node.id, 'wip/a');
    const hidden = await graph.node('project', 'Hidden', { visibility: 'private' });
    await note(file, 'stuck here');
    await note(file, null);
    await note(file, 'stuck on the way to a hidden node', hidden.id);
    await note(await graph.file(hidden.id, 'wip/c'), 'stuck in a hidden node');
    expect(await stuck(graph.reader)).toEqual(['stuck here']);
    expect((await stuck(graph.admin)).sort()).toEqual([
      'stuck here',
      'stuck in a hidden node',
      'stuck on the way to a hidden node',
    ]);
    const { attention } = await graph.call(getOverview, {}, graph.reader);
    expect(attention.stuck_operations).toEqual([
      {
        id: expect.any(String),
        node: { id: node.id, type: 'project', name: node.name },
        file_id: file,
        kind: 'move',
        path: 'wip/a',
        to_path: 'wip/b',
        message: 'stuck here',
        attempts: 3,
        since: expect.any(String),
      },
    ]);
  });
});
