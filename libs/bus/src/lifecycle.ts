import type { BusLogger, BusStatus, Serving, Subscription } from './bus.js';
import { shuttingDown } from './failures.js';
import { StatusHolder } from './status.js';
import { Work, within } from './work.js';

/** What a party does on a bus, and the order in which it leaves: serving, calls, listening, connection. */
export class Lifecycle {
  readonly status: StatusHolder;
  private readonly servings = new Set<Serving>();
  private readonly subscriptions = new Set<Subscription>();
  private readonly calls = new Work();
  private closing: Promise<void> | undefined;

  constructor(
    initial: BusStatus,
    private readonly drainMs: number,
    private readonly logger: BusLogger,
  ) {
    this.status = new StatusHolder(initial, logger);
  }

  /** @throws ServiceError SERVICE_UNAVAILABLE once this party has begun to leave */
  assertOpen(): void {
    if (this.closing !== undefined) throw shuttingDown();
  }

  /** While handlers finish they may still call others; once they have, nobody starts anything. @throws as assertOpen */
  assertMayCall(): void {
    if (this.closing !== undefined && this.servings.size === 0) throw shuttingDown();
  }

  /** @throws ServiceError SERVICE_UNAVAILABLE once this party has left */
  assertNotClosed(): void {
    if (this.status.current === 'closed') throw shuttingDown();
  }

  addCall(call: Promise<unknown>): void {
    this.calls.add(call.catch(() => undefined));
  }

  addServing(serving: Serving): Serving {
    this.servings.add(serving);
    return {
      owner: serving.owner,
      pause: () => serving.pause(),
      resume: () => serving.resume(),
      stop: () => serving.stop().finally(() => this.servings.delete(serving)),
    };
  }

  addSubscription(subscription: Subscription): Subscription {
    this.subscriptions.add(subscription);
    return { stop: () => subscription.stop().finally(() => this.subscriptions.delete(subscription)) };
  }

  /** `leave` ends the connection; it runs once, after everything else has. */
  close(leave: () => Promise<void>): Promise<void> {
    this.closing ??= this.drain(leave);
    return this.closing;
  }

  private async drain(leave: () => Promise<void>): Promise<void> {
    this.status.set('draining');
    await Promise.all([...this.servings].map((serving) => serving.stop()));
    this.servings.clear();
    await this.calls.idle(this.drainMs);
    const silent = Promise.all([...this.subscriptions].map((subscription) => subscription.stop()));
    if (!(await within(silent, this.drainMs))) this.logger.warn({}, 'a listener did not end during the drain');
    await leave();
    this.status.set('closed');
  }
}
