import {
  addResponsibility,
  archiveNode,
  type Caller,
  connect,
  createActor,
  createNode,
  deleteActor,
  disconnect,
  type InputOf,
  moveNode,
  type Operation,
  purgeNode,
  removeResponsibility,
  ServiceError,
  updateActor,
  updateNode,
} from '@workspace-graph/contracts';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

const SEED = Number(process.env['SVC_TEST_SEED'] ?? 261_122);
const WRITERS = 12;
const CALLS_OF_EACH = 45;
/** What a writer who comes too late is told; a deadlock or a fault would be none of these. */
const EXPECTED = [
  'NODE_NOT_FOUND',
  'EDGE_NOT_FOUND',
  'EDGE_EXISTS',
  'EDGE_CYCLE',
  'ORG_INVARIANT',
  'ACTOR_NOT_FOUND',
  'RESPONSIBILITY_NOT_FOUND',
  'IN_USE',
  'CONFLICT',
  'VALIDATION_FAILED',
];

const ACTIONS = [
  addResponsibility,
  archiveNode,
  connect,
  createActor,
  createNode,
  deleteActor,
  disconnect,
  moveNode,
  purgeNode,
  removeResponsibility,
  updateActor,
  updateNode,
]
  .map((operation) => operation.name)
  .sort();

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

class Storm {
  readonly nodes: string[] = [];
  readonly edges: string[] = [];
  readonly actors: string[] = [];
  readonly duties: string[] = [];
  readonly refusals: unknown[] = [];

  constructor(
    private readonly organizations: readonly string[],
    private readonly caller: Caller,
  ) {}

  async write(random: () => number): Promise<void> {
    for (let call = 0; call < CALLS_OF_EACH; call += 1) {
      const pick = (ids: readonly string[]): string => ids[Math.floor(random() * ids.length)] ?? '';
      const change = this.changes(pick, random)[Math.floor(random() * 12)];
      await change?.().catch((error: unknown) => {
        if (!(error instanceof ServiceError && EXPECTED.includes(error.code)))
          this.refusals.push(error instanceof Error ? (error.cause ?? error) : error);
      });
    }
  }

  private changes(pick: (ids: readonly string[]) => string, random: () => number): (() => Promise<unknown>)[] {
    const call = <Op extends Operation>(operation: Op, input: InputOf<Op>) => graph.call(operation, input, this.caller);
    const visibility = random() < 0.3 ? ('group' as const) : null;
    const create = async () => {
      const extra = { parent_ids: random() < 0.5 ? [pick(this.nodes)] : [], visibility };
      const input = { type: 'area' as const, name: `Storm ${Math.floor(random() * 5)}`, ...extra };
      this.nodes.push((await call(createNode, { ...input, organization_id: pick(this.organizations) })).id);
    };
    return [
      create,
      create,
      () => call(updateNode, { node_id: pick(this.nodes), owner_id: pick(this.actors), confirmed: true }),
      () => call(updateNode, { node_id: pick(this.nodes), goal: String(random()) }),
      () => call(archiveNode, { node_id: pick(this.nodes) }),
      () => call(purgeNode, { node_id: pick(this.nodes), confirmed: true }),
      () =>
        call(moveNode, {
          node_id: pick(this.nodes),
          organization_id: pick(this.organizations),
          confirmed: true,
        }),
      async () => {
        const ends = { source_id: pick(this.nodes), target_id: pick(this.nodes) };
        const relation = random() < 0.7 ? ('belongs_to' as const) : ('related_to' as const);
        this.edges.push((await call(connect, { ...ends, relation, confirmed: true })).edge?.id ?? '');
      },
      () => call(disconnect, { edge_id: pick(this.edges), confirmed: true }),
      async () => {
        const input = { node_id: pick(this.nodes), title: 'Duty', assignee_ids: [pick(this.actors)] };
        this.duties.push((await call(addResponsibility, input)).id);
      },
      () => call(removeResponsibility, { responsibility_id: pick(this.duties) }),
      () =>
        random() < 0.5
          ? call(updateActor, { actor_id: pick(this.actors), name: `Actor ${random()}`, confirmed: true })
          : call(deleteActor, { actor_id: pick(this.actors), reassign_to: pick(this.actors), confirmed: true }),
    ];
  }
}

const gates = () =>
  graph.sql(
    `SELECT n.id, s.gates FROM graph.node n LEFT JOIN graph.access_set s ON s.id = n.access_set_id ORDER BY n.id`,
  );

describe(`many writers at once, seed ${SEED}`, () => {
  it('never block each other for good, and leave a whole graph with the access that its rules give [graph.edges.one-organization] [graph.edges.no-belongs-to-cycle] [access.materialised.same-transaction]', async () => {
    const organizations = [graph.organization.id, (await graph.node('organization', 'Second')).id];
    const storm = new Storm(organizations, graph.admin);
    for (let i = 0; i < 8; i += 1) {
      storm.nodes.push((await graph.node('area', `First ${i}`)).id);
      storm.actors.push((await graph.actor(`Actor ${i}`)).id);
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => storm.write(randomFrom(SEED + writer))));
    expect(storm.refusals).toEqual([]);
    const done = await graph.sql<{ action: string }>('SELECT DISTINCT action FROM audit.entry');
    expect(done.map(({ action }) => action).sort()).toEqual(ACTIONS);

    const memberships =
      await graph.sql(`SELECT n.id FROM graph.node n WHERE n.type <> 'organization' AND ARRAY[n.organization_id] <> ARRAY(
      SELECT o.id FROM graph.edge e JOIN graph.node o ON o.id = e.target_id AND o.type = 'organization' WHERE e.source_id = n.id AND e.relation = 'belongs_to')`);
    const gaps = await graph.sql(
      'SELECT node_id FROM graph.responsibility GROUP BY node_id HAVING max(position) <> count(*) - 1',
    );
    const unused = await graph.sql(
      'SELECT id FROM graph.access_set s WHERE NOT EXISTS (SELECT FROM graph.node n WHERE n.access_set_id = s.id)',
    );
    expect({ memberships, gaps, unused }).toEqual({ memberships: [], gaps: [], unused: [] });

    const materialised = await gates();
    await graph.sql('SELECT graph.refresh_access(ARRAY(SELECT id FROM graph.node))');
    expect(await gates()).toEqual(materialised);
  });
});
