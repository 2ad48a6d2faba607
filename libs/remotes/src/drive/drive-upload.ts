import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf } from '../http/json.js';
import type { HttpCall } from '../http/network.js';
import { RemoteFailure } from '../port/index.js';
import type { DriveApi, DriveUpload } from './drive-api.js';
import { type DriveFile, driveFile } from './drive-file.js';

/** Of every part but the last: a multiple of 256 KiB. */
export const PART_BYTES = 4 * 1_048_576;
/** How long to wait before a part is tried again, each time. */
const WAITS_MS = [200, 1_000];

/** What Drive says of an upload: how many bytes it has, or the file that they have become. */
type State = { readonly received: number } | { readonly file: DriveFile };

/** A content that goes up in parts. Nobody sees anything of it before the last one; what is left of it ends after a week. */
export class DrivePartsUpload {
  private sentBytes = 0;

  private constructor(
    private readonly api: DriveApi,
    private readonly url: URL,
  ) {}

  static async begin(api: DriveApi, upload: DriveUpload, call: HttpCall): Promise<DrivePartsUpload> {
    return new DrivePartsUpload(api, await api.begin(upload, call));
  }

  /** Sends a whole part. */
  async add(part: Uint8Array, call: HttpCall): Promise<void> {
    const state = await this.sent(part, null, call);
    if ('file' in state) throw new Error('Google Drive took a part for the last one');
  }

  /** Sends the last part, and gives the content its name. */
  async end(part: Uint8Array, call: HttpCall): Promise<DriveFile> {
    const state = await this.sent(part, this.sentBytes + part.byteLength, call);
    if ('file' in state) return state.file;
    throw new RemoteFailure('unavailable', { path: call.path }, { cause: new Error('An upload does not end') });
  }

  abandon(call: HttpCall): Promise<void> {
    return this.api.abandon(this.url, call);
  }

  /** Goes on where the connection broke off: Drive is asked how far it came. */
  private async sent(part: Uint8Array, total: number | null, call: HttpCall): Promise<State> {
    const start = this.sentBytes;
    for (const waitMs of [...WAITS_MS, null]) {
      try {
        const state = await this.rest(part, { start, total }, call);
        this.sentBytes = start + part.byteLength;
        return state;
      } catch (error) {
        if (waitMs === null || !isBroken(error)) throw error;
        await sleep(waitMs, undefined, call.signal ? { signal: call.signal } : {}).catch(() =>
          call.signal?.throwIfAborted(),
        );
        const state = await this.state(total, call);
        if ('file' in state) return state;
        this.sentBytes = state.received;
      }
    }
    throw new Error('A part is tried at least once');
  }

  /** Drive may take less of a part than it was sent. */
  private async rest(
    part: Uint8Array,
    { start, total }: { readonly start: number; readonly total: number | null },
    call: HttpCall,
  ): Promise<State> {
    const end = start + part.byteLength;
    for (;;) {
      const from = this.sentBytes;
      if (from < start || from > end) throw new Error('Google Drive has another part of an upload than was sent');
      const range = rangeOf(from, end, total);
      const state = await stateOf(await this.api.part(this.url, range, part.subarray(from - start), call), call);
      if ('file' in state || (state.received === end && total === null)) return state;
      if (state.received <= from)
        throw new RemoteFailure('unavailable', { path: call.path }, { cause: new Error('An upload does not go on') });
      this.sentBytes = state.received;
    }
  }

  private async state(total: number | null, call: HttpCall): Promise<State> {
    return stateOf(await this.api.part(this.url, `bytes */${total ?? '*'}`, new Uint8Array(), call), call);
  }
}

/** A content of no bytes at its end has no range. */
function rangeOf(from: number, end: number, total: number | null): string {
  return from === end ? `bytes */${total ?? '*'}` : `bytes ${from}-${end - 1}/${total ?? '*'}`;
}

async function stateOf(response: Response, call: HttpCall): Promise<State> {
  if (response.status !== 308) return { file: driveFile.parse(await jsonOf(response, call)) };
  await response.body?.cancel();
  const range = /^bytes=0-(\d+)$/.exec(response.headers.get('range') ?? '');
  return { received: range ? Number(range[1]) + 1 : 0 };
}

/** Where Drive says how long to wait, it is left alone. */
function isBroken(error: unknown): boolean {
  return (
    error instanceof RemoteFailure && error.reason === 'unavailable' && error.facts.retryAfterSeconds === undefined
  );
}
