import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseAddress } from './address.js';
import { type Binaries, findBinaries, findPackage } from './binaries.js';
import { ensureCluster } from './cluster.js';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { withAdvice } from './failures.js';
import { type Ownership, takeOwnership } from './ownership.js';
import { findPlaces, makeFolder, type Places } from './places.js';
import { endPreviousServer } from './previous-server.js';
import { isRunning, processesIn, waitFor } from './processes.js';
import { type ServerEnd, ServerProcess } from './server-process.js';

/** What the start is doing, for showing to a person who waits. */
export type EmbeddedProgress =
  | { readonly phase: 'copying_binaries' }
  | { readonly phase: 'creating' }
  | { readonly phase: 'stopping_previous'; readonly pid: number }
  | { readonly phase: 'starting' }
  | { readonly phase: 'recovering'; readonly line: string };

/** Options of an embedded database. */
export interface EmbeddedDatabaseOptions {
  /** Folder that only this database uses; created if missing. */
  readonly folder: string;
  /** Listens on this loopback port instead of a socket. */
  readonly port?: number;
  /** Called before each phase of the start. */
  readonly onProgress?: (progress: EmbeddedProgress) => void;
  /** Milliseconds for a start without crash recovery, which is not limited. Default 60,000. */
  readonly startWithinMs?: number;
  /** Aborting it cancels the start. */
  readonly signal?: AbortSignal;
  /** Where root's databases lie when the server's user cannot reach `folder`. Default: below /var/lib, or among temporary files. */
  readonly elsewhere?: string;
}

/** A running database of this process. */
export interface EmbeddedDatabase extends AsyncDisposable {
  /** Of the owner of an empty or migrated database; carries the password. */
  readonly url: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Absolute path of the data. */
  readonly dataFolder: string;
  /** Settles when the server ended without `stop`, for example killed. Then it may be started again. */
  readonly endedUnasked: Promise<ServerEnd>;
  /** Ends the server and frees the folder, and waits for all its processes. A second call waits for the first. */
  stop(): Promise<void>;
}

const attempts = 50;

interface Prepared {
  readonly binaries: Binaries;
  readonly places: Places;
  readonly password: string;
  readonly options: EmbeddedDatabaseOptions;
}

/** Old server processes may still be on their way out, and a free port may be gone by the time the server takes it. */
function isPassing(error: unknown, options: EmbeddedDatabaseOptions): boolean {
  if (!(error instanceof EmbeddedDatabaseError)) return false;
  return error.code === 'IN_USE' || (error.code === 'PORT_TAKEN' && options.port === undefined);
}

async function startServer(prepared: Prepared): Promise<{ server: ServerProcess; url: string }> {
  const { binaries, places, options } = prepared;
  const progress = options.onProgress ?? (() => undefined);
  for (let attempt = 1; ; attempt++) {
    const address = await chooseAddress(places, options.port);
    progress({ phase: 'starting' });
    const server = new ServerProcess({
      binaries,
      places,
      address,
      onRecovery: (line) => progress({ phase: 'recovering', line }),
    });
    try {
      await server.ready(options.startWithinMs ?? 60_000, options.signal);
      return { server, url: address.url(prepared.password) };
    } catch (error) {
      if (attempt === attempts || options.signal?.aborted || !isPassing(error, options)) throw error;
      await sleep(200);
      await endPreviousServer(binaries, places.dataFolder, (pid) => progress({ phase: 'stopping_previous', pid }));
    }
  }
}

async function prepare(places: Places, options: EmbeddedDatabaseOptions): Promise<Prepared> {
  const progress = options.onProgress ?? (() => undefined);
  const binaries = findBinaries(findPackage(places.root), places.root, places.user, () =>
    progress({ phase: 'copying_binaries' }),
  );
  await endPreviousServer(binaries, places.dataFolder, (pid) => progress({ phase: 'stopping_previous', pid }));
  const password = await ensureCluster(binaries, places, () => progress({ phase: 'creating' }));
  return { binaries, places, password, options };
}

class RunningDatabase implements EmbeddedDatabase {
  readonly url: string;
  readonly pid: number;
  readonly dataFolder: string;
  readonly endedUnasked: Promise<ServerEnd>;
  private readonly server: ServerProcess;
  private stopping: Promise<void> | undefined;
  private leftovers: readonly number[] = [];

  constructor(server: ServerProcess, url: string, dataFolder: string, release: () => void) {
    this.server = server;
    this.url = url;
    this.pid = server.pid;
    this.dataFolder = dataFolder;
    const { promise, resolve: tell } = Promise.withResolvers<ServerEnd>();
    this.endedUnasked = promise;
    void server.ended.then((end) => {
      // Before the folder is free: the processes of its next owner are none of ours.
      this.leftovers = processesIn(dataFolder);
      release();
      if (this.stopping === undefined) tell(end);
    });
  }

  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private async end(): Promise<void> {
    await this.server.stop();
    await waitFor(() => !this.leftovers.some(isRunning), 5_000);
  }
}

async function startOwned(
  folder: string,
  ownership: Ownership,
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const places = withAdvice(folder, () => findPlaces(folder, options.elsewhere));
  const elsewhere = places.root === folder ? undefined : takeOwnership(places.root);
  try {
    const { server, url } = await startServer(await prepare(places, options));
    return new RunningDatabase(server, url, places.dataFolder, () => {
      elsewhere?.release();
      ownership.release();
    });
  } catch (error) {
    elsewhere?.release();
    throw error;
  }
}

/**
 * Starts the PostgreSQL of a local workspace as a child of this process: makes it at the first start, ends what a
 * killed workspace left, and waits for crash recovery.
 * @throws EmbeddedDatabaseError saying what to do
 */
export async function startEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const wanted = resolve(options.folder);
  const folder = withAdvice(wanted, () => makeFolder(wanted));
  const ownership = takeOwnership(folder);
  try {
    return await startOwned(folder, ownership, options);
  } catch (error) {
    ownership.release();
    throw error;
  }
}
