import { ServiceError, type SessionEventBody } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { APPEND } from './event.statements.js';

/** An event on its way into a log. */
export type NewEvent = SessionEventBody & { readonly id?: string; readonly at?: string };

export interface AppendedEvent {
  readonly id: string;
  readonly seq: number;
  /** False when the log had it already. */
  readonly is_new: boolean;
}

/** The log that grows. */
export interface Log {
  readonly sessionId: string;
  /** The run that its new events belong to. */
  readonly runId: string | null;
  /** The run without which it does not grow. Default: it grows in any case. */
  readonly liveRunId?: string;
}

/**
 * Appends events to the log of a session that the transaction has locked, in their order; answers where each is.
 * @throws ServiceError NO_LIVE_RUN where it needs a run that is not live; not for what is there already
 */
export async function append(
  tx: Transaction,
  { sessionId, runId, liveRunId }: Log,
  events: readonly NewEvent[],
): Promise<AppendedEvent[]> {
  const ids = events.map(({ id }) => id ?? newId());
  const rows = await tx.rows<AppendedEvent>(APPEND, [
    sessionId,
    runId,
    ids,
    events.map(({ at }) => at ?? null),
    events.map(({ kind }) => kind),
    events.map(({ payload }) => JSON.stringify(payload)),
    liveRunId ?? null,
  ]);
  const places = new Map(rows.map((row) => [row.id, row]));
  const appended = ids.map((id) => {
    const row = places.get(id);
    if (!row) throw new ServiceError('NO_LIVE_RUN', 'This run of the session has ended.');
    return row;
  });
  if (appended.some((event) => event.is_new))
    tx.emit('session.appended', { session_id: sessionId, last_seq: Math.max(...appended.map(({ seq }) => seq)) });
  return appended;
}
