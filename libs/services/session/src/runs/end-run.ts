import type { endRun, endTerminal, OutputOf, ParsedInputOf } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { transition } from '@workspace-graph/domain';
import { isOwner } from '../shared/caller.js';
import { lockAnySession, SERVER } from '../shared/locked-session.js';
import { suspend } from '../shared/session-changes.js';
import { SESSIONS_IN_TERMINAL } from './run.statements.js';

/**
 * Suspends the session of a run that has ended. The owner of the session reports it through the process that held the run,
 * also when they no longer see its node: a session is never left running.
 */
export async function end(tx: Transaction, input: ParsedInputOf<typeof endRun>): Promise<OutputOf<typeof endRun>> {
  const session = await lockAnySession(tx, input.session_id);
  const isTheirs = session !== null && (isOwner(tx.context.caller, session) || tx.context.caller.via === 'system');
  if (!isTheirs || session.live_run_id !== input.run_id) return { ended: false };
  if ('refused' in transition(session.state, { kind: 'suspend' })) return { ended: false };
  const { outcome, reason, error, can_continue: canContinue } = input;
  await suspend(tx, session, { outcome, reason, by: SERVER, canContinue, error });
  return { ended: true };
}

/** Suspends the sessions of the caller whose agents ran in a terminal that has ended, also such as they no longer see. */
export async function endInTerminal(
  tx: Transaction,
  { terminal_id }: ParsedInputOf<typeof endTerminal>,
): Promise<OutputOf<typeof endTerminal>> {
  const found = await tx.rows<{ id: string; run_id: string }>(SESSIONS_IN_TERMINAL, [
    tx.context.caller.user_id,
    terminal_id,
  ]);
  const suspended: string[] = [];
  for (const { id, run_id } of found) {
    const session = await lockAnySession(tx, id);
    // By the time it is locked another run may be under way, elsewhere.
    if (session?.live_run_id !== run_id || 'refused' in transition(session.state, { kind: 'suspend' })) continue;
    await suspend(tx, session, { outcome: 'suspended', reason: 'terminal_exit', by: SERVER, canContinue: true });
    suspended.push(id);
  }
  return { suspended };
}
