import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Underway } from '@workspace-graph/bus';
import { ServiceError } from '@workspace-graph/contracts';
import { Database, type Statement, statement } from '@workspace-graph/database';
import { pathKey } from '@workspace-graph/domain';

/** An object on a remote. */
export interface RemoteObject {
  readonly remote: string;
  readonly path: string;
}

/** For which a change waits for the ones before it. */
const WAIT_MS = 30_000;
const POLL_MS = 100;
/** First half of each lock, by which it differs from other locks of the product. */
const CLASS = 7_320;
/** $1 locks. Answers whether each was got, in their order. */
const TRY_LOCKS = statement(
  'file.try_lock_objects',
  `SELECT pg_try_advisory_lock(${CLASS}, w.lock) AS done FROM unnest($1::int[]) WITH ORDINALITY AS w(lock, place) ORDER BY w.place`,
);
/** $1 locks. */
const UNLOCK = statement(
  'file.unlock_objects',
  `SELECT pg_advisory_unlock(${CLASS}, w.lock) AS done FROM unnest($1::int[]) AS w(lock)`,
);

type Client = Parameters<Parameters<Database['session']>[0]>[0];

/** The connection that holds the locks of this process. */
interface Keeper {
  readonly client: Client;
  /** Aborted when the connection, and with it every lock, is lost. */
  readonly lost: AbortSignal;
}

/**
 * One change at a time to an object, among all instances of the service: what a backend does not look at itself is looked
 * at by one writer alone. The locks are those of one connection, so they end with the process.
 */
@Injectable()
export class ObjectLocks implements BeforeApplicationShutdown {
  /** The last one of those who wait in this process, by lock: a connection would give its own lock twice. */
  private readonly queues = new Map<number, Promise<void>>();
  private keeper: Promise<Keeper> | null = null;
  private readonly ended = new AbortController();
  private readonly working = new Underway<Promise<unknown>>();

  constructor(private readonly database: Database) {}

  /**
   * Works on objects that nobody else changes meanwhile. The signal of the work is aborted when the locks are lost.
   * @throws ServiceError SERVICE_UNAVAILABLE when others do not come to an end; the reason of the signal; what the work throws
   */
  run<T>(objects: readonly RemoteObject[], signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const working = this.lockAndWork(objects, signal, work);
    return working.finally(this.working.add(working));
  }

  /** What works goes on to its end. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.working]);
    this.ended.abort();
  }

  private async lockAndWork<T>(
    objects: readonly RemoteObject[],
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
    const keys = [...new Set(objects.map(lockOf))].toSorted((one, other) => one - other);
    const release: (() => Promise<void> | void)[] = [];
    try {
      // In one order, so that no two wait for each other.
      for (const key of keys) release.push(await this.turn(key, waiting));
      const keeper = await this.connection();
      release.push(await locked(keeper, keys, waiting));
      return await work(AbortSignal.any([signal, keeper.lost]));
    } catch (error) {
      throw waiting.aborted && !signal.aborted && error === waiting.reason ? busy() : error;
    } finally {
      for (const end of release.reverse()) await end();
    }
  }

  /** Resolves when those of this process who came before are done. */
  private async turn(key: number, signal: AbortSignal): Promise<() => void> {
    const before = this.queues.get(key) ?? Promise.resolve();
    const done = Promise.withResolvers<void>();
    const mine = before.then(() => done.promise);
    this.queues.set(key, mine);
    const end = (): void => {
      done.resolve();
      if (this.queues.get(key) === mine) void mine.then(() => this.queues.get(key) === mine && this.queues.delete(key));
    };
    try {
      await unlessAborted(before, signal);
      return end;
    } catch (error) {
      end();
      throw error;
    }
  }

  private connection(): Promise<Keeper> {
    this.keeper ??= this.connect();
    return this.keeper;
  }

  private connect(): Promise<Keeper> {
    const { promise, resolve, reject } = Promise.withResolvers<Keeper>();
    const lost = new AbortController();
    const lose = (): void => {
      if (this.keeper === promise) this.keeper = null;
      lost.abort(new ServiceError('SERVICE_UNAVAILABLE', 'The database was lost while a file was being changed.'));
    };
    this.database
      .session((client) => {
        const gone = Promise.withResolvers<void>();
        client.once('error', () => gone.resolve());
        client.once('end', () => gone.resolve());
        resolve({ client, lost: lost.signal });
        return gone.promise;
      }, this.ended.signal)
      .catch(reject)
      .finally(lose);
    return promise;
  }
}

/** Takes all of them; those after one that others hold are let go of meanwhile. */
async function locked(
  { client, lost }: Keeper,
  keys: readonly number[],
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  // A connection that is lost has let go of everything.
  const letGo = (held: readonly number[]): Promise<unknown> => asks(client, UNLOCK, held).catch(() => undefined);
  let mine = 0;
  try {
    for (;;) {
      const wanted = keys.slice(mine);
      const got = await asks(client, TRY_LOCKS, wanted);
      const missing = got.indexOf(false);
      if (missing === -1) break;
      await letGo(wanted.filter((_key, index) => index > missing && got[index] === true));
      mine += missing;
      lost.throwIfAborted();
      await sleep(POLL_MS, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  } catch (error) {
    await letGo(keys.slice(0, mine));
    throw error;
  }
  return async () => {
    await letGo(keys);
  };
}

async function asks(client: Client, { name, text }: Statement, keys: readonly number[]): Promise<boolean[]> {
  if (keys.length === 0) return [];
  const { rows } = await client.query<{ done: boolean }>({ name, text, values: [keys] });
  return rows.map(({ done }) => done);
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Names that a backend may take for one have one lock; two objects that share one by chance wait for nothing. */
function lockOf({ remote, path }: RemoteObject): number {
  return createHash('sha256')
    .update(`${remote}\0${pathKey(path)}`)
    .digest()
    .readInt32BE(0);
}

function busy(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The file is being changed by others: try again in a moment.');
}
