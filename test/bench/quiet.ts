import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';

const PATIENCE_MS = 20_000;
const POLL_MS = 20;

/** Waits until the messages of the writes before are sent: their sending must not slow down what is measured next. */
export async function untilOutboxIsEmpty(pool: Pool): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (performance.now() < deadlineMs) {
    const { rows } = await pool.query<{ waiting: boolean }>('SELECT EXISTS (SELECT FROM outbox.event) AS waiting');
    if (rows[0]?.waiting !== true) return;
    await sleep(POLL_MS);
  }
}
