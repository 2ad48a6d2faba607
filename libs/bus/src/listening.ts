import type { BusEvent, BusLogger } from './bus.js';

/** From this many waiting events on, a slow listener is reported. */
const BACKLOG_WARNING = 1_000;

/** Hands events to one listener, one after the other, whatever the pace at which they arrive. */
export class Listening {
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;
  private stopped = false;

  constructor(
    private readonly listener: (event: BusEvent) => void | Promise<void>,
    private readonly logger: BusLogger,
  ) {}

  deliver(event: BusEvent): void {
    if (this.stopped) return;
    this.waiting += 1;
    if (this.waiting === BACKLOG_WARNING)
      this.logger.warn({ event: event.type, waiting: this.waiting }, 'an event listener is falling behind');
    this.tail = this.tail.then(() => this.hand(event));
  }

  /** Takes no further events and resolves when the listener has had those it got. */
  stop(): Promise<void> {
    this.stopped = true;
    return this.tail;
  }

  private async hand(event: BusEvent): Promise<void> {
    try {
      await this.listener(event);
    } catch (error) {
      this.logger.error({ err: error, event: event.type, event_id: event.id }, 'an event listener failed');
    } finally {
      this.waiting -= 1;
    }
  }
}
