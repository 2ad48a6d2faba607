import type { InputOf, Operation } from '@workspace-graph/contracts';
import type { ShotSet } from '../load/shots.js';
import type { World } from '../world.js';

/** Where the product runs while it is measured. */
export const PLACE_NAMES = ['service', 'local', 'central'] as const;
export type PlaceName = (typeof PLACE_NAMES)[number];

/** One call of an operation. An input with `if_none_match` is expected to find everything unchanged. */
export interface Call<Op extends Operation = Operation> {
  readonly operation: Op;
  readonly input: InputOf<Op>;
}

/** One process of a place. */
export interface PlaceProcess {
  readonly name: string;
  readonly pid: number;
}

/** Milliseconds from a command to the first answer that it is ready, by what was started. */
export type StartTimes = Readonly<Record<string, number>>;

/** A process with a public surface that was started a moment ago. */
export interface FreshEdge {
  readonly url: string;
  readonly pid: number;
  /** What was started for it. */
  readonly startedMs: StartTimes;
}

/** A running product over a database of its own. */
export interface Place extends AsyncDisposable {
  readonly name: PlaceName;
  /** What it is, for the report. */
  readonly title: string;
  /** For filling the database and for the bare driver. */
  readonly databaseUrl: string;
  /** Database connections of the product altogether; the bare driver gets as many. */
  readonly poolSize: number;
  /** The public address; undefined where there is no surface. */
  readonly url?: string;
  /** The credential of whoever manages it, where one is needed besides the caller's. */
  readonly administratorToken?: string;
  /** Lets the caller of the world in, once the database is filled. */
  admit(world: World): Promise<Aim>;
  /** Empty where the product runs in the process that makes the load. */
  processes(): readonly PlaceProcess[];
  /** How long its own start took, where that is one command. */
  readonly firstStartMs?: StartTimes;
  /** Starts the surface anew on what there is by now, for figures that depend on what a process did before. */
  freshEdge?(): Promise<FreshEdge>;
  stop(): Promise<void>;
}

/** A place as its caller sees it. */
export interface Aim {
  /** Turns calls into what the load process fires; one of `before` goes ahead of each, untimed. */
  shots(calls: readonly Call[], before?: readonly Call[]): ShotSet;
  /** The caller's credential where there is a surface. */
  readonly token?: string;
}
