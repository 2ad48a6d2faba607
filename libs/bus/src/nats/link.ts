import { setTimeout as sleep } from 'node:timers/promises';
import {
  AuthorizationError,
  connect,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription as NatsSubscription,
  PermissionViolationError,
  type Status,
} from '@nats-io/transport-node';
import type { BusLogger } from '../bus.js';
import { within } from '../work.js';
import { connectionOptions, type NatsBusOptions, serverNames } from './options.js';

/** What the broker's access control refused. */
export interface Refusal {
  /** What was refused: sending to the subject, or receiving from it. */
  readonly operation: 'publish' | 'subscription';
  /** The subject as the broker reports it; may contain wildcards. */
  readonly subject: string;
}

export interface LinkListener {
  up?(): void;
  down?(): void;
  refused?(refusal: Refusal): void;
}

export interface Interest {
  readonly subject: string;
  readonly queue?: string;
  readonly onMessage: (message: Msg) => void;
}

export interface PublishFields {
  readonly headers?: MsgHdrs;
  readonly reply?: string;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** The wait before the next attempt, as a share of the outage so far. */
const BACKOFF_SHARE = 0.25;
const CLOSE_FLUSH_MS = 2_000;

/** The connection to the broker: made, lost and made again for as long as the bus lives. Interests outlive it. */
export class NatsLink {
  private connection: NatsConnection | undefined;
  private up = false;
  private downSinceMs = performance.now();
  private readonly interests = new Map<Interest, NatsSubscription | undefined>();
  private readonly listeners = new Set<LinkListener>();
  private readonly leaving = new AbortController();
  private readonly ended: Promise<void>;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly options: NatsBusOptions,
    private readonly logger: BusLogger,
  ) {
    const connecting = connectionOptions(options, () => this.delayMs());
    this.ended = Promise.resolve().then(() => this.keepConnected(connecting));
  }

  get connected(): boolean {
    return this.up;
  }

  /** The largest message that the broker takes, in bytes, headers included. */
  get maxMessageBytes(): number {
    return this.connection?.info?.max_payload ?? Number.POSITIVE_INFINITY;
  }

