import {
  addResponsibility,
  getNode,
  type InputOf,
  removeResponsibility,
  reorderResponsibilities,
  updateResponsibility,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const add = (node: NodeAnswer, title: string, extra: Partial<InputOf<typeof addResponsibility>> = {}) =>
  graph.call(addResponsibility, { node_id: node.id, title, ...extra }, graph.admin);
const change = (responsibility_id: string, extra: Partial<InputOf<typeof updateResponsibility>>) =>
  graph.call(updateResponsibility, { responsibility_id, ...extra }, graph.admin);
const remove = (responsibility_id: string) => graph.call(removeResponsibility, { responsibility_id }, graph.admin);
const reorder = (node: NodeAnswer, responsibility_ids: string[]) =>
  graph.call(reorderResponsibilities, { node_id: node.id, responsibility_ids }, graph.admin);
const read = (node: NodeAnswer) => graph.call(getNode, { node_id: node.id }, graph.reader);
const titles = async (node: NodeAnswer) => (await read(node)).responsibilities.map(({ title }) => title);
const positions = (node: NodeAnswer) =>
  graph.sql<{ position: number }>('SELECT position FROM graph.responsibility WHERE node_id = $1 ORDER BY position', [
    node.id,
  ]);

async function nodeWith(name: string, ...duties: string[]): Promise<{ node: NodeAnswer; ids: string[] }> {
  const node = await graph.node('process', name);
  const ids: string[] = [];
  for (const title of duties) ids.push((await add(node, title)).id);
  return { node, ids };
}

describe('responsibilities', () => {
  it('come in the order in which they were added, with all that was given [graph.responsibilities.ordered]', async () => {
    const { node } = await nodeWith('Added', 'First', 'Second');
    const third = await add(node, 'Third', { description: 'In detail' });
    expect(third).toEqual({ id: expect.any(String), title: 'Third', description: 'In detail', assignees: [] });
    expect(await titles(node)).toEqual(['First', 'Second', 'Third']);
    expect((await read(node)).version).toBe(4);
  });

  it('are answered for by any number of actors, each once [graph.responsibilities.assignees]', async () => {
    const [person, robot] = [await graph.actor('Person'), await graph.actor('Robot', { type: 'automation' })];
    const { node } = await nodeWith('Assigned');
    const made = await add(node, 'Shared duty', { assignee_ids: [robot.id, person.id, robot.id] });
    expect(made.assignees.map(({ name }) => name)).toEqual(['Robot', 'Person']);
    expect((await change(made.id, { assignee_ids: [person.id] })).assignees).toEqual([
      { id: person.id, type: 'person', name: 'Person' },
    ]);
    expect((await change(made.id, { assignee_ids: [] })).assignees).toEqual([]);
    const unknown = newId();
    for (const refused of [
      graph.refusal(
        addResponsibility,
        { node_id: node.id, title: 'X', assignee_ids: [person.id, unknown] },
        graph.admin,
        'ACTOR_NOT_FOUND',
      ),
      graph.refusal(
        updateResponsibility,
        { responsibility_id: made.id, assignee_ids: [unknown] },
        graph.admin,
        'ACTOR_NOT_FOUND',
      ),
    ])
      expect((await refused).details).toEqual({ actor_id: unknown });
    expect(await titles(node)).toEqual(['Shared duty']);
  });

  it('can be changed, and stay untouched by a change that changes nothing [graph.responsibilities.edit-and-delete]', async () => {
    const {
      node,
      ids: [id = ''],
    } = await nodeWith('Edited', 'Old title');
    expect(await change(id, { title: 'New title', description: 'Why' })).toMatchObject({
      id,
      title: 'New title',
      description: 'Why',
    });
    const { version } = await read(node);
    await change(id, { title: 'New title', assignee_ids: [] });
    expect((await read(node)).version).toBe(version);
    const rows = await graph.sql('SELECT action, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at, id', [
      id,
    ]);
    expect(rows.map((row) => row['action'])).toEqual(['add_responsibility', 'update_responsibility']);
    expect(rows[1]).toMatchObject({
      before: { node_id: node.id, title: 'Old title', description: '' },
      after: { title: 'New title', description: 'Why' },
    });
  });

  it('close the gap when one is removed [graph.responsibilities.edit-and-delete]', async () => {
    const { node, ids } = await nodeWith('Shrinking', 'A', 'B', 'C', 'D');
    expect(await remove(ids[1] ?? '')).toEqual({ done: true });
    expect(await titles(node)).toEqual(['A', 'C', 'D']);
    expect(await positions(node)).toEqual([{ position: 0 }, { position: 1 }, { position: 2 }]);
    await graph.refusal(removeResponsibility, { responsibility_id: ids[1] }, graph.admin, 'RESPONSIBILITY_NOT_FOUND');
    await graph.refusal(
      updateResponsibility,
      { responsibility_id: newId(), title: 'X' },
      graph.admin,
      'RESPONSIBILITY_NOT_FOUND',
    );
  });

  it('take a new order as a whole [graph.responsibilities.ordered]', async () => {
    const { node, ids } = await nodeWith('Reordered', 'A', 'B', 'C');
    const [a = '', b = '', c = ''] = ids;
    expect((await reorder(node, [c, a, b])).responsibilities.map(({ title }) => title)).toEqual(['C', 'A', 'B']);
    expect(await titles(node)).toEqual(['C', 'A', 'B']);
    const { version } = await read(node);
    await reorder(node, [c, a, b]);
    expect((await read(node)).version).toBe(version);
  });

  it('refuse an order that names not each of them once, with the current ones', async () => {
    const { node, ids } = await nodeWith('Complete', 'A', 'B');
    const [a = '', b = ''] = ids;
    const current = (await read(node)).responsibilities;
    for (const responsibility_ids of [[a], [a, b, newId()], [a, newId()], []]) {
      const error = await graph.refusal(
        reorderResponsibilities,
        { node_id: node.id, responsibility_ids },
        graph.admin,
        'CONFLICT',
      );
      expect(error.details).toEqual({ current });
    }
    const error = await graph.refusal(
      reorderResponsibilities,
      { node_id: node.id, responsibility_ids: [a, a] },
      graph.admin,
      'VALIDATION_FAILED',
    );
    expect(error.details).toMatchObject({ issues: [{ path: 'responsibility_ids' }] });
  });

  it('stay dense and whole when many writers add, remove and reorder at once', async () => {
    const { node, ids } = await nodeWith('Crowded', 'A', 'B', 'C');
    const outcomes = await Promise.allSettled([
      ...['D', 'E', 'F', 'G'].map((title) => add(node, title)),
      remove(ids[0] ?? ''),
      remove(ids[0] ?? ''),
      reorder(node, [...ids].reverse()),
    ]);
    const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(codes.filter((code) => !['CONFLICT', 'RESPONSIBILITY_NOT_FOUND'].includes(code))).toEqual([]);
    expect(await positions(node)).toEqual(Array.from({ length: 6 }, (_, position) => ({ position })));
    expect(new Set(await titles(node))).toEqual(new Set(['B', 'C', 'D', 'E', 'F', 'G']));
  });

  it('are based on the version of their node when the caller says so', async () => {
    const {
      node,
      ids: [id = ''],
    } = await nodeWith('Versioned', 'A');
    const current = await graph.call(getNode, { node_id: node.id }, graph.admin);
    const stale = { expected_version: 1 };
    for (const error of [
      await graph.refusal(addResponsibility, { node_id: node.id, title: 'X', ...stale }, graph.admin, 'CONFLICT'),
      await graph.refusal(
        updateResponsibility,
        { responsibility_id: id, title: 'X', ...stale },
        graph.admin,
        'CONFLICT',
      ),
      await graph.refusal(removeResponsibility, { responsibility_id: id, ...stale }, graph.admin, 'CONFLICT'),
      await graph.refusal(
        reorderResponsibilities,
        { node_id: node.id, responsibility_ids: [id], ...stale },
        graph.admin,
        'CONFLICT',
      ),
    ])
      expect(error.details).toEqual({ current });
  });

  it('are not for organizations and principles [graph.details.types]', async () => {
    const principle = await graph.node('principle', 'No duties');
    for (const { id } of [graph.organization, principle]) {
      const error = await graph.refusal(
        addResponsibility,
        { node_id: id, title: 'X' },
        graph.admin,
        'VALIDATION_FAILED',
      );
      expect(error.details).toMatchObject({ issues: [{ path: 'node_id' }] });
    }
    for (const type of ['project', 'process', 'area'] as const)
      expect((await add(await graph.node(type, `Duties of ${type}`), 'Fine')).title).toBe('Fine');
  });

  it('are changed at manage only, and added once per call [access.tier.structure-needs-manage]', async () => {
    const { node } = await nodeWith('Guarded');
    await graph.refusal(addResponsibility, { node_id: node.id, title: 'X' }, graph.writer, 'FORBIDDEN');
    await graph.refusal(addResponsibility, { node_id: newId(), title: 'X' }, graph.admin, 'NODE_NOT_FOUND');
    const callId = newId();
    const once = () => graph.call(addResponsibility, { node_id: node.id, title: 'Once' }, graph.admin, callId);
    const made = await Promise.all([once(), once()]);
    expect(made[0]).toEqual(made[1]);
    expect(await titles(node)).toEqual(['Once']);
  });
});
