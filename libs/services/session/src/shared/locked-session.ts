import {
  type RawJson,
  ServiceError,
  type SessionActor,
  type SessionOrigin,
  type SessionState,
  type SuspendReason,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import type { TransitionRefusal } from '@workspace-graph/domain';
import { isOwner, seenBy, sessionNotFound } from './caller.js';
import { LOCK_ANY_SESSION, LOCK_SESSION, SESSION } from './session.statements.js';

/** A session's own columns while a change holds it locked. */
export interface SessionRow {
  readonly id: string;
  readonly node_id: string | null;
  readonly node_name: string | null;
  readonly owner_id: string;
  readonly origin: SessionOrigin;
  readonly name: string;
  readonly is_named: boolean;
  readonly state: SessionState;
  readonly brief: string | null;
  readonly runner: string | null;
  readonly instance_id: string | null;
  readonly policy: Readonly<Record<string, unknown>> | null;
  readonly client: { readonly name: string; readonly title: string | null; readonly version: string } | null;
  readonly suspend_reason: SuspendReason | null;
  readonly handoff_title: string | null;
  readonly handoff_text: string | null;
  readonly handoff_by: 'agent' | 'server' | null;
  readonly handoff_at: string | null;
  readonly can_continue: boolean;
  readonly live_run_id: string | null;
  readonly waiting_since: string | null;
  readonly output_bytes: number;
  readonly version: number;
}

/** Locks a session that the caller sees. @throws ServiceError SESSION_NOT_FOUND */
export async function lockSession(tx: Transaction, sessionId: string): Promise<SessionRow> {
  const session = await tx.row<SessionRow>(LOCK_SESSION, [...seenBy(tx.context.caller), sessionId]);
  if (!session) throw sessionNotFound(sessionId);
  if (session.node_id !== null) tx.restOn(session.node_id);
  return session;
}

/** Locks a session for what the service does by itself; null when it is gone. */
export function lockAnySession(tx: Transaction, sessionId: string): Promise<SessionRow | null> {
  return tx.row<SessionRow>(LOCK_ANY_SESSION, [sessionId]);
}

/** As `lockSession`, for what is the owner's alone. @throws ServiceError SESSION_FORBIDDEN */
export async function lockOwnSession(tx: Transaction, sessionId: string): Promise<SessionRow> {
  const session = await lockSession(tx, sessionId);
  if (!isOwner(tx.context.caller, session)) throw forbidden('This is for the owner of the session alone.');
  return session;
}

/** As `lockSession`, for what may also be done by whoever manages. @throws ServiceError SESSION_FORBIDDEN */
export async function lockStoppableSession(tx: Transaction, sessionId: string): Promise<SessionRow> {
  const session = await lockSession(tx, sessionId);
  const { caller } = tx.context;
  if (!isOwner(caller, session) && caller.scope !== 'manage')
    throw forbidden('This is for the owner of the session and for the scope manage.');
  return session;
}

/** Who carries out the change, as the log of the session says it. */
export function actorOf(tx: Transaction, session: SessionRow, name: string | null): SessionActor {
  const { caller } = tx.context;
  if (caller.via === 'system') return SERVER;
  return isOwner(caller, session) ? OWNER : { role: 'manager', name };
}

export const SERVER: SessionActor = { role: 'server', name: null };
export const OWNER: SessionActor = { role: 'owner', name: null };

/** The session as get_session answers it, seen from inside a change. */
export async function readSession(tx: Transaction, sessionId: string): Promise<RawJson> {
  const session = await tx.json(SESSION, [...seenBy(tx.context.caller), sessionId]);
  if (!session) throw sessionNotFound(sessionId);
  return session;
}

/** A refusal that shows the session as it is. */
export async function conflict(tx: Transaction, session: SessionRow, message: string): Promise<ServiceError> {
  return new ServiceError('CONFLICT', message, { current: (await readSession(tx, session.id)).parse() });
}

/** A refusal of the table of states. */
export async function refusal(
  tx: Transaction,
  session: SessionRow,
  { refused, message }: { readonly refused: TransitionRefusal; readonly message: string },
): Promise<ServiceError> {
  return refused === 'CONFLICT' ? conflict(tx, session, message) : new ServiceError(refused, message);
}

function forbidden(message: string): ServiceError {
  return new ServiceError('SESSION_FORBIDDEN', message);
}
