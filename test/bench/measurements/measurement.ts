import type { Answer, SqlShot } from '../load/shots.js';
import type { Call, PlaceName } from '../places/place.js';
import type { World } from '../world.js';

/** What a figure should reach; told in the report, never enforced. */
export interface Target {
  /** Most times the bare query's p50. */
  readonly ratio?: Partial<Record<PlaceName, number>>;
  /** Most milliseconds at the p50. */
  readonly p50Ms?: number;
}

export type Row = Readonly<Record<string, unknown>>;

/** The same answer from both sides. */
export interface Pair {
  readonly product: unknown;
  readonly bare: unknown;
}

/** What a plan can find out before it is made. */
export interface Surroundings {
  readonly world: World;
  /** The product's answer to one call. */
  ask(call: Call): Promise<Answer>;
  /** Rows of a query through the bare driver. */
  sql(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** The calls of a measurement, and the hand-written query that gives the same answers. */
export interface Plan {
  readonly calls: readonly Call[];
  /** One of them is sent ahead of each call of the product, untimed. */
  readonly before?: readonly Call[];
  readonly baseline: {
    readonly text: string;
    /** Of each call, in the same order. */
    readonly shots: readonly SqlShot[];
  };
  /** The two answers of a call in a form in which they must be equal. */
  readonly pair: (answer: Answer, rows: readonly Row[]) => Pair;
  /** For writes: what each of the two answers has left in the database must be equal too. */
  readonly left?: (answer: Answer) => { readonly text: string; readonly values: readonly unknown[] };
}

/** One thing that is measured. */
export interface Measurement {
  readonly name: string;
  readonly title: string;
  readonly target: Target;
  /** Numbers of connections; those of the run unless told. */
  readonly connections?: readonly number[];
  plan(surroundings: Surroundings): Plan | Promise<Plan>;
}

/** The parsed column `json` of the only row. */
export function onlyJson(rows: readonly Row[]): unknown {
  const [row] = rows;
  if (!row || rows.length !== 1) throw new Error(`The bare query answered ${rows.length} rows`);
  return JSON.parse(String(row['json']));
}

/** Sorted by the JSON of each item: for lists whose order is not part of the answer. */
export function inAnyOrder(items: readonly unknown[]): unknown[] {
  return items.map((item) => JSON.stringify(item)).sort();
}
