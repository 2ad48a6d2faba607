import type { LargeGraphOptions } from '@workspace-graph/testing';

/** What is generated, and how much is done with it. */
export interface Scale {
  readonly graph: Pick<LargeGraphOptions, 'nodes' | 'edges' | 'events' | 'users' | 'restrictedShare' | 'organizations'>;
  /** Seconds of load on each side of one figure, unless the command says otherwise. */
  readonly seconds: number;
  /** Inputs of a measurement whose answers are compared. */
  readonly compared: number;
  /** MCP sessions open at once. */
  readonly sessions: number;
}

const shape = { restrictedShare: 0.1, organizations: 5 };

/** `tiny` proves that the benchmark runs; its figures say nothing. */
export const SCALES = {
  tiny: {
    graph: { nodes: 300, edges: 900, events: 600, users: 20, ...shape },
    seconds: 0.05,
    compared: 12,
    sessions: 20,
  },
  small: {
    graph: { nodes: 2_000, edges: 6_000, events: 4_000, users: 40, ...shape },
    seconds: 1,
    compared: 30,
    sessions: 200,
  },
  default: {
    graph: { nodes: 10_000, edges: 30_000, events: 20_000, users: 200, ...shape },
    seconds: 3,
    compared: 100,
    sessions: 1_000,
  },
  large: {
    graph: { nodes: 100_000, edges: 1_000_000, events: 200_000, users: 2_000, ...shape },
    seconds: 4,
    compared: 60,
    sessions: 1_000,
  },
} as const satisfies Record<string, Scale>;

export type ScaleName = keyof typeof SCALES;

export function isScaleName(name: string): name is ScaleName {
  return Object.hasOwn(SCALES, name);
}
