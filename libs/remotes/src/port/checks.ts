import type { RemoteFile } from './entries.js';
import { RemoteFailure } from './failure.js';

/** What lies under a path that is to be written. */
export interface Occupied {
  readonly path: string;
  /** Null for nothing, and for what is no file. */
  readonly file: RemoteFile | null;
  /** The path of what is in the way, be it under a name that differs only by case; null for a place that is free. */
  readonly by: string | null;
}

/** The refusal of a change that builds on another content than the one that lies there. */
export function changed({ path, revision, sizeBytes }: RemoteFile): RemoteFailure {
  return new RemoteFailure('changed', { path, current: { revision, sizeBytes } });
}

/** Looks whether a path holds what a writer expects: null for nothing. @throws RemoteFailure `exists`, `changed` */
export function mayPut({ path, file, by }: Occupied, expected: string | null): void {
  if (expected === null) {
    if (by !== null) throw new RemoteFailure('exists', { path: by });
    return;
  }
  if (!file) throw new RemoteFailure('changed', { path, current: null });
  if (file.revision !== expected) throw changed(file);
}

/** Lets one call at a time look at names and then change them. */
export class Turns {
  /** Settles when the last one has ended. */
  private last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}
