import { BUS_EVENTS, type BusEventType } from '@workspace-graph/contracts';
import pg from 'pg';
import type { OutboxMessage } from './outbox-message.js';
import { OutboxRows } from './outbox-rows.js';
import { Postponed } from './postponed.js';

/** The part of a structured logger that the publisher uses; a pino logger fits. */
export interface OutboxLogger {
  /** Expected changes. */
  info(details: object, message: string): void;
  /** Reports a lost connection, and an event that was not published. */
  warn(details: object, message: string): void;
}

/** Options of the publisher. */
export interface OutboxPublisherOptions {
  /** PostgreSQL URL; the publisher opens its own connection. */
  readonly url: string;
  /** Sends an event to the bus. Rejects when it did not arrive; it is then retried, and later events may precede it. */
  readonly publish: (event: OutboxMessage) => Promise<void>;
  /** Types of the events that this process publishes; other processes publish the rest. Default: every type. */
  readonly types?: readonly BusEventType[];
  /** Default: nothing is logged. */
  readonly logger?: OutboxLogger;
  /** Milliseconds between two reads of the outbox without a notification. Default 1,000. */
  readonly pollMs?: number;
  /** Maximum number of events in one transaction. Default 100. */
  readonly batchSize?: number;
  /** Milliseconds for which `stop` continues to publish what is in the outbox. Default 5,000. */
  readonly drainMs?: number;
}

/** Failures in a row that mean the bus and not the event. */
const failuresOfBus = 3;
const longestPauseMs = 10_000;
const queryWithinMs = 30_000;

/**
 * Publishes committed events in the order of their making, at least once each, and removes them. Any number of
 * instances share the work: none waits for another's rows. Also removes what the outbox keeps for a while only.
 */
export class OutboxPublisher {
  private readonly options: OutboxPublisherOptions;
  private readonly postponed = new Postponed();
  private running: Promise<void> | undefined;
  private client: pg.Client | undefined;
  private stopByMs: number | undefined;
  private wake: () => void = () => undefined;
  private told = false;
  private failedAttempts = 0;

  constructor(options: OutboxPublisherOptions) {
    this.options = options;
  }

  /** Begins. Resolves after the first attempt to connect; a database that is away is tried again until `stop`. */
  start(): Promise<void> {
    if (this.running !== undefined) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.running = this.run(resolve).finally(resolve);
    return promise;
  }

  /** Publishes what is there, within `drainMs`, and closes the connection. What is left stays for the next start. */
  async stop(): Promise<void> {
    const drainMs = this.options.drainMs ?? 5_000;
    this.stopByMs ??= performance.now() + drainMs;
    this.tell();
    // A server that does not answer any more must not hold up the end.
    const timer = setTimeout(() => void this.client?.end(), drainMs + 1_000);
    await this.running;
    clearTimeout(timer);
  }

  private get batches(): { batchSize: number; types: readonly BusEventType[] } {
    const { batchSize = 100, types = Object.keys(BUS_EVENTS) as BusEventType[] } = this.options;
    return { batchSize, types };
  }

  private get stopping(): boolean {
    return this.stopByMs !== undefined;
  }

  private async run(attempted: () => void): Promise<void> {
    while (!this.stopping) {
      try {
        await this.connectAndWork(attempted);
      } catch (error) {
        this.failedAttempts++;
        this.options.logger?.warn(
          { err: error, attempt: this.failedAttempts },
          'the outbox lost its database connection and reconnects',
        );
        attempted();
        this.told = this.stopping;
        await this.pause(Math.min(100 * 2 ** this.failedAttempts, longestPauseMs));
      }
    }
  }

  private async connectAndWork(attempted: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: 'workspace-graph outbox',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: queryWithinMs,
      pipeline: true,
      // A removal that a power cut takes back is an event that goes out again.
      options: '-c synchronous_commit=off',
    });
    let lost: Error | undefined;
    const onLost = (error: Error): void => {
      lost ??= error;
      this.tell();
    };
    client.on('error', onLost);
    client.on('end', () => onLost(new Error('the connection was closed')));
    client.on('notification', () => this.tell());
    this.client = client;
    try {
      await client.connect();
      await client.query('LISTEN outbox');
      attempted();
      await this.work(new OutboxRows(client, this.batches), () => lost);
    } finally {
      this.client = undefined;
      // A connection that is broken already cannot be ended in order.
      await client.end().catch(() => undefined);
    }
  }

  private async work(rows: OutboxRows, lost: () => Error | undefined): Promise<void> {
    for (;;) {
      const error = lost();
      if (error !== undefined) throw error;
      const last = this.stopping;
      this.told = false;
      const full = await this.publishBatch(rows);
      this.failedAttempts = 0;
      if (full && !this.isOverdue()) continue;
      if (last) return;
      const more = !this.stopping && (await rows.prune());
      if (!more && !this.stopping) await this.pause(this.options.pollMs ?? 1_000);
    }
  }

  /** @returns whether more may be there right now */
  private async publishBatch(rows: OutboxRows): Promise<boolean> {
    const batch = await rows.take(this.postponed.ids());
    const published: string[] = [];
    let failures = 0;
    for (const event of batch) {
      if (failures === failuresOfBus || this.isOverdue()) break;
      if (await this.publishOne(event)) {
        published.push(event.id);
        failures = 0;
      } else failures++;
    }
    await rows.finish(published);
    return batch.length === rows.batchSize && published.length > 0;
  }

  private async publishOne(event: OutboxMessage): Promise<boolean> {
    try {
      await this.options.publish(event);
      this.postponed.forget(event.id);
      return true;
    } catch (error) {
      const againInMs = this.postponed.add(event.id);
      this.options.logger?.warn(
        { err: error, event_id: event.id, event_type: event.type, again_in_ms: againInMs },
        'an event was not published and will be retried',
      );
      return false;
    }
  }

  private isOverdue(): boolean {
    return this.stopByMs !== undefined && performance.now() > this.stopByMs;
  }

  private tell(): void {
    this.told = true;
    this.wake();
  }

  /** Ends early when told that there is something to do. */
  private async pause(ms: number): Promise<void> {
    if (this.told) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.wake = resolve;
    await promise;
    clearTimeout(timer);
    this.wake = () => undefined;
  }
}
