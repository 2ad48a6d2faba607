import { abortable } from '@workspace-graph/platform';
import { changed, type ReadOptions, type RemoteContent, RemoteFailure, type RemoteFile } from '../port/index.js';

type Range = ReadOptions['range'];

/** The whole content where no range is asked for. A range of no bytes asks for the first one, which is not passed on. */
export function rangeHeader(range: Range): string | undefined {
  if (!range) return undefined;
  const { offset, length } = range;
  return length === undefined ? `bytes=${offset}-` : `bytes=${offset}-${offset + Math.max(length, 1) - 1}`;
}

/**
 * Opens what was found under a path, null for no file; `get` is not called for a content of no bytes.
 * @throws RemoteFailure `not_found`, `changed`, `range`; whatever `get` throws
 */
export async function openContent(
  { path, file }: { readonly path: string; readonly file: RemoteFile | null },
  options: ReadOptions,
  get: (file: RemoteFile) => Promise<Response>,
): Promise<RemoteContent> {
  if (!file) throw new RemoteFailure('not_found', { path });
  if (options.expected !== undefined && options.expected !== file.revision) throw changed(file);
  const { offset = 0, length } = options.range ?? {};
  if (offset > file.sizeBytes) throw new RemoteFailure('range', { path, sizeBytes: file.sizeBytes });
  const isNothing = offset === file.sizeBytes || length === 0;
  return contentOf(file, isNothing ? null : await get(file), options);
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
