import { type Caller, connect, getContext, type NodeType, Relation, updateNode } from '@workspace-graph/contracts';
import fc from 'fast-check';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

const NODES = 40;
const EDGES = 90;
const seed = Number(process.env['SVC_TEST_SEED'] ?? 261_122);

interface Line {
  readonly id: string;
  readonly archived: boolean;
  readonly seenByReader: boolean;
}
interface Joint {
  readonly source: string;
  readonly target: string;
  readonly relation: Relation;
}

let graph: GraphFixture;
let lines: readonly Line[];
let joints: readonly Joint[];

/** A graph with hidden and archived nodes among the others, drawn from the seed. */
beforeAll(async () => {
  graph = await startGraph();
  const types: readonly NodeType[] = ['area', 'project', 'process', 'principle'];
  const ids: string[] = [];
  const [draw] = fc.sample(fc.infiniteStream(fc.nat({ max: 1_000_000 })), { numRuns: 1, seed });
  const below = (n: number): number => (draw?.next().value ?? 0) % n;
  for (let i = 0; i < NODES; i += 1) {
    const hidden = below(5) === 0;
    const node = await graph.node(types[below(4)] ?? 'area', `Uzel ${i}`, hidden ? { visibility: 'private' } : {});
    if (below(7) === 0 && node.type === 'principle') {
      await graph.call(updateNode, { node_id: node.id, lifecycle: 'archived' }, graph.admin);
    }
    ids.push(node.id);
  }
  for (let i = 0; i < EDGES; i += 1) {
    const edge = {
      source_id: ids[below(NODES)] ?? '',
      target_id: ids[below(NODES)] ?? '',
      relation: Relation.options[below(4)],
    };
    // Loops, repetitions and cycles are refused, and then there is one edge less.
    await graph
      .call(connect, { ...edge, relation: edge.relation ?? 'related_to', confirmed: true }, graph.admin)
      .catch(() => undefined);
  }
  lines = await graph.sql<Line & Record<string, unknown>>(
    `SELECT n.id::text, n.status = 'archived' AS archived, n.id IN (SELECT v.id FROM graph.visible_node($1, false) v) AS "seenByReader" FROM graph.node n`,
    [graph.reader.user_id],
  );
  joints = await graph.sql<Joint & Record<string, unknown>>(
    'SELECT source_id::text AS source, target_id::text AS target, relation FROM graph.edge',
  );
});
afterAll(() => graph.close());

interface Asked {
  readonly root: string;
  readonly depth: number;
  readonly relations: readonly Relation[];
  readonly archived: boolean;
  readonly all: boolean;
}

type Found = Record<string, { depth: number; via: string[] }>;

/** The rules of a context, written down as plainly as possible. */
function plainWalk({ root, depth, relations, archived, all }: Asked): Found {
  const open = lines
    .filter((line) => (all || line.seenByReader) && (archived || !line.archived))
    .map((line) => line.id);
  const found: Found = {};
  let nearer = [root];
  for (let at = 1; at <= depth; at += 1) {
    const unseen = new Set(open.filter((id) => id !== root && !found[id]));
    const steps = nearer.flatMap((from) => stepsFrom(from, relations)).filter((step) => unseen.has(step.to));
    for (const { to, via } of steps) found[to] = { depth: at, via: [...(found[to]?.via ?? []), via].sort() };
    nearer = [...new Set(steps.map((step) => step.to))];
  }
  return found;
}

function stepsFrom(from: string, relations: readonly Relation[]): { to: string; via: string }[] {
  const followed = joints.filter((joint) => relations.includes(joint.relation));
  return [
    ...followed
      .filter((joint) => joint.source === from)
      .map(({ target, relation }) => ({ to: target, via: `${from} ${relation} outgoing` })),
    ...followed
      .filter((joint) => joint.target === from)
      .map(({ source, relation }) => ({ to: source, via: `${from} ${relation} incoming` })),
  ];
}

it(`finds what a plain walk over visible nodes finds, at the same depths and by the same edges (SVC_TEST_SEED=${seed}) [graph.context.depth] [access.edges.both-ends-visible]`, async () => {
  const asked = fc.record({
    place: fc.nat({ max: 1_000 }),
    depth: fc.nat({ max: 5 }),
    relations: fc.subarray([...Relation.options], { minLength: 1 }),
    archived: fc.boolean(),
    all: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ place, ...rest }) => {
      const roots = lines.filter((line) => rest.all || line.seenByReader);
      const root = roots[place % roots.length]?.id ?? '';
      const caller: Caller = rest.all ? graph.admin : graph.reader;
      const context = await graph.call(
        getContext,
        {
          node_id: root,
          depth: rest.depth,
          relation: rest.relations,
          include_archived: rest.archived,
          max_tokens: 100_000,
        },
        caller,
      );
      const shown = context.nodes.map(({ id, depth, via }) => {
        const edges = via.map(({ from, relation, direction }) => `${from} ${relation} ${direction}`).sort();
        return [id, { depth, via: edges }] as const;
      });
      expect(Object.fromEntries(shown)).toEqual(plainWalk({ root, ...rest }));
      expect(shown).toHaveLength(new Set(shown.map(([id]) => id)).size);
      expect(context.left_out).toMatchObject({ nodes: 0, more_nodes: false });
    }),
    { numRuns: 120, seed },
  );
});
