import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, PUSH_PATH, type Push, PushedFile, ServiceError } from '@workspace-graph/contracts';
import { z } from 'zod';
import { askFor, upload } from './byte-transfer.js';

/** A refusal that comes while more than this is on its way may get lost with the connection. */
const ASKED_FIRST_BYTES = 1_048_576;
/** Before each try that follows one which brought the content no further. */
const WAITS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
/** What may be over with the next try. */
const PASSING = new Set(['SERVICE_UNAVAILABLE', 'REQUEST_TIMEOUT', 'REQUEST_CANCELLED', 'REMOTE_UNAVAILABLE']);
const Prepared = z.object({ pushed: PushedFile.nullable(), received: z.int().nonnegative() });
type Prepared = z.infer<typeof Prepared>;

/** Where a device sends contents. */
export interface PushWay {
  /** Of a gateway. */
  readonly url: string;
  readonly credential: () => string;
}

/** A content to be sent. */
export interface PushedContent {
  readonly push: Push;
  /** What of it comes after so many bytes. */
  bytes(from: number): AsyncIterable<Uint8Array>;
}

/**
 * Sends a content to the place of its file on the remote. A large one goes on where it breaks off, as long as that brings it on.
 * @throws ServiceError of `begin_push`, and what breaks off
 */
export async function pushContent(to: PushWay, content: PushedContent, signal: AbortSignal): Promise<PushedFile> {
  const { size_bytes } = content.push;
  if (size_bytes <= ASKED_FIRST_BYTES) return send(to, content, { from: 0, signal });
  if (size_bytes <= LIMITS.resumedFileBytes) return sendRest(to, content, { signal });
  const faults = new Set<unknown>();
  const watched = { push: content.push, bytes: (from: number) => noting(content.bytes(from), faults) };
  // -1 before the first try has begun: where nobody answers from the start, that is told at once.
  let most = -1;
  let vain = 0;
  const begins = (received: number): void => {
    if (received > most) vain = 0;
    most = Math.max(most, received);
  };
  for (;;) {
    try {
      return await sendRest(to, watched, { signal, begins });
    } catch (error) {
      const waitMs = most < 0 ? undefined : WAITS_MS[vain];
      if (waitMs === undefined || !isPassing(error) || faults.has(error)) throw error;
      vain += 1;
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Sends what is not there yet; `begins` is told how much is. */
async function sendRest(
  to: PushWay,
  content: PushedContent,
  { signal, begins }: { readonly signal: AbortSignal; readonly begins?: (received: number) => void },
): Promise<PushedFile> {
  const { pushed, received } = await prepare(to, content.push, signal);
  if (pushed) return pushed;
  begins?.(received);
  return await send(to, content, { from: received, signal });
}

function isPassing(error: unknown): boolean {
  return error instanceof ServiceError && PASSING.has(error.code);
}

/** Remembers what is wrong with the content itself, which no other try would mend. */
async function* noting(bytes: AsyncIterable<Uint8Array>, faults: Set<unknown>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    faults.add(error);
    throw error;
  }
}

async function prepare(to: PushWay, push: Push, signal: AbortSignal): Promise<Prepared> {
  return Prepared.parse(await askFor({ url: addressOf(to, push, 0), credential: to.credential() }, signal));
}

async function send(
  to: PushWay,
  { push, bytes }: PushedContent,
  { from, signal }: { readonly from: number; readonly signal: AbortSignal },
): Promise<PushedFile> {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': push.size_bytes - from };
  const way = { url: addressOf(to, push, from), credential: to.credential() };
  return PushedFile.parse(await upload(way, bytes(from), { headers, signal }));
}

function addressOf({ url }: PushWay, { file_id, builds_on, ...told }: Push, from: number): URL {
  const address = new URL(PUSH_PATH.replace('{file_id}', file_id), url);
  for (const [name, value] of Object.entries(told)) address.searchParams.set(name, String(value));
  if (builds_on !== null) address.searchParams.set('builds_on', builds_on);
  if (from > 0) address.searchParams.set('from', String(from));
  return address;
}
