import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, RemoteFailure } from '../port/index.js';

const MAX_RETRY_AFTER_SECONDS = 86_400;
const WAITS_MS = [100, 400];

/** One call. `path` is of the remote, for failures. */
export interface HttpCall {
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

export function callOf(path: string, { signal }: CallOptions): HttpCall {
  return { path, signal };
}

/**
 * Asks once more, and a third time, where asking twice does no harm: for what is read, and for folders. A server that says
 * how long to wait is left alone.
 */
export async function askAgain<T>({ signal }: HttpCall, ask: () => Promise<T>): Promise<T> {
  for (const waitMs of WAITS_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!mayAskAgain(error)) throw error;
      await sleep(waitMs, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    }
  }
  return ask();
}

/** @throws the reason of the signal; RemoteFailure `unavailable` for whatever else goes wrong on the way */
export async function onNetwork<T>({ path, signal }: HttpCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw new RemoteFailure('unavailable', { path }, { cause: error });
  }
}

/** A server that is too busy, with the time that it asks to wait. */
export function busy(response: Response, { path }: HttpCall): RemoteFailure {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const isTold = Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_RETRY_AFTER_SECONDS;
  const cause = new Error(`The server answered ${response.status}`);
  return new RemoteFailure('unavailable', { path, ...(isTold ? { retryAfterSeconds: seconds } : {}) }, { cause });
}

/** How far the clock of a server is ahead of ours; null where it does not tell. */
export function aheadMsOf(response: Response): number | null {
  const told = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(told) ? null : told - Date.now();
}

function mayAskAgain(error: unknown): boolean {
  if (!(error instanceof RemoteFailure) || error.reason !== 'unavailable') return false;
  return error.facts.retryAfterSeconds === undefined;
}
