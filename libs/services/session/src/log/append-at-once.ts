import type { appendSessionEvents, Caller, OutputOf, ParsedInputOf } from '@workspace-graph/contracts';
import type { Database } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { seenBy } from '../shared/caller.js';
import type { NewEvent } from './append.js';
import { APPEND_AT_ONCE } from './event.statements.js';

/** The log that grows, and the run without which it does not. */
type Log = Pick<ParsedInputOf<typeof appendSessionEvents>, 'session_id' | 'run_id'>;

/**
 * Appends events from which nothing follows, in one statement that is its own transaction. Null, and nothing is done, where
 * it does not go without a second look: an event is there already or comes twice at the same moment, the run has ended, or the
 * session is not there, not seen by the caller, or not the caller's own.
 */
export async function appendAtOnce(
  database: Database,
  caller: Caller,
  { session_id, run_id }: Log,
  events: readonly NewEvent[],
): Promise<OutputOf<typeof appendSessionEvents> | null> {
  const grown = await database
    .row<{ before: number }>(APPEND_AT_ONCE, [
      ...seenBy(caller),
      session_id,
      run_id,
      events.map(({ id }) => id),
      events.map(({ at }) => at ?? null),
      events.map(({ kind }) => kind),
      events.map(({ payload }) => JSON.stringify(payload)),
      newId(),
    ])
    .catch((error: unknown) => {
      if (isThereAlready(error)) return null;
      throw error;
    });
  if (!grown) return null;
  database.outbox.tell();
  return { seqs: events.map((_, index) => grown.before + index + 1), last_seq: grown.before + events.length };
}

/** Reported before, or at the same moment by another call, which was first. */
function isThereAlready(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'event_id_idx';
}
