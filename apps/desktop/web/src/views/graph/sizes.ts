import type { NodeType } from '@workspace-graph/contracts';
import { degreesOf, type GraphContent } from '../../graph/graph';

const SIZES: Readonly<Record<NodeType, number>> = {
  organization: 10,
  area: 6.5,
  process: 6,
  principle: 5.5,
  project: 2.6,
};
/** What a node that much is joined to gains in size, at most. */
const LARGEST_GAIN = 3;
/** Nodes that have room at their full size; more of them are drawn smaller, down to this part of it. */
const ROOMY = { nodes: 1_500, least: 0.45 } as const;

/** The part of its full size in which a node is drawn among so many. */
export function roomFor(count: number): number {
  return Math.min(1, Math.max(ROOMY.least, Math.sqrt(ROOMY.nodes / count)));
}

/** How far each node reaches from its middle, in pixels of a drawing that is not zoomed. */
export function sizesOf({ nodes, edges }: GraphContent): ReadonlyMap<string, number> {
  const degrees = degreesOf(edges);
  const room = roomFor(nodes.size);
  return new Map([...nodes].map(([id, { type }]) => [id, room * sizeOf(type, degrees.get(id) ?? 0)]));
}

function sizeOf(type: NodeType, degree: number): number {
  return SIZES[type] + Math.min(LARGEST_GAIN, Math.log2(1 + degree) / 2.5);
}
