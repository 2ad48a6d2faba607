import { type BenchOptions, namesOf, parse, positive, UsageError } from './bench-command.js';
import { MEASUREMENTS } from './measurements/measurements.js';
import { PLACE_NAMES, type PlaceName } from './places/place.js';
import { isScaleName, SCALES, type ScaleName } from './scales.js';

/** What is measured besides the operations. */
export const FACT_NAMES = ['start', 'memory', 'sessions'] as const;
export type FactName = (typeof FACT_NAMES)[number];

export interface Options extends BenchOptions {
  readonly scale: ScaleName;
  readonly places: readonly PlaceName[];
  /** Names of measurements and of facts. */
  readonly what: ReadonlySet<string>;
  readonly seconds: number;
  readonly connections: readonly number[];
}

const WHAT_NAMES: readonly string[] = [...MEASUREMENTS.map(({ name }) => name), ...FACT_NAMES];

export const HELP = `Usage: npm run bench -- [--scale small|default|large] [--only NAMES] [--seconds N] [--json FILE]

Measures the product and the same answers from hand-written SQL through the bare driver, in the same run, in turns.
Compares the answers first. Prints tables; a figure that misses its target does not fail the run.

  --scale NAME        ${Object.entries(SCALES)
    .filter(([name]) => name !== 'tiny')
    .map(([name, { graph }]) => `${name}: ${graph.nodes.toLocaleString('en-US')} nodes`)
    .join(', ')}
  --only NAMES        separated by commas: places (${PLACE_NAMES.join(', ')}) and what to measure
                      (${WHAT_NAMES.join(', ')})
  --seconds N         duration of the load for each side of each figure
  --connections LIST  numbers of concurrent requests, default 1,16
  --json FILE         writes all results as JSON
  --files             measures scanning and searching of files instead; --files --help shows its options
  --sessions          measures sessions and the live channel instead; --sessions --help shows its options
  --transfer          measures files between workstations and a storage instead; --transfer --help shows its options
  --client            measures the page in a browser instead; --client --help shows its options

Exit codes: 0 measured, 1 a measurement failed or an answer differs from that of the bare query, 2 wrong usage.`;

/** Undefined when help is asked for. @throws UsageError */
export function readOptions(args: readonly string[]): Options | undefined {
  const values = parse(args, {
    scale: { type: 'string', default: 'default' },
    only: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '1,16' },
  });
  if (values.help) return undefined;
  const scale = values.scale;
  if (!isScaleName(scale)) throw new UsageError(`There is no scale ${scale}.`);
  const only = namesOf(values.only, [...PLACE_NAMES, ...WHAT_NAMES]);
  const places = PLACE_NAMES.filter((name) => only.includes(name));
  const what = WHAT_NAMES.filter((name) => only.includes(name));
  return {
    scale,
    places: places.length > 0 ? places : PLACE_NAMES,
    what: new Set(what.length > 0 ? what : WHAT_NAMES),
    seconds: values.seconds === undefined ? SCALES[scale].seconds : positive(values.seconds),
    connections: values.connections.split(',').map(positive),
    ...(values.json !== undefined && { jsonFile: values.json }),
  };
}
