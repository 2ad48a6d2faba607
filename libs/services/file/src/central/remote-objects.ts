import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { onObject } from '../remotes/refusals.js';
import { type HeldRemote, RemotePool } from '../remotes/remote-pool.js';
import { LiveContents } from './live-contents.js';
import { ObjectLocks, type RemoteObject } from './object-locks.js';
import { LargeUploads } from './uploads/large-uploads.js';

const ATTEMPTS = 5;

/** Objects that are about to be changed; `path` is what the caller calls the first one. */
export interface FoundObjects {
  readonly objects: readonly [RemoteObject, ...RemoteObject[]];
  readonly path: string;
}

/** What is done with objects of remotes, and how the caller is told that it failed. */
@Injectable()
export class RemoteObjects {
  constructor(
    private readonly locks: ObjectLocks,
    private readonly pool: RemotePool,
    /** What lies on the remotes at present. */
    readonly contents: LiveContents,
    /** Large contents on their way there. */
    readonly uploads: LargeUploads,
  ) {}

  /** Looks at an object, `path` being what the caller calls it. @throws ServiceError; what the work throws */
  look<T>({ remote }: RemoteObject, path: string, work: (held: HeldRemote) => Promise<T>): Promise<T> {
    return onObject(remote, path, () => this.pool.use(remote, work));
  }

  /**
   * Changes an object, and those beside it, that nobody else changes meanwhile. The root of its remote is still the one.
   * @throws ServiceError; what the work throws
   */
  change<T>(
    [object, ...others]: readonly [RemoteObject, ...RemoteObject[]],
    { path, signal }: { readonly path: string; readonly signal: AbortSignal },
    work: (held: HeldRemote, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.locks.run([object, ...others], signal, (locked) =>
      this.look(object, path, async (held) => {
        await held.confirmRoot();
        return await work(held, locked);
      }),
    );
  }

  /**
   * The same for objects of which it is known only behind their locks that they are the ones: a file may be moved meanwhile,
   * and is followed then. The work gets what was found last.
   * @throws ServiceError; SERVICE_UNAVAILABLE for one that is moved again and again; what `find` and the work throw
   */
  async changeFound<F extends FoundObjects, T>(
    find: () => Promise<F>,
    signal: AbortSignal,
    work: (held: HeldRemote, found: F, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const { objects, path } = await find();
      const done = await this.change(objects, { path, signal }, async (held, locked) => {
        const found = await find();
        return isDeepStrictEqual(found.objects, objects) ? { value: await work(held, found, locked) } : null;
      });
      if (done) return done.value;
      if (attempt === ATTEMPTS)
        throw new ServiceError('SERVICE_UNAVAILABLE', `The file ${path} was moved meanwhile: try again.`);
    }
  }

  /** Works with another remote in the same change. @throws ServiceError REMOTE_REFUSED for a root that is not the one */
  async beside<T>(remote: string, work: (held: HeldRemote) => Promise<T>): Promise<T> {
    return this.pool.use(remote, async (held) => {
      await held.confirmRoot();
      return await work(held);
    });
  }
}
