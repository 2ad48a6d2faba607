import 'reflect-metadata';
import { gzipSync } from 'node:zlib';
import { getNode, type OutputOf, putImportPart, runImport } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

async function bring(document: object, confirmed = false): Promise<OutputOf<typeof runImport>> {
  const upload_id = newId();
  const text = JSON.stringify({ format: 'workspace-graph/1', nodes: [], ...document });
  await graph.call(putImportPart, { upload_id, index: 0, data: gzipSync(text).toString('base64') }, graph.admin);
  return graph.call(runImport, { upload_id, parts: 1, confirmed }, graph.admin);
}

const seen = async (nodeId: string): Promise<boolean> =>
  graph.call(getNode, { node_id: nodeId }, graph.writer).then(
    () => true,
    () => false,
  );
const staleNodes = async (): Promise<unknown> =>
  (await graph.sql('SELECT graph.refresh_access(array_agg(id)) AS moved FROM graph.node'))[0]?.['moved'];
const grants = () => graph.sql('SELECT * FROM graph.gate_grant ORDER BY gate_id, principal_id');

describe('an import moves access', () => {
  it('by an edge between nodes that it does not bring [access.materialised.same-transaction]', async () => {
    const [open, closed] = [
      await graph.node('area', 'Open'),
      await graph.node('area', 'Closed', { visibility: 'private' }),
    ];
    const report = await bring({ edges: [{ from: open.id, to: closed.id, relation: 'belongs_to' }] });
    expect(report).toMatchObject({ applied: true, preview: { widens: false } });
    expect(report.preview?.loses.map((one) => one.user_name)).toContain('Will Writer');
    expect(await seen(open.id)).toBe(false);
    expect(await staleNodes()).toBe(0);
  });

  it('by the user of an actor who owns nodes that it does not bring, and asks before it lets somebody in', async () => {
    const user = await graph.user('Uma');
    const actor = await graph.actor('Owner', { user_id: user.user_id });
    const { id } = await graph.node('area', 'Owned', { visibility: 'private', owner_id: actor.id });
    const tied = (key: string | null) => ({
      actors: [{ key: actor.id, id: actor.id, type: 'person', name: 'Owner', user: key }],
    });
    expect(await bring(tied(null))).toMatchObject({ applied: true, preview: { loses: [{ user_name: 'Uma' }] } });
    expect(await seen(id)).toBe(false);
    const waiting = await bring(tied(graph.writer.user_id));
    expect(waiting).toMatchObject({ applied: false, preview: { widens: true, gains: [{ user_name: 'Will Writer' }] } });
    expect(await bring(tied(graph.writer.user_id), true)).toMatchObject({ applied: true });
    expect(await seen(id)).toBe(true);
    const stored = await grants();
    await staleNodes();
    expect(await grants()).toEqual(stored);
  });

  it('by new members of a group, and asks before', async () => {
    const group = newId();
    await graph.sql('INSERT INTO identity.user_group (id, name) VALUES ($1, $2)', [group, 'Crew']);
    const { id } = await graph.node('area', 'Shared', { visibility: 'group' });
    await graph.sql(`INSERT INTO graph.share (node_id, group_id, access) VALUES ($1, $2, 'read')`, [id, group]);
    await staleNodes();
    const joining = { groups: [{ key: group, id: group, name: 'Crew', members: [{ user: graph.writer.user_id }] }] };
    expect(await bring(joining)).toMatchObject({ applied: false, preview: { gains: [{ user_name: 'Will Writer' }] } });
    expect(await seen(id)).toBe(false);
    expect(await bring(joining, true)).toMatchObject({ applied: true });
    expect(await seen(id)).toBe(true);
  });
});
