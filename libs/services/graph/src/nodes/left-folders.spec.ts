import { gzipSync } from 'node:zlib';
import { createNode, moveNode, purgeNode, putImportPart, runImport } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
let elsewhere: NodeAnswer;
beforeAll(async () => {
  graph = await startGraph();
  await graph.sql(
    `WITH root AS (INSERT INTO file.remote_root (marker) VALUES ($1) RETURNING marker)
     INSERT INTO file.remote (id, name, type, config, root_marker, grade) SELECT $1, 'team', 'fs', '{}', marker, '{}' FROM root`,
    [newId()],
  );
  elsewhere = await graph.node('organization', 'Elsewhere');
});
afterAll(() => graph.close());

const purge = (node_id: string) => graph.call(purgeNode, { node_id, confirmed: true }, graph.admin);
const move = (node: NodeAnswer, organization: NodeAnswer) =>
  graph.call(moveNode, { node_id: node.id, organization_id: organization.id, confirmed: true }, graph.admin);
const inNorth = (name: string, extra = {}) => graph.node('project', name, { organization_id: elsewhere.id, ...extra });

describe('where there are remotes, the folder of a node is given to no other one', () => {
  it('after it was purged, nor is that of an organization', async () => {
    await purge((await graph.node('project', 'Purged')).id);
    expect((await graph.node('project', 'Purged')).sync_key).toMatch(/^purged-[a-z0-9]{5}$/);
    expect([(await graph.node('area', 'Purged')).sync_key, (await inNorth('Purged')).sync_key]).toEqual([
      'purged',
      'purged',
    ]);
    await purge((await graph.node('organization', 'Short')).id);
    expect((await graph.node('organization', 'Short')).sync_key).toMatch(/^short-[a-z0-9]{5}$/);
  });

  it('after it went to another organization, but the node may come back', async () => {
    const node = await graph.node('project', 'Traveller');
    await move(node, elsewhere);
    expect((await graph.node('project', 'Traveller')).sync_key).toMatch(/^traveller-[a-z0-9]{5}$/);
    await move(node, graph.organization);
    expect((await inNorth('Traveller')).sync_key).toMatch(/^traveller-[a-z0-9]{5}$/);
  });

  it('to none that is moved there, which says so', async () => {
    const gone = await graph.node('project', 'Taken');
    await purge(gone.id);
    const node = await inNorth('Taken');
    const input = { node_id: node.id, organization_id: graph.organization.id };
    const { message, details } = await graph.refusal(moveNode, input, graph.admin, 'CONFLICT');
    expect(message).toContain('taken (the folder of a project that was purged or moved)');
    expect(message).toMatch(/Options: create this node again there, .* and archive it here\.$/);
    const ref = { id: node.id, type: 'project', name: 'Taken' };
    expect(details).toMatchObject({ clashes: [{ node: ref, with: null, sync_key: 'taken' }] });
  });

  it('to none that is imported, but to the same one', async () => {
    const gone = await graph.node('project', 'Imported');
    await purge(gone.id);
    const bring = async (node: object) => {
      const upload_id = newId();
      const project = { type: 'project', name: 'Imported', organization: graph.organization.id, ...node };
      const text = JSON.stringify({ format: 'workspace-graph/1', nodes: [project] });
      await graph.call(putImportPart, { upload_id, index: 0, data: gzipSync(text).toString('base64') }, graph.admin);
      return graph.call(runImport, { upload_id, parts: 1 }, graph.admin);
    };
    const keys = () => graph.sql(`SELECT sync_key FROM graph.node WHERE name = 'Imported' ORDER BY created_at, id`);
    await bring({ key: 'n' });
    expect(await keys()).toEqual([{ sync_key: expect.stringMatching(/^imported-[a-z0-9]{5}$/) }]);
    await expect(bring({ key: 'm', sync_key: 'imported' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { issues: [{ message: expect.stringContaining('"imported" was that of another project') }] },
    });
    await bring({ key: 'k', id: gone.id, sync_key: 'imported' });
    expect(await keys()).toContainEqual({ sync_key: 'imported' });
  });

  it('to none that is made while it goes', async () => {
    const node = await graph.node('project', 'Rush');
    const input = { type: 'project', name: 'Rush', organization_id: graph.organization.id } as const;
    const [, made] = await Promise.all([purge(node.id), graph.call(createNode, input, graph.admin)]);
    expect(made.sync_key).toMatch(/^rush-[a-z0-9]{5}$/);
  });
});
