import { createHash, randomBytes } from 'node:crypto';
import { LIMITS, ServiceError } from '@workspace-graph/contracts';

const MAX_TICKETS = 20_000;

interface Waiting<T> {
  readonly what: T;
  readonly untilMs: number;
}

/**
 * Tickets for one transfer each: random, kept as their hash in the memory of this process alone, good for one use that
 * begins in time. Nothing compares a ticket with another one: it is looked up by its hash.
 */
export class TicketDesk<T> {
  private readonly waiting = new Map<string, Waiting<T>>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @throws ServiceError SERVICE_UNAVAILABLE when too many wait */
  issue(what: T): string {
    this.clear();
    if (this.waiting.size >= MAX_TICKETS)
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many transfers wait to begin: try again in a moment.');
    const ticket = randomBytes(32).toString('base64url');
    this.waiting.set(hashOf(ticket), { what, untilMs: this.nowMs() + LIMITS.ticketMs });
    return ticket;
  }

  /** What a ticket is for; null for one that is unknown, used or too old. It is used up. */
  redeem(ticket: string): T | null {
    const key = hashOf(ticket);
    const found = this.waiting.get(key);
    this.waiting.delete(key);
    return found && found.untilMs > this.nowMs() ? found.what : null;
  }

  /** Tickets that may still be used. */
  get size(): number {
    this.clear();
    return this.waiting.size;
  }

  /** Those that are too old come first. */
  private clear(): void {
    for (const [key, { untilMs }] of this.waiting) {
      if (untilMs > this.nowMs()) return;
      this.waiting.delete(key);
    }
  }
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}