  listen(listener: LinkListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Answers whether the message was handed to a connection; it may still be lost with it. */
  publish(subject: string, payload: Uint8Array | string, fields: PublishFields = {}): boolean {
    if (!this.up || !this.connection) return false;
    try {
      this.connection.publish(subject, payload, { ...fields });
      return true;
    } catch (error) {
      // The connection may have gone since its last status; a message over the broker's limit is thrown here too.
      this.logger.warn({ err: error, subject }, 'a message could not be sent');
      return false;
    }
  }

  addInterest(interest: Interest): void {
    this.interests.set(
      interest,
      this.connection && !this.connection.isClosed() ? this.subscribe(this.connection, interest) : undefined,
    );
  }

  /** Resolves when every message that the broker had for this interest has been handed over. */
  async removeInterest(interest: Interest): Promise<void> {
    const subscription = this.interests.get(interest);
    this.interests.delete(interest);
    if (!subscription || subscription.isClosed() || !this.connection || this.connection.isClosed()) return;
    if (this.up) await this.unlessDown(subscription.drain());
    else subscription.unsubscribe();
  }

  /** Resolves when the broker has processed all that was sent before; false when the connection was lost meanwhile. */
  async flush(): Promise<boolean> {
    // One round trip serves all who ask in the same turn.
    this.flushing ??= Promise.resolve().then(() => {
      this.flushing = undefined;
      if (!this.up || !this.connection) throw new Error('not connected');
      return this.connection.flush();
    });
    return this.unlessDown(this.flushing);
  }

  /** As `flush`, but tells a refusal of one of the subjects. */
  async confirm(subjects: readonly string[]): Promise<'taken' | 'lost' | Refusal> {
    let refusal: Refusal | undefined;
    const off = this.listen({
      refused: (found) => {
        if (subjects.includes(found.subject)) refusal = found;
      },
    });
    try {
      const taken = await this.flush();
      // A refusal comes before the round trip ends, through a longer chain of microtasks.
      await new Promise((resolve) => setImmediate(resolve));
      return refusal ?? (taken ? 'taken' : 'lost');
    } finally {
      off();
    }
  }

  /** True once connected, false when that took too long. */
  async whenUp(withinMs: number): Promise<boolean> {
    if (this.up) return true;
    let off = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      off = this.listen({ up: resolve });
    });
    try {
      return await within(arrived, withinMs);
    } finally {
      off();
    }
  }

  /** Sends what is buffered, then ends the connection for good. */
  async close(): Promise<void> {
    if (this.up) await within(this.flush(), CLOSE_FLUSH_MS);
    this.leaving.abort();
    await this.connection?.close();
    await this.ended;
  }

  private async keepConnected(options: ReturnType<typeof connectionOptions>): Promise<void> {
    while (!this.leaving.signal.aborted) {
      const connection = await this.dial(options);
      if (!connection) return;
      this.connection = connection;
      const statuses = connection.status();
      this.restoreInterests(connection);
      this.setUp();
      for await (const status of statuses) this.follow(status);
      this.setDown();
      const error = await connection.closed();
      if (error) this.logger.error({ err: error }, 'the connection to NATS ended; reconnecting');
    }
  }

  private async dial(options: ReturnType<typeof connectionOptions>): Promise<NatsConnection | undefined> {
    while (!this.leaving.signal.aborted) {
      try {
        const connection = await connect(options);
        if (!this.leaving.signal.aborted) return connection;
        await connection.close();
      } catch (error) {
        await this.pauseAfter(error);
      }
    }
    return undefined;
  }

  private async pauseAfter(error: unknown): Promise<void> {
    const delayMs = this.delayMs();
    const fields = { err: error, servers: serverNames(this.options), retry_in_ms: Math.round(delayMs) };
    if (error instanceof AuthorizationError) this.logger.error(fields, 'NATS rejects the credentials of this process');
    else this.logger.warn(fields, 'NATS cannot be reached; retrying');
    await sleep(delayMs, undefined, { signal: this.leaving.signal }).catch(() => undefined);
  }

  private delayMs(): number {
    const wishedMs = (performance.now() - this.downSinceMs) * BACKOFF_SHARE;
    return Math.min(LONGEST_DELAY_MS, Math.max(FIRST_DELAY_MS, wishedMs)) * (0.5 + Math.random() / 2);
  }

  private follow(status: Status): void {
    switch (status.type) {
      case 'disconnect':
      case 'staleConnection':
        return this.setDown();
      case 'reconnect':
        return this.setUp();
      case 'error':
        return this.report(status.error);
      case 'ldm':
        return this.logger.info({ server: status.server }, 'the NATS server is about to stop');
      case 'slowConsumer':
        return this.logger.warn(
          { subject: status.sub.getSubject(), pending: status.pending },
          'messages arrive faster than they are handled',
        );
      case 'reconnecting':
      case 'forceReconnect':
      case 'update':
      case 'ping':
      case 'close':
        return;
      default:
        return this.logger.info({ status: status satisfies never }, 'NATS reports an unknown status');
    }
  }

  private setUp(): void {
    if (this.up || this.leaving.signal.aborted) return;
    this.up = true;
    if (this.connection) this.restoreInterests(this.connection);
    this.logger.info(
      { server: this.connection?.getServer(), after_ms: Math.round(performance.now() - this.downSinceMs) },
      'connected to NATS',
    );
    this.notify((listener) => listener.up?.());
  }

  private setDown(): void {
    if (!this.up) return;
    this.up = false;
    this.downSinceMs = performance.now();
    if (!this.leaving.signal.aborted)
      this.logger.warn({ servers: serverNames(this.options) }, 'the connection to NATS was lost');
    this.notify((listener) => listener.down?.());
  }

  private report(error: Error): void {
    if (!(error instanceof PermissionViolationError)) {
      this.logger.error({ err: error }, 'NATS reports an error');
      return;
    }
    const { operation, subject } = error;
    this.logger.error(
      { subject, operation },
      'NATS access control refused a subject; check the permissions of this user',
    );
    this.notify((listener) => listener.refused?.({ operation, subject }));
  }

  private notify(how: (listener: LinkListener) => void): void {
    for (const listener of [...this.listeners]) {
      try {
        how(listener);
      } catch (error) {
        this.logger.error({ err: error }, 'a change of the connection could not be handled');
      }
    }
  }

  /** The client library restores its own subscriptions; those that were refused or made without it are made here. */
  private restoreInterests(connection: NatsConnection): void {
    for (const [interest, subscription] of this.interests) {
      if (!subscription || subscription.isClosed()) this.interests.set(interest, this.subscribe(connection, interest));
    }
  }

  private subscribe(connection: NatsConnection, interest: Interest): NatsSubscription {
    return connection.subscribe(interest.subject, {
      queue: interest.queue,
      callback: (error, message) => {
        if (error) return;
        // An exception here would end the library's reading loop.
        try {
          interest.onMessage(message);
        } catch (failure) {
          this.logger.error({ err: failure, subject: interest.subject }, 'a message could not be handled');
        }
      },
    });
  }

  /** False when the connection was lost before the promise settled, or the promise failed, as it does then. */
  private async unlessDown(promise: Promise<unknown>): Promise<boolean> {
    let off = (): void => undefined;
    const lost = new Promise<boolean>((resolve) => {
      off = this.listen({ down: () => resolve(false) });
    });
    try {
      return await Promise.race([
        promise.then(
          () => true,
          () => false,
        ),
        lost,
      ]);
    } finally {
      off();
    }
  }
}
