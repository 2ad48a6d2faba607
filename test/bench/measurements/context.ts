import { getContext, LIMITS, type OutputOf } from '@workspace-graph/contracts';
import { context } from '../baseline/context.js';
import type { World } from '../world.js';
import type { Measurement, Pair, Row, Target } from './measurement.js';
import { comparable } from './node-read.js';

/** Nodes that are looked at by default, the lines there is room for, and bytes that details may have where there are none. */
const MOST_NODES = 500;
const MOST_LINES = Math.ceil(LIMITS.tokensDefault / 90);
const MOST_BYTES = LIMITS.tokensDefault * 6;

type Answer = OutputOf<typeof getContext>;

/**
 * The product packs what it found into max_tokens, the bare query answers what may fit: what is shown must be the first of
 * that, in order, and the numbers of what was found must agree.
 */
function pair(given: unknown, [root, ...around]: readonly Row[]): Pair {
  const answer = given as Answer;
  const details = new Map(around.map((row) => [String(row['id']), row['details']]));
  const isWhole = answer.left_out.node.length === 0;
  const total = answer.left_out.more_nodes ? {} : { found: answer.nodes.length + answer.left_out.nodes };
  return {
    product: {
      nodes: answer.nodes,
      node: isWhole ? comparable(answer.node) : answer.node.id,
      details: answer.details,
      ...total,
    },
    bare: {
      nodes: around.slice(0, answer.nodes.length).map((row) => parse(row['outline'])),
      node: isWhole ? comparable(parse(root?.['outline'])) : root?.['id'],
      details: answer.details.map(({ node_id }) => parse(details.get(node_id))),
      ...(answer.left_out.more_nodes ? {} : { found: Number(root?.['found']) }),
    },
  };
}

function parse(text: unknown): unknown {
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : null;
}

interface Depth {
  readonly name: string;
  readonly title: string;
  readonly depth: number;
  readonly target: Target;
  readonly of: (world: World) => readonly string[];
}

const contextOf = ({ name, title, depth, target, of }: Depth): Measurement => ({
  name,
  title,
  target,
  plan: ({ world }) => ({
    calls: of(world).map((id) => ({ operation: getContext, input: { node_id: id, depth } })),
    baseline: {
      text: context(depth),
      shots: of(world).map((id) => ({ values: [world.userId, id, MOST_NODES, MOST_LINES, MOST_BYTES] })),
    },
    pair,
  }),
});

const fast: Target = { p50Ms: 5 };

export const contexts: readonly Measurement[] = [
  { name: 'context-1', title: 'context, depth 1', depth: 1, target: fast, of: (world: World) => world.nodeIds },
  {
    name: 'context-1-organization',
    title: 'context, depth 1, organization',
    depth: 1,
    target: fast,
    of: (world: World) => world.graph.organizationIds.slice(0, 1),
  },
  {
    name: 'context-1-hub',
    title: 'context, depth 1, hub',
    depth: 1,
    target: fast,
    of: (world: World) => [world.graph.hubId],
  },
  { name: 'context-3', title: 'context, depth 3', depth: 3, target: {}, of: (world: World) => world.nodeIds },
].map(contextOf);
