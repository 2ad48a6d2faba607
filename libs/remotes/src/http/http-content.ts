import { abortable, type ReadOptions, type RemoteContent, RemoteFailure, type RemoteFile } from '../port/index.js';

type Range = ReadOptions['range'];

/** The whole content where no range is asked for. A range of no bytes asks for the first one, which is not passed on. */
export function rangeHeader(range: Range): string | undefined {
  if (!range) return undefined;
  const { offset, length } = range;
  return length === undefined ? `bytes=${offset}-` : `bytes=${offset}-${offset + Math.max(length, 1) - 1}`;
}

/** @param response null for a content of no bytes */
export function contentOf(file: RemoteFile, response: Response | null, options: ReadOptions): RemoteContent {
  const { offset = 0, length = file.sizeBytes } = options.range ?? {};
  const wanted = response ? Math.max(Math.min(length, file.sizeBytes - offset), 0) : 0;
  const body = response?.body ?? null;
  const reader = body?.getReader();
  return {
    file,
    bytes: abortable(bytesOf(reader, file.path, wanted), options.signal),
    [Symbol.asyncDispose]: async () => {
      // A connection that broke off already has nothing left to give up.
      await reader?.cancel().catch(() => undefined);
    },
  };
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>;

async function* bytesOf(reader: Reader | undefined, path: string, wanted: number): AsyncGenerator<Uint8Array> {
  let left = wanted;
  while (reader && left > 0) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new RemoteFailure('unavailable', { path }, { cause: error });
    });
    if (done) throw new RemoteFailure('unavailable', { path });
    yield value.subarray(0, left);
    left -= value.byteLength;
  }
}
