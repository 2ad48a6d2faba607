import { type BenchOptions, namesOf, parse, positive, UsageError } from '../bench-command.js';

/** What can be measured, in the order in which it is. */
export const SESSION_PARTS = ['idle', 'append', 'connect', 'delivery', 'replay', 'pages', 'scope'] as const;
export type SessionPart = (typeof SESSION_PARTS)[number];

/** How much is done. */
export interface SessionScale {
  readonly seconds: number;
  readonly writers: number;
  readonly sockets: number;
  readonly subscriptions: number;
  /** After these, `IDLE_GROWTH` times as many are opened. */
  readonly idleSockets: number;
  /** Sessions that a new socket is told of. */
  readonly states: number;
  /** Events of the long log. */
  readonly events: number;
}

export interface SessionBenchOptions extends SessionScale, BenchOptions {
  readonly scale: string;
  readonly parts: ReadonlySet<SessionPart>;
}

/** Idle sockets in the end, as a multiple of the first ones. */
export const IDLE_GROWTH = 3;

/** `tiny` proves that the benchmark runs; its figures say nothing. */
const SCALES: Readonly<Record<string, SessionScale>> = {
  tiny: { seconds: 0.05, writers: 4, sockets: 20, subscriptions: 3, idleSockets: 20, states: 20, events: 600 },
  small: { seconds: 1, writers: 16, sockets: 200, subscriptions: 10, idleSockets: 300, states: 500, events: 20_000 },
  default: {
    seconds: 4,
    writers: 16,
    sockets: 1_000,
    subscriptions: 10,
    idleSockets: 1_000,
    states: 500,
    events: 100_000,
  },
};

export const SESSION_BENCH_HELP = `Usage: npm run bench -- --sessions [--scale small|default] [--only NAMES] [--sockets N] [--json FILE]

Measures sessions and the live channel beside their limits, in the same run, in turns: appends beside batched inserts by the
bare driver, the socket beside a bare ws server that sends the same bytes, reads beside hand-written SQL, and calls of agents
beside the same calls without a session. Starts a database of its own. Prints one table; no figure fails the run.

  --scale NAME         how much is done, default: default
  --only NAMES         separated by commas: ${SESSION_PARTS.join(', ')}
  --seconds N          duration of the load for each side of each figure
  --sockets N          sockets that follow sessions, default 1000
  --subscriptions N    sessions that each of them follows, default 10
  --json FILE          writes all results as JSON

Exit codes: 0 measured, 1 a measurement failed, 2 wrong usage.`;

/** Undefined when help is asked for. @throws UsageError */
export function readSessionBenchOptions(args: readonly string[]): SessionBenchOptions | undefined {
  const values = parse(args, {
    sessions: { type: 'boolean' },
    scale: { type: 'string', default: 'default' },
    only: { type: 'string' },
    seconds: { type: 'string' },
    sockets: { type: 'string' },
    subscriptions: { type: 'string' },
  });
  if (values.help) return undefined;
  const scale = SCALES[values.scale];
  if (!scale) throw new UsageError(`There is no scale ${values.scale}.`);
  const { only, seconds, sockets, subscriptions, json } = values;
  return {
    ...scale,
    scale: values.scale,
    parts: new Set(only === undefined ? SESSION_PARTS : namesOf(only, SESSION_PARTS)),
    ...(seconds !== undefined && { seconds: positive(seconds) }),
    ...(sockets !== undefined && { sockets: positive(sockets) }),
    ...(subscriptions !== undefined && { subscriptions: positive(subscriptions) }),
    ...(json !== undefined && { jsonFile: json }),
  };
}
