import { type FileRefusal, LIMITS, refusalOf } from '@workspace-graph/contracts';
import pMap from 'p-map';

/** What became of one of several files. */
export type Outcome<T> = { readonly done: T } | { readonly refused: FileRefusal };
/** By the ids of the files. */
export type Outcomes<T> = Map<string, Outcome<T>>;

/** Requests that are under way at once. */
export const REQUESTS = 3;
/** Files with a request of their own that are under way at once. */
const LARGE_FILES = 4;

const REQUEST: { readonly items: number; readonly bytes: number } = {
  items: LIMITS.filesPerBatch,
  bytes: LIMITS.batchBytes,
};

/** In parts that are no larger than `most`: each may go in one request. One item alone is a part, of whichever size. */
export function portions<T>(items: readonly T[], sizeOf: (item: T) => number, most = REQUEST): T[][] {
  const all: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = all.at(-1);
    bytes += sizeOf(item);
    if (last && last.length < most.items && bytes <= most.bytes) last.push(item);
    else {
      all.push([item]);
      bytes = sizeOf(item);
    }
  }
  return all;
}

/** What is refused of the whole is refused of each that has no outcome yet. @throws what is no refusal */
export async function orRefused<R, T>(
  fileIds: Iterable<string>,
  outcomes: Outcomes<T>,
  work: () => Promise<R>,
): Promise<R | null> {
  try {
    return await work();
  } catch (error) {
    const refused = refusalOf(error);
    for (const fileId of fileIds) if (!outcomes.has(fileId)) outcomes.set(fileId, { refused });
    return null;
  }
}

/** Those that have no outcome yet, each by itself. @throws what is no refusal */
export async function eachAlone<T>(
  fileIds: readonly string[],
  outcomes: Outcomes<T>,
  work: (fileId: string) => Promise<T>,
): Promise<void> {
  const left = fileIds.filter((fileId) => !outcomes.has(fileId));
  const one = async (fileId: string): Promise<void> => void outcomes.set(fileId, await outcomeOf(() => work(fileId)));
  await pMap(left, one, { concurrency: LARGE_FILES });
}

/** @throws what is no refusal */
export async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { done: await work() };
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}
