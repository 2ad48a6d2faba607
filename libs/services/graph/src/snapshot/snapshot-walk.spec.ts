import {
  archiveNode,
  type Caller,
  connect,
  disconnect,
  getSnapshot,
  purgeNode,
  restoreNode,
  setAccess,
  setPositions,
  updateNode,
} from '@workspace-graph/contracts';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';
import { type DrawnGraph, draw, plain } from './drawn-graph.fixture.js';
import type { SnapshotAnswer } from './snapshot-content.js';

const STEPS = 120;
const seed = Number(process.env['SVC_TEST_SEED'] ?? 261_122);

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

/** A generator of numbers that the seed alone decides (mulberry32). */
function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** A client that keeps some earlier states and their tokens. */
class Client {
  private readonly states: { token: string; drawn: DrawnGraph }[] = [];
  deltas = 0;

  constructor(private readonly caller: Caller) {}

  async refresh(random: (below: number) => number): Promise<void> {
    const state = this.states[random(this.states.length)];
    const answer = await this.read(state?.token);
    if (!answer.full) this.deltas += 1;
    const drawn = draw(answer, state?.drawn);
    const whole = await this.read(undefined);
    expect(plain(drawn)).toEqual(plain(draw(whole)));
    expect(answer.token).toBe(whole.token);
    this.states.push({ token: answer.token, drawn });
    if (this.states.length > 5) this.states.shift();
  }

  private async read(since: string | undefined): Promise<SnapshotAnswer> {
    return (await graph.call(getSnapshot, since === undefined ? {} : { since }, this.caller)) as SnapshotAnswer;
  }
}

describe(`a walk of random changes (SVC_TEST_SEED=${seed})`, () => {
  it('leads every client by deltas to what the whole answer shows, lost and gained access included [graph.snapshot.delta-since]', async () => {
    const random = randomFrom(seed);
    const ids: string[] = [];
    for (let i = 0; i < 25; i += 1) ids.push((await graph.node(i % 4 === 0 ? 'area' : 'project', `Uzel ${i}`)).id);
    const edges: string[] = [];
    const one = (): string => ids[random(ids.length)] ?? '';
    const tolerate = (change: Promise<unknown>): Promise<unknown> =>
      change.catch((error: unknown) => {
        if (!(error instanceof Error) || !('code' in error) || error.code === 'INTERNAL') throw error;
      });
    const admin = graph.admin;
    const steps: (() => Promise<unknown>)[] = [
      async () =>
        ids.push((await graph.node('project', `Nový ${ids.length}`, { parent_ids: random(2) ? [one()] : [] })).id),
      () => graph.call(updateNode, { node_id: one(), name: `Jméno ${random(5)}` }, admin),
      () => graph.call(archiveNode, { node_id: one() }, admin),
      () => graph.call(restoreNode, { node_id: one() }, admin),
      async () => {
        const relation = (['related_to', 'belongs_to', 'informed_by'] as const)[random(3)] ?? 'related_to';
        const answer = await graph.call(
          connect,
          { source_id: one(), target_id: one(), relation, confirmed: true },
          admin,
        );
        if (answer.edge) edges.push(answer.edge.id);
      },
      () => graph.call(disconnect, { edge_id: edges[random(edges.length)] ?? one(), confirmed: true }, admin),
      () => graph.call(setPositions, { positions: [{ node_id: one(), x: random(9), y: random(9) }] }, admin),
      () =>
        graph.call(
          setAccess,
          { node_id: one(), visibility: (['everyone', 'private', null] as const)[random(3)] ?? null, confirmed: true },
          admin,
        ),
      () =>
        graph.call(
          setAccess,
          {
            node_id: one(),
            visibility: 'group',
            confirmed: true,
            recipients: [{ kind: 'user', id: (random(2) ? graph.reader : graph.writer).user_id, access: 'read' }],
          },
          admin,
        ),
      () => graph.call(purgeNode, { node_id: ids.splice(random(ids.length), 1)[0] ?? '', confirmed: true }, admin),
    ];
    const clients = [graph.reader, graph.writer, admin].map((caller) => new Client(caller));
    for (let step = 0; step < STEPS; step += 1) {
      await tolerate(steps[random(ids.length < 15 ? steps.length - 1 : steps.length)]?.() ?? Promise.resolve());
      await clients[random(clients.length)]?.refresh(random);
    }
    for (const client of clients) expect(client.deltas).toBeGreaterThan(10);
  });
});
