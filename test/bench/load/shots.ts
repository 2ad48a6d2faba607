import type { Caller } from '@workspace-graph/contracts';

/** One HTTP request. */
export interface HttpShot {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
}

/** One execution of a prepared statement; a value `FRESH_ID` is a new UUIDv7 at each execution. */
export interface SqlShot {
  readonly values: readonly unknown[];
}

/** One call of an operation inside the process that serves it. */
export interface ServiceShot {
  readonly operation: string;
  readonly input: unknown;
}

export const FRESH_ID = '$fresh-id';

/** What a measurement fires, in turn. Those of `before` go ahead of each shot and are not timed. */
export type ShotSet =
  | {
      readonly via: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly shots: readonly HttpShot[];
      readonly before?: readonly HttpShot[];
    }
  | {
      readonly via: 'sql';
      readonly url: string;
      readonly poolSize: number;
      readonly name: string;
      readonly text: string;
      readonly shots: readonly SqlShot[];
    }
  | {
      readonly via: 'service';
      readonly url: string;
      readonly poolSize: number;
      readonly caller: Caller;
      readonly shots: readonly ServiceShot[];
      readonly before?: readonly ServiceShot[];
    };

/** What came back: the parsed body or the rows; null for an answer without a body. */
export type Answer = unknown;

/** Fires the shots of one set. */
export interface Gun {
  /** Fires one shot and drops the answer. False: refused as too much at once. @throws Error for any other unexpected answer */
  fire(index: number): Promise<boolean>;
  /** What must happen ahead of each shot and is not timed. */
  readonly before?: (index: number) => Promise<void>;
  /** Fires one shot and parses its answer. */
  ask(index: number): Promise<Answer>;
  close(): Promise<void>;
}
