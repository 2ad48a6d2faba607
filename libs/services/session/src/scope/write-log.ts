import {
  type logSession,
  type OutputOf,
  type ParsedInputOf,
  type ReportedEvent,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { reportEvents } from '../log/report-events.js';
import { lockOwnSession } from '../shared/locked-session.js';
import { agentsSession } from './agents-session.js';

type Input = ParsedInputOf<typeof logSession>;

/** Enters what an agent says of its own into the log, as an event of its run. */
export async function writeLog(tx: Transaction, input: Input): Promise<OutputOf<typeof logSession>> {
  const event = eventOf(input);
  const session = await lockOwnSession(tx, agentsSession(tx.context.caller));
  if (session.live_run_id === null) throw new ServiceError('NO_LIVE_RUN', 'This session does not run.');
  const { last_seq } = await reportEvents(tx, {
    session_id: session.id,
    run_id: session.live_run_id,
    events: [event] as never,
  });
  return { seq: last_seq };
}

function eventOf({ kind, text, title }: Input): ReportedEvent {
  if (kind === 'assistant_message') return { id: newId(), kind, payload: { text } };
  if (title === undefined) throw validationFailed([{ path: 'title', message: 'is required for a handoff' }]);
  return { id: newId(), kind, payload: { title, text, written_by: 'agent' } };
}
