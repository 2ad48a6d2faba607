import iterate from 'graphology-layout-forceatlas2/iterate.js';
import type { LayoutAnswer, LayoutTask } from './layout';

/** How often it tells where the nodes are. */
const TOLD_MS = 400;
/** Places of a node and of an edge in the rows that the algorithm takes. */
const NODE = { width: 10, x: 0, y: 1, mass: 6, convergence: 7, size: 8, fixed: 9 } as const;
const EDGE = { width: 3 } as const;
/** From here on, far nodes are taken together. */
const MANY = 1_000;
const SETTINGS = {
  linLogMode: false,
  outboundAttractionDistribution: false,
  adjustSizes: false,
  edgeWeightInfluence: 1,
  scalingRatio: 2,
  // Far groups are pulled back as strongly as they are far: the drawing becomes a disc without outliers.
  strongGravityMode: true,
  gravity: 0.05,
  slowDown: 1,
  barnesHutTheta: 0.7,
} as const;

/** Places the nodes of one task, tells where they are as it goes, and closes itself at its end. */
addEventListener('message', ({ data }: MessageEvent<LayoutTask>) => {
  const nodes = nodeRows(data);
  const edges = edgeRows(data, nodes);
  const settings = { ...SETTINGS, barnesHutOptimize: data.count > MANY };
  let toldMs = performance.now();
  for (let step = 1; step <= data.steps; step++) {
    iterate(settings, nodes, edges);
    const isLast = step === data.steps;
    if (!isLast && performance.now() - toldMs < TOLD_MS) continue;
    toldMs = performance.now();
    tell(nodes, data.count, isLast);
  }
  close();
});

function nodeRows({ count, places, fixed }: LayoutTask): Float32Array {
  const nodes = new Float32Array(count * NODE.width);
  for (let row = 0; row < count; row++) {
    const at = row * NODE.width;
    nodes[at + NODE.x] = places[row * 2] ?? 0;
    nodes[at + NODE.y] = places[row * 2 + 1] ?? 0;
    nodes[at + NODE.mass] = 1;
    nodes[at + NODE.convergence] = 1;
    nodes[at + NODE.size] = 1;
    nodes[at + NODE.fixed] = fixed[row] ?? 0;
  }
  return nodes;
}

/** The rows of the edges; each end becomes as heavy as it has edges. */
function edgeRows({ edges, weights }: LayoutTask, nodes: Float32Array): Float32Array {
  const rows = new Float32Array(weights.length * EDGE.width);
  for (const [edge, weight] of weights.entries()) {
    const ends = [edges[edge * 2] ?? 0, edges[edge * 2 + 1] ?? 0].map((row) => row * NODE.width);
    rows.set([...ends, weight], edge * EDGE.width);
    for (const end of ends) nodes[end + NODE.mass] = (nodes[end + NODE.mass] ?? 1) + 1;
  }
  return rows;
}

function tell(nodes: Float32Array, count: number, isLast: boolean): void {
  const places = new Float32Array(count * 2);
  for (let row = 0; row < count; row++) {
    places[row * 2] = nodes[row * NODE.width + NODE.x] ?? 0;
    places[row * 2 + 1] = nodes[row * NODE.width + NODE.y] ?? 0;
  }
  const answer: LayoutAnswer = { places, isLast };
  postMessage(answer, { transfer: [places.buffer] });
}
