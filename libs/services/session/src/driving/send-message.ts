import { type ParsedInputOf, ServiceError, type sendMessage } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { append } from '../log/append.js';
import type { RunRef } from '../runs/session-runs.js';
import { lockOwnSession, OWNER, type SessionRow } from '../shared/locked-session.js';

/** A message in the log, and the run that is to hear of it. */
export interface SentMessage {
  readonly run: RunRef;
  readonly seq: number;
}

/** @throws ServiceError NO_LIVE_RUN without a run that takes messages */
export async function send(tx: Transaction, input: ParsedInputOf<typeof sendMessage>): Promise<SentMessage> {
  const { session_id, text } = input;
  const session = await lockOwnSession(tx, session_id);
  const run_id = drivenRunOf(session);
  const payload = { text, author: OWNER };
  const [message] = await append(tx, { sessionId: session_id, runId: run_id }, [{ kind: 'user_message', payload }]);
  if (!message) throw new Error('A message was appended and has no place');
  return { run: { session_id, run_id }, seq: message.seq };
}

/** Whether a runner drives the session: it takes messages, can be interrupted and asked for its handoff. */
export function isDriven({ origin, live_run_id }: Pick<SessionRow, 'origin' | 'live_run_id'>): boolean {
  return origin === 'task' && live_run_id !== null;
}

function drivenRunOf({ origin, live_run_id }: SessionRow): string {
  if (live_run_id === null) throw new ServiceError('NO_LIVE_RUN', 'No run of this session is under way.');
  if (origin === 'task') return live_run_id;
  throw new ServiceError(
    'NO_LIVE_RUN',
    'The agent of this session connects by itself and takes no messages from here.',
  );
}
