import type { BusEventType } from '@workspace-graph/contracts';
import type pg from 'pg';
import type { OutboxMessage } from './outbox-message.js';

const pruneEveryMs = 10 * 60_000;
const callsAtOnce = 1_000;
/** Few, as each holds up to a message's worth of bytes. */
const partsAtOnce = 100;

const takeEvents = `
  SELECT id, type, payload FROM outbox.event WHERE id <> ALL ($1::uuid[]) AND type = ANY ($3::text[])
  ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED`;

const removeEvents = 'DELETE FROM outbox.event WHERE id = ANY ($1::uuid[])';

const pruneCalls = `
  DELETE FROM outbox.applied_call WHERE call_id IN (
    SELECT call_id FROM outbox.applied_call WHERE applied_at < now() - interval '24 hours' ORDER BY applied_at LIMIT $1 FOR UPDATE SKIP LOCKED)`;

const pruneParts = 'SELECT graph.prune_import_parts($1) AS count';

/** The outbox's tables over one connection. A batch is locked from `take` to `finish`; other instances pass it by. */
export class OutboxRows {
  readonly batchSize: number;
  private readonly client: pg.Client;
  private readonly types: readonly BusEventType[];
  private pruneAtMs = 0;

  constructor(client: pg.Client, { batchSize, types }: { batchSize: number; types: readonly BusEventType[] }) {
    this.client = client;
    this.batchSize = batchSize;
    this.types = types;
  }

  /** The oldest events of these types that nobody else has taken. */
  async take(except: readonly string[]): Promise<OutboxMessage[]> {
    const [, { rows }] = await Promise.all([
      this.client.query('BEGIN'),
      this.client.query<OutboxMessage>({
        name: 'outbox.take',
        text: takeEvents,
        values: [except, this.batchSize, this.types],
      }),
    ]);
    return rows;
  }

  /** Removes what was published and lets go of the rest. */
  async finish(published: readonly string[]): Promise<void> {
    await Promise.all([
      published.length > 0 && this.client.query({ name: 'outbox.remove', text: removeEvents, values: [published] }),
      this.client.query('COMMIT'),
    ]);
  }

  /** Removes one batch of replies and upload parts that nobody will ask for, now and then. @returns whether there is more */
  async prune(): Promise<boolean> {
    if (performance.now() < this.pruneAtMs) return false;
    const calls = await this.client.query(pruneCalls, [callsAtOnce]);
    const parts = await this.client.query<{ count: number }>(pruneParts, [partsAtOnce]);
    const more = calls.rowCount === callsAtOnce || parts.rows[0]?.count === partsAtOnce;
    if (!more) this.pruneAtMs = performance.now() + pruneEveryMs;
    return more;
  }
}
