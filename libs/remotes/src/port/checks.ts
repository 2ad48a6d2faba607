import { pathKey } from '@workspace-graph/domain';
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
  private readonly taken = new Set<Turn>();

  /** Waits for those before that change the same paths, or what lies above or below them; without paths for all of them. */
  async take<T>(work: () => Promise<T>, ...paths: readonly string[]): Promise<T> {
    const keys = paths.length === 0 ? [''] : paths.map(pathKey);
    const before = [...this.taken].filter((turn) => turn.keys.some((key) => keys.some((mine) => isOneIn(key, mine))));
    const done = Promise.all(before.map((turn) => turn.ended)).then(work);
    const turn: Turn = { keys, ended: done.then(ignore, ignore) };
    this.taken.add(turn);
    try {
      return await done;
    } finally {
      this.taken.delete(turn);
    }
  }
}

interface Turn {
  readonly keys: readonly string[];
  /** Settles without an error. */
  readonly ended: Promise<void>;
}

/** Whether one of two keys of paths lies in the other, or is it; all lie in ''. */
function isOneIn(one: string, other: string): boolean {
  if (one === '' || other === '' || one === other) return true;
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function ignore(): void {
  // Whoever took the turn is told.
}
