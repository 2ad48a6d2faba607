import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedDatabase, type EmbeddedDatabaseOptions, startEmbeddedDatabase } from './embedded-database.js';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { classifyFailure, embeddedFailure } from './failures.js';
import { lookAtEmbeddedDatabase } from './look.js';
import { type Failure, pauseBefore, type RestartPolicy, usualPolicy, withFailure } from './restart-policy.js';
import type { ServerEnd } from './server-process.js';

/** What happened to a server that nobody asked to end. */
export type ServerChange =
  | { readonly kind: 'ended'; readonly end: ServerEnd }
  | { readonly kind: 'refused'; readonly problem: EmbeddedDatabaseError; readonly againInMs: number }
  | { readonly kind: 'running' };

/** Options of a supervised database. */
export interface SupervisedDatabaseOptions extends EmbeddedDatabaseOptions {
  /** Called when the server ended unexpectedly, when a restart failed, and when it is running again. */
  readonly onChange?: (change: ServerChange) => void;
  /** When to restart and when to stop trying. Default: `usualPolicy`. */
  readonly policy?: RestartPolicy;
}

/** A database of this process whose server is started again when it ends by itself. */
export interface SupervisedDatabase extends AsyncDisposable {
  /** Stays the same when the server is started again. */
  readonly url: string;
  /** Absolute path of the data. */
  readonly dataFolder: string;
  /** Why the server does not run right now; null while it runs. */
  readonly problem: EmbeddedDatabaseError | null;
  /** Settles when the server ended too often, or cannot be started again, with the reason. */
  readonly lost: Promise<EmbeddedDatabaseError>;
  /** Ends the server, or the attempt to start it. A second call waits for the first. */
  stop(): Promise<void>;
}

/** A server that was killed leaves words of old troubles behind, which did not end it. */
function isFullDisk({ signal, log }: ServerEnd): boolean {
  return signal === null && classifyFailure(log) === 'DISK_FULL';
}

/** The port of a server that listens on loopback; undefined for a socket. */
function portOf(url: string): number | undefined {
  const { port, searchParams } = new URL(url);
  return searchParams.has('host') ? undefined : Number(port);
}

/** Data that vanished under a running server must not be replaced by an empty database. */
function requireData(folder: string): void {
  const { state, problem, dataFolder } = lookAtEmbeddedDatabase(folder);
  if (problem) throw problem;
  if (state !== 'present') throw embeddedFailure('DATA_MISSING', `${folder} (kept in ${dataFolder})`);
}

class Supervisor implements SupervisedDatabase {
  readonly url: string;
  readonly dataFolder: string;
  readonly lost: Promise<EmbeddedDatabaseError>;
  private readonly giveUp: (problem: EmbeddedDatabaseError) => void;
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;
  private failures: readonly Failure[] = [];
  private found: EmbeddedDatabaseError | null = null;

  constructor(
    private server: EmbeddedDatabase,
    private readonly options: SupervisedDatabaseOptions,
  ) {
    this.url = server.url;
    this.dataFolder = server.dataFolder;
    const { promise, resolve } = Promise.withResolvers<EmbeddedDatabaseError>();
    this.lost = promise;
    this.giveUp = resolve;
    this.watching = this.watch();
  }

  get problem(): EmbeddedDatabaseError | null {
    return this.found;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.server.stop();
    await this.watching;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private async watch(): Promise<void> {
    const stopped = new Promise<null>((resolve) =>
      this.stopping.signal.addEventListener('abort', () => resolve(null), { once: true }),
    );
    for (;;) {
      const end = await Promise.race([this.server.endedUnasked, stopped]);
      if (end === null || this.isStopping) return;
      this.found = embeddedFailure(isFullDisk(end) ? 'DISK_FULL' : 'SERVER_ENDED', this.options.folder, end.log);
      this.options.onChange?.({ kind: 'ended', end });
      if (!(await this.startAgain(this.found))) return;
    }
  }

  /** @returns whether the server runs again */
  private async startAgain(reason: EmbeddedDatabaseError): Promise<boolean> {
    for (let problem = reason; ; ) {
      const pauseMs = this.note(problem);
      if (pauseMs === null) {
        this.giveUp(problem);
        return false;
      }
      if (problem !== reason) this.options.onChange?.({ kind: 'refused', problem, againInMs: pauseMs });
      await sleep(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      if (this.isStopping) return false;
      const refusal = await this.tryStart();
      if (this.isStopping) return false;
      if (refusal === null) return true;
      problem = refusal;
    }
  }

  private note(problem: EmbeddedDatabaseError): number | null {
    this.found = problem;
    const policy = this.options.policy ?? usualPolicy;
    const failure = { atMs: performance.now(), passing: problem.code === 'DISK_FULL' };
    this.failures = withFailure(policy, this.failures, failure);
    return pauseBefore(policy, this.failures);
  }

  /** @returns why the server does not run; null when it does, or is not wanted any more */
  private async tryStart(): Promise<EmbeddedDatabaseError | null> {
    try {
      requireData(this.options.folder);
      const port = this.options.port ?? portOf(this.url);
      const signal = this.stopping.signal;
      const server = await startEmbeddedDatabase({ ...this.options, ...(port === undefined ? {} : { port }), signal });
      this.server = server;
      if (this.isStopping || server.url !== this.url) await server.stop();
      if (server.url !== this.url)
        return embeddedFailure('START_FAILED', this.options.folder, 'ERROR: its address or password has changed');
    } catch (error) {
      return error instanceof EmbeddedDatabaseError
        ? error
        : embeddedFailure('START_FAILED', this.options.folder, `ERROR: ${(error as Error).message}`, error);
    }
    this.found = null;
    this.failures = this.failures.filter(({ passing }) => !passing);
    this.options.onChange?.({ kind: 'running' });
    return null;
  }
}

/**
 * Starts an embedded database and starts its server again whenever it ends by itself: at once, then at a slower pace, for
 * as long as it takes where the disk is full, and not any more where it ends again and again.
 * @throws EmbeddedDatabaseError when the first start fails
 */
export async function superviseEmbeddedDatabase(options: SupervisedDatabaseOptions): Promise<SupervisedDatabase> {
  return new Supervisor(await startEmbeddedDatabase(options), options);
}
