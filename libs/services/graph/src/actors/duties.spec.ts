import {
  addResponsibility,
  archiveNode,
  type Caller,
  type InputOf,
  listDuties,
  type OutputOf,
} from '@workspace-graph/contracts';
import { type GraphFixture, type NodeAnswer, startGraph } from '../testing/graph.fixture.js';

type Duty = OutputOf<typeof listDuties>['items'][number];

let graph: GraphFixture;
let actorId: string;
let otherId: string;
let area: NodeAnswer;

beforeAll(async () => {
  graph = await startGraph();
  actorId = (await graph.actor('bowei')).id;
  otherId = (await graph.actor('thockin')).id;
  area = await graph.node('area', 'SIG Network', { owner_id: actorId });
  await graph.node('principle', 'Attention', { owner_id: actorId });
  await graph.node('principle', 'Of another', { owner_id: otherId });
  await hold(area, 'Triage', otherId);
  await hold(area, 'Technical lead', actorId, otherId);
  await hold(area, 'Chair', actorId);
});
afterAll(() => graph.close());

const hold = (node: NodeAnswer, title: string, ...assignee_ids: string[]): Promise<unknown> =>
  graph.call(addResponsibility, { node_id: node.id, title, assignee_ids }, graph.admin);
const duties = (extra: Partial<InputOf<typeof listDuties>> = {}, caller: Caller = graph.reader) =>
  graph.call(listDuties, { actor_id: actorId, ...extra }, caller);
const told = (items: readonly Duty[]): string[] =>
  items.map(({ node, role, responsibility }) => `${node.name}: ${responsibility?.title ?? role}`);
const VISIBLE = ['Attention: owner', 'SIG Network: owner', 'SIG Network: Technical lead', 'SIG Network: Chair'];

describe('what somebody is responsible for', () => {
  it('is told in one call: nodes that they own and responsibilities that they hold, by node [graph.duties.one-call]', async () => {
    const { items, next_cursor } = await duties();
    expect([told(items), next_cursor]).toEqual([VISIBLE, null]);
    expect(items[2]).toEqual({
      node: { id: area.id, type: 'area', name: 'SIG Network' },
      role: 'assignee',
      responsibility: { id: expect.any(String), title: 'Technical lead', description: '' },
    });
    expect(items[1]).toMatchObject({ role: 'owner', responsibility: null });
  });

  it('comes in pages without a gap or a repetition [graph.paging.cursor]', async () => {
    for (const limit of [1, 2, 3, 4]) {
      const seen: Duty[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await duties({ limit, ...(cursor ? { cursor } : {}) });
        seen.push(...page.items);
        cursor = page.next_cursor;
      }
      expect(told(seen)).toEqual(VISIBLE);
    }
    await graph.refusal(listDuties, { actor_id: actorId, cursor: 'x' }, graph.reader, 'VALIDATION_FAILED');
  });

  it('leaves archived nodes out unless they are asked for', async () => {
    const old = await graph.node('project', 'Old', { owner_id: actorId });
    await graph.call(archiveNode, { node_id: old.id }, graph.admin);
    expect(told((await duties()).items)).toEqual(VISIBLE);
    expect(told((await duties({ status: ['archived'] })).items)).toEqual(['Old: owner']);
  });

  it('has nothing of hidden nodes, and an unknown actor is refused [access.hidden.nowhere]', async () => {
    const secret = await graph.node('area', 'Secret', { owner_id: actorId, visibility: 'private' });
    await hold(secret, 'Keeps it', actorId);
    expect(told((await duties()).items)).toEqual(VISIBLE);
    expect(told((await duties({}, graph.admin)).items)).toEqual([
      VISIBLE[0],
      'Secret: owner',
      'Secret: Keeps it',
      ...VISIBLE.slice(1),
    ]);
    await graph.refusal(listDuties, { actor_id: secret.id }, graph.reader, 'ACTOR_NOT_FOUND');
  });
});
