import type { connectSession, OutputOf, ParsedInputOf, Session } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { defaultSessionName, transition } from '@workspace-graph/domain';
import { newId } from '@workspace-graph/platform';
import { isDriven } from '../driving/send-message.js';
import { append, type NewEvent } from '../log/append.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { SET_STATE } from '../shared/change.statements.js';
import { conflict, lockOwnSession, OWNER, readSession, refusal } from '../shared/locked-session.js';
import { aboutOf, emitChanged } from '../shared/session-changes.js';
import { beginRun, CONNECTED } from './begin-run.js';
import { BOUND_SESSION, HOME_NODE, INSERT_SESSION, LOCK_BINDING, SEED_SCOPE, SET_CLIENT } from './run.statements.js';

type Input = ParsedInputOf<typeof connectSession>;
type Output = OutputOf<typeof connectSession>;

/** Records a connected agent: a session is born, or goes on. */
export async function connect(tx: Transaction, input: Input): Promise<Output> {
  if (input.session_id !== undefined) return attach(tx, input, input.session_id);
  if (input.binding === null) return open(tx, input);
  await tx.execute(LOCK_BINDING, [input.binding]);
  const bound = await tx.row<{ id: string; run_id: string | null }>(BOUND_SESSION, [
    input.binding,
    tx.context.caller.user_id,
  ]);
  if (!bound) return open(tx, input);
  return bound.run_id === null ? attach(tx, input, bound.id) : join(tx, bound.id, bound.run_id);
}

/** Another process holds the run already; both renew it. */
async function join(tx: Transaction, sessionId: string, runId: string): Promise<Output> {
  await lockOwnSession(tx, sessionId);
  return answer(tx, sessionId, runId);
}

/** What a session begins with, whoever starts it. */
export interface NewSession {
  readonly id: string;
  readonly nodeId: string | null;
  readonly origin: 'connection' | 'task';
  readonly brief?: string;
  readonly runner?: string;
  readonly instanceId: string | null;
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly client?: Input['client'];
}

/** Makes the record of a session with its name and its first scope. @throws ServiceError NODE_NOT_FOUND */
export async function insertSession(tx: Transaction, session: NewSession): Promise<void> {
  const { caller } = tx.context;
  const { id, nodeId, origin, brief, runner, instanceId, policy, client } = session;
  const node = nodeId === null ? null : await tx.row<{ name: string }>(HOME_NODE, [...seenBy(caller), nodeId]);
  if (nodeId !== null) {
    if (!node) throw nodeNotFound(nodeId);
    tx.restOn(nodeId);
  }
  const about = aboutOf({ node_name: node?.name ?? null, client: client ?? null });
  await tx.execute(INSERT_SESSION, [
    id,
    nodeId,
    caller.user_id,
    origin,
    defaultSessionName(about, new Date()),
    brief ?? null,
    runner ?? null,
    instanceId,
    policy ? JSON.stringify(policy) : null,
    client ? JSON.stringify(client) : null,
  ]);
  if (nodeId !== null) await tx.execute(SEED_SCOPE, [...seenBy(caller), id, nodeId]);
}

async function open(tx: Transaction, input: Input): Promise<Output> {
  const { caller } = tx.context;
  const [id, nodeId] = [newId(), input.node_id ?? null];
  await insertSession(tx, { id, nodeId, origin: 'connection', instanceId: input.instance_id, client: input.client });
  const started = await begin(tx, input, id, 'fresh');
  await append(tx, { sessionId: id, runId: input.run_id }, [started]);
  emitChanged(tx, { id, node_id: nodeId, owner_id: caller.user_id });
  tx.audit({
    action: 'connect_session',
    targetKind: 'session',
    targetId: id,
    concerns: [nodeId],
    after: { client: input.client.name, node_id: nodeId },
  });
  return answer(tx, id, input.run_id);
}

/**
 * The agent of a task belongs to the run that its runner drives, and sets no task going that was suspended; any other agent
 * begins a run of its own.
 */
async function attach(tx: Transaction, input: Input, sessionId: string): Promise<Output> {
  const session = await lockOwnSession(tx, sessionId);
  if (input.node_id !== undefined && input.node_id !== session.node_id)
    throw await conflict(tx, session, 'The session is anchored to another node.');
  const isDrivenNow = isDriven(session);
  if (session.origin === 'task' && !isDrivenNow)
    throw await conflict(tx, session, 'The session is a task that does not run: resume it.');
  const client = JSON.stringify(input.client);
  if (isDrivenNow) {
    await tx.execute(SET_CLIENT, [sessionId, client]);
    emitChanged(tx, session);
    return answer(tx, sessionId, null);
  }
  const next = transition(session.state, { kind: 'reconnect', hasLiveRun: session.live_run_id !== null });
  if ('refused' in next) throw await refusal(tx, session, next);
  const mode = session.state === 'suspended' && !session.can_continue ? 'handoff' : 'conversation';
  const payload = { from: session.state, to: next.to, reason: 'reconnect' as const, by: OWNER };
  const changed: NewEvent[] = session.state === next.to ? [] : [{ kind: 'state_changed', payload }];
  await tx.execute(SET_CLIENT, [sessionId, client]);
  await tx.execute(SET_STATE, [sessionId, next.to, null, null, false]);
  emitChanged(tx, session);
  const started = await begin(tx, input, sessionId, mode);
  await append(tx, { sessionId, runId: input.run_id }, [...changed, started]);
  return answer(tx, sessionId, input.run_id);
}

function begin(
  tx: Transaction,
  input: Input,
  sessionId: string,
  mode: 'fresh' | 'conversation' | 'handoff',
): Promise<NewEvent> {
  const { run_id: id, holder, instance_id: instanceId, terminal_id: terminalId, binding } = input;
  return beginRun(tx, { id, sessionId, holder, mode, runner: CONNECTED, instanceId, terminalId, binding });
}

async function answer(tx: Transaction, sessionId: string, runId: string | null): Promise<Output> {
  return { session: (await readSession(tx, sessionId)).parse() as Session, run_id: runId };
}
