import { type BenchOptions, namesOf, parse, positive, UsageError } from '../bench-command.js';

/** What can be measured, in the order in which it is. */
export const CLIENT_PARTS = ['first-view', 'graph', 'log', 'typing', 'live', 'memory'] as const;
export type ClientPart = (typeof CLIENT_PARTS)[number];

/** How much is done. */
export interface ClientScale {
  readonly nodes: number;
  /** Of the log of a session. */
  readonly events: number;
  /** Times that a view is opened, each by a new browser profile. */
  readonly visits: number;
  /** Changes of each kind, whose way into another page is measured. */
  readonly changes: number;
  /** Rounds through the views, for what is left in memory; more of them until `minutes` are over. */
  readonly rounds: number;
  /** The least time of the rounds. */
  readonly minutes: number;
}

export interface ClientBenchOptions extends ClientScale, BenchOptions {
  readonly scale: string;
  readonly parts: ReadonlySet<ClientPart>;
}

/** `tiny` proves that the benchmark runs; its figures say nothing. */
const SCALES: Readonly<Record<string, ClientScale>> = {
  tiny: { nodes: 300, events: 400, visits: 1, changes: 2, rounds: 3, minutes: 0 },
  default: { nodes: 10_000, events: 20_000, visits: 7, changes: 30, rounds: 48, minutes: 8 },
};

export const CLIENT_BENCH_HELP = `Usage: npm run bench -- --client [--only NAMES] [--nodes N] [--minutes N] [--json FILE]

Measures the page in a real Chromium at a workspace of its own: the first view, the drawing of a large graph, a long log of a
session, typing in the editor, how soon a change of somebody else is shown, and what use leaves in memory. Beside the times
stands a bare page that asks the same of the same workspace, or a bare client that hears the same. The browser draws without a graphics card. Prints one table; no figure fails the run.

  --scale NAME     how much is done, default: default
  --only NAMES     separated by commas: ${CLIENT_PARTS.join(', ')}
  --nodes N        nodes of the graph, default 10000
  --events N       events of the log, default 20000
  --visits N       how often each view is opened, default 7
  --minutes N      least time of use for the figures of memory, default 8; 60 for an hour of it
  --json FILE      writes all results as JSON

Exit codes: 0 measured, 1 a measurement failed, 2 wrong usage.`;

/** Undefined when help is asked for. @throws UsageError */
export function readClientBenchOptions(args: readonly string[]): ClientBenchOptions | undefined {
  const values = parse(args, {
    client: { type: 'boolean' },
    scale: { type: 'string', default: 'default' },
    only: { type: 'string' },
    nodes: { type: 'string' },
    events: { type: 'string' },
    visits: { type: 'string' },
    minutes: { type: 'string' },
  });
  if (values.help) return undefined;
  const scale = SCALES[values.scale];
  if (!scale) throw new UsageError(`There is no scale ${values.scale}.`);
  const { only, nodes, events, visits, minutes, json } = values;
  return {
    ...scale,
    scale: values.scale,
    parts: new Set(only === undefined ? CLIENT_PARTS : namesOf(only, CLIENT_PARTS)),
    ...(nodes !== undefined && { nodes: positive(nodes) }),
    ...(events !== undefined && { events: positive(events) }),
    ...(visits !== undefined && { visits: positive(visits) }),
    ...(minutes !== undefined && { minutes: positive(minutes) }),
    ...(json !== undefined && { jsonFile: json }),
  };
}
