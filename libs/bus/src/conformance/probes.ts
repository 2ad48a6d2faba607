import { randomUUID } from 'node:crypto';
import { type Envelope, query } from '@workspace-graph/contracts';
import { z } from 'zod';

function probe(name: string, owner: 'graph' | 'identity') {
  return query({
    name,
    owner,
    tier: 'internal',
    reach: 'internal',
    doc: 'An operation of the tests.',
    input: z.looseObject({}),
    output: z.unknown(),
    timeoutMs: 8_000,
  });
}

export const PROBE = probe('probe', 'graph');
/** Of the same owner, but served only where a test says so. */
export const SIDE_PROBE = probe('side_probe', 'graph');
export const IDENTITY_PROBE = probe('identity_probe', 'identity');

/** What a call must not wait for, and what counts as at once beside it: far apart, so that a busy machine decides nothing. */
export const WAIT_MS = 60_000;
export const AT_ONCE_MS = 30_000;

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  return {
    callId: randomUUID(),
    requestId: randomUUID(),
    caller: { user_id: 'u1', scope: 'write', credential_id: 'c1', via: 'rest' },
    ...fields,
  };
}

/** A promise with its ends in hand. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Resolves once the check holds. @throws Error when that takes too long */
export async function eventually(what: string, holds: () => boolean, withinMs = 60_000): Promise<void> {
  const deadlineAtMs = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadlineAtMs) throw new Error(`within ${withinMs} ms it did not come about that ${what}`);
    await pause(5);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The error of a promise that must reject. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
}
