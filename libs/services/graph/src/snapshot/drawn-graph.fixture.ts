import type { SnapshotAnswer } from './snapshot-content.js';

/** What a client draws: nodes by id, and edges as `source target relation`. */
export interface DrawnGraph {
  readonly nodes: ReadonlyMap<string, string>;
  readonly edges: ReadonlySet<string>;
}

/** Draws a whole answer, or applies a delta to what was drawn before. */
export function draw(
  answer: Omit<SnapshotAnswer, 'token'>,
  before: DrawnGraph = { nodes: new Map(), edges: new Set() },
): DrawnGraph {
  const { nodes: columns, organizations } = answer;
  const nodes = new Map(answer.full ? [] : before.nodes);
  for (const id of answer.removed) nodes.delete(id);
  for (const [row, id] of columns.id.entries()) {
    const values = [columns.name, columns.type, columns.lifecycle, columns.health, columns.x, columns.y].map(
      (column) => column[row],
    );
    nodes.set(id, JSON.stringify([...values, organizations[columns.organization[row] ?? -1]]));
  }
  const edges = new Set(answer.full ? [] : before.edges);
  for (const edge of answer.edges_removed) edges.delete(edge.join(' '));
  for (const edge of answer.edges_added) edges.add(edge.join(' '));
  for (let at = 0; at < answer.edges.length; at += 3) {
    const [source, target, relation] = answer.edges.slice(at, at + 3) as [number, number, number];
    edges.add([columns.id[source], columns.id[target], relation].join(' '));
  }
  return { nodes, edges };
}

/** Equal for equal graphs, whatever their order. */
export function plain({ nodes, edges }: DrawnGraph): unknown {
  return { nodes: Object.fromEntries([...nodes].sort()), edges: [...edges].sort() };
}
