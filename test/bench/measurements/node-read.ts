import { getNode, type OutputOf } from '@workspace-graph/contracts';
import { NODE_READ } from '../baseline/node-read.js';
import { inAnyOrder, type Measurement, onlyJson } from './measurement.js';

/** The order of the edges is the product's own; which ones a node with too many shows follows from it. */
export function comparable(answer: unknown): unknown {
  const node = answer as OutputOf<typeof getNode>;
  const { items, complete } = node.edges;
  return { ...node, edges: { complete, items: complete ? inAnyOrder(items) : items.length } };
}

export const nodeRead: Measurement = {
  name: 'node-read',
  title: 'node read',
  target: { ratio: { local: 3, central: 3 } },
  plan: ({ world }) => ({
    calls: world.nodeIds.map((id) => ({ operation: getNode, input: { node_id: id } })),
    baseline: { text: NODE_READ, shots: world.nodeIds.map((id) => ({ values: [world.userId, id] })) },
    pair: (answer, rows) => ({ product: comparable(answer), bare: comparable(onlyJson(rows)) }),
  }),
};
