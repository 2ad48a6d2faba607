import iterate from 'graphology-layout-forceatlas2/iterate.js';
import { moveApart } from './apart';
import type { LayoutAnswer, LayoutTask } from './layout';

/** How often it tells where the nodes are. */
const TOLD_MS = 400;
/** Places of a node and of an edge in the rows that the algorithm takes. */
const NODE = { width: 10, x: 0, y: 1, mass: 6, convergence: 7, size: 8, fixed: 9 } as const;
const EDGE = { width: 3 } as const;
/** From here on, far nodes are taken together. */
const MANY = 1_000;
/** The drawing on which no node is over another, and half of what is between two. */
const DRAWING_PX = 700;
const ROOM_PX = 1;
const SETTINGS = {
  linLogMode: false,
  outboundAttractionDistribution: false,
  adjustSizes: false,
  edgeWeightInfluence: 1,
  scalingRatio: 2,
  // Far groups are pulled back as strongly as they are far: the drawing becomes a disc without outliers.
  strongGravityMode: true,
  gravity: 0.2,
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
    const places = placesIn(nodes, data.count);
    if (isLast) moveApart({ ...data, places, radii: inUnits(data.radii, places) });
    const answer: LayoutAnswer = { places, isLast };
    postMessage(answer, { transfer: [places.buffer] });
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

function placesIn(nodes: Float32Array, count: number): Float32Array<ArrayBuffer> {
  const places = new Float32Array(count * 2);
  for (let row = 0; row < count; row++) {
    places[row * 2] = nodes[row * NODE.width + NODE.x] ?? 0;
    places[row * 2 + 1] = nodes[row * NODE.width + NODE.y] ?? 0;
  }
  return places;
}

/** Sizes in pixels, and room around them, in units of the places when all of these fit on a drawing. */
function inUnits(radii: Float32Array, places: Float32Array): Float32Array {
  let [low, high] = [Infinity, -Infinity];
  for (const place of places) [low, high] = [Math.min(low, place), Math.max(high, place)];
  return radii.map((radius) => ((radius + ROOM_PX) * (high - low)) / DRAWING_PX);
}
