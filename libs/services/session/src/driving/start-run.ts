import {
  type Decision,
  type ParsedInputOf,
  type RawJson,
  type RunMode,
  type Runner,
  type resumeSession,
  type startSession,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { transition } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { append, type NewEvent } from '../log/append.js';
import { beginRun } from '../runs/begin-run.js';
import { insertSession } from '../runs/connect-session.js';
import type { RunOrder, RunRef } from '../runs/session-runs.js';
import { SET_STATE } from '../shared/change.statements.js';
import {
  conflict,
  lockAnySession,
  lockOwnSession,
  OWNER,
  readSession,
  refusal,
  SERVER,
  type SessionRow,
} from '../shared/locked-session.js';
import { emitChanged, suspend } from '../shared/session-changes.js';
import { UNDELIVERED } from './question.statements.js';

/** A run that is recorded and has yet to start. */
export interface OrderedRun {
  readonly order: RunOrder;
  readonly reply: RawJson;
}

/** @throws ServiceError VALIDATION_FAILED on `runner` for one that cannot be chosen here */
export function requireRunner(runners: readonly Runner[], wanted: string): void {
  const usable = runners.filter(({ installed, logged_in }) => installed && logged_in);
  if (usable.some(({ id }) => id === wanted)) return;
  const known = runners.find(({ id }) => id === wanted);
  const why = known ? `is not ${known.installed ? 'logged in' : 'installed'}` : 'is not known here';
  const choice =
    usable.length > 0 ? `choose one of ${usable.map(({ id }) => id).join(', ')}` : 'no runner can be chosen here';
  throw validationFailed([{ path: 'runner', message: `${JSON.stringify(wanted)} ${why}; ${choice}` }]);
}

/** Records a task and its first run. */
export async function start(
  tx: Transaction,
  input: ParsedInputOf<typeof startSession>,
  holder: string,
): Promise<OrderedRun> {
  const id = newId();
  const { node_id: nodeId, brief, runner, instance_id: instanceId = null, policy } = input;
  const given = policy ? { policy } : {};
  await insertSession(tx, { id, nodeId, origin: 'task', brief, runner, instanceId, ...given });
  tx.audit({
    action: 'start_session',
    targetKind: 'session',
    targetId: id,
    concerns: [nodeId],
    after: { node_id: nodeId, runner },
  });
  const message: NewEvent = { kind: 'user_message', payload: { text: brief, author: OWNER } };
  return order(tx, { id, holder, mode: 'fresh' }, [message]);
}

/**
 * Sets a suspended session running again, with a run that is recorded.
 * @throws ServiceError SESSION_FORBIDDEN, CONFLICT, NO_LIVE_RUN for an agent that connects by itself
 */
export async function resume(
  tx: Transaction,
  input: ParsedInputOf<typeof resumeSession>,
  holder: string,
): Promise<OrderedRun> {
  const { session_id: id, mode, node_id: nodeId } = input;
  const session = await lockOwnSession(tx, id);
  if (nodeId !== undefined && nodeId !== session.node_id)
    throw await conflict(tx, session, 'The session is anchored to another node.');
  const next = transition(session.state, { kind: 'resume', mode, canContinue: session.can_continue });
  if ('refused' in next) throw await refusal(tx, session, next);
  if (session.runner === null)
    throw await refusal(tx, session, {
      refused: 'NO_LIVE_RUN',
      message: 'The agent of this session connects by itself: connect it again under this session.',
    });
  await tx.execute(SET_STATE, [id, next.to, null, null, false]);
  tx.audit({
    action: 'resume_session',
    targetKind: 'session',
    targetId: id,
    concerns: [session.node_id],
    after: { state: next.to, mode },
  });
  const payload = { from: session.state, to: next.to, reason: 'resume' as const, by: OWNER };
  return order(tx, { id, holder, mode }, [{ kind: 'state_changed', payload }]);
}

/** A run that could not start leaves its session suspended. */
export async function failRun(tx: Transaction, run: RunRef, error: string): Promise<RawJson> {
  const session = await lockAnySession(tx, run.session_id);
  if (session?.live_run_id === run.run_id)
    await suspend(tx, session, { reason: null, outcome: 'failed', by: SERVER, canContinue: false, error });
  return readSession(tx, run.session_id);
}

interface WantedRun {
  readonly id: string;
  readonly holder: string;
  readonly mode: RunMode;
}

async function order(
  tx: Transaction,
  { id, holder, mode }: WantedRun,
  before: readonly NewEvent[],
): Promise<OrderedRun> {
  const session = await lockOwnSession(tx, id);
  if (session.runner === null) throw new Error('A session without a runner has no run to start');
  const { runner, instance_id: instanceId } = session;
  const runId = newId();
  const started = await beginRun(tx, { id: runId, sessionId: id, holder, mode, runner, instanceId });
  await append(tx, { sessionId: id, runId }, [...before, started]);
  emitChanged(tx, session);
  const answers = await tx.rows<{ request_id: string; decision: Decision | null }>(UNDELIVERED, [id]);
  return {
    order: { ...orderOf({ ...session, runner }, mode), run_id: runId, answers },
    reply: await readSession(tx, id),
  };
}

function orderOf(
  session: SessionRow & { readonly runner: string },
  mode: RunMode,
): Omit<RunOrder, 'run_id' | 'answers'> {
  const {
    id,
    node_id,
    owner_id,
    runner,
    instance_id,
    policy,
    brief,
    handoff_title: title,
    handoff_text: text,
  } = session;
  const handoff = title === null || text === null ? null : { title, text };
  return { session_id: id, node_id, owner_id, runner, instance_id, policy, mode, brief, handoff };
}
