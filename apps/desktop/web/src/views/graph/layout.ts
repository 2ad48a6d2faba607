import { type GraphContent, type GraphEdge, type GraphNode, isImplied, parentsOf } from '../../graph/graph';
import { sizesOf } from './sizes';

/** Sent to the worker: rows of nodes, and edges as pairs of rows. */
export interface LayoutTask {
  readonly count: number;
  /** x and y of each row. */
  readonly places: Float32Array;
  /** How far each row reaches, in pixels. */
  readonly radii: Float32Array;
  /** 1: this row stays where it is. */
  readonly fixed: Uint8Array;
  readonly edges: Uint32Array;
  /** How strongly each edge pulls. */
  readonly weights: Float32Array;
  readonly steps: number;
}

export interface LayoutAnswer {
  readonly places: Float32Array;
  readonly isLast: boolean;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}
export type Places = ReadonlyMap<string, Place>;

/** The golden angle: points that follow each other by it never lie on one ray. */
const ANGLE = Math.PI * (3 - Math.sqrt(5));
const STEPS = { few: 600, many: 250 } as const;
const MANY = 2_000;
/** Parents of parents that a first place follows. */
const DEEPEST = 4;
/** How strongly edges pull: groups stay together, with room around what they belong to. */
const PULL = { toParent: 0.2, toOrganization: 0.1, besideParent: 0.02, other: 0.1 } as const;

/**
 * Places every node that has no place yet, beside those that stay where they are; the same graph is placed the same way
 * wherever it is looked at. Answers how to stop it.
 */
export function place(
  graph: GraphContent,
  known: Places,
  onPlaces: (places: Places, isLast: boolean) => void,
): () => void {
  const nodes = [...graph.nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data: { places, isLast } }: MessageEvent<LayoutAnswer>) =>
    onPlaces(
      new Map(nodes.map(({ id }, row) => [id, { x: places[row * 2] ?? 0, y: places[row * 2 + 1] ?? 0 }])),
      isLast,
    );
  worker.postMessage(taskOf(graph, nodes, known));
  return () => worker.terminate();
}

/** What the worker is asked. A node without a place begins beside what it belongs to. */
export function taskOf(graph: GraphContent, nodes: readonly GraphNode[], known: Places): LayoutTask {
  const rows = new Map(nodes.map(({ id }, row) => [id, row]));
  const parents = parentsOf(graph);
  const spread = 10 * Math.sqrt(nodes.length);
  const start = (row: number, depth: number): readonly [number, number] => {
    const id = nodes[row]?.id ?? '';
    const place = known.get(id);
    if (place) return [place.x, place.y];
    const parent = rows.get(parents.get(id) ?? '');
    const [x, y] = parent === undefined || depth > DEEPEST ? [0, 0] : start(parent, depth + 1);
    const far = (spread / (depth + 1) ** 2) * Math.sqrt((row % 97) / 97 + 0.1);
    return [x + far * Math.cos(row * ANGLE), y + far * Math.sin(row * ANGLE)];
  };
  const sizes = sizesOf(graph);
  const pulling = graph.edges.filter((edge) => !isImplied(edge, graph.nodes, parents));
  return {
    count: nodes.length,
    places: Float32Array.from(nodes.flatMap((_, row) => start(row, 0))),
    radii: Float32Array.from(nodes, ({ id }) => sizes.get(id) ?? 0),
    fixed: Uint8Array.from(nodes, ({ id }) => (known.has(id) ? 1 : 0)),
    edges: Uint32Array.from(pulling.flatMap(({ source, target }) => [rows.get(source) ?? 0, rows.get(target) ?? 0])),
    weights: Float32Array.from(pulling, (edge) => pullOf(edge, graph.nodes, parents)),
    steps: nodes.length > MANY ? STEPS.many : STEPS.few,
  };
}

function pullOf(
  { source, target, relation }: GraphEdge,
  nodes: GraphContent['nodes'],
  parents: ReadonlyMap<string, string>,
): number {
  if (relation !== 'belongs_to') return PULL.other;
  if (parents.get(source) !== target) return PULL.besideParent;
  return nodes.get(target)?.type === 'organization' ? PULL.toOrganization : PULL.toParent;
}
