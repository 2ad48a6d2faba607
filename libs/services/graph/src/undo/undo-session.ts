import {
  LIMITS,
  OPERATIONS,
  type OutputOf,
  type ParsedInputOf,
  type Scope,
  ServiceError,
  scopeIncludes,
  type UndoneChange,
  undoSession,
} from '@workspace-graph/contracts';
import { type Transaction, UnconfirmedChange } from '@workspace-graph/database';
import { seenBy } from '../shared/caller.js';
import { type Change, changedIn, Kept } from './change.js';
import { CHANGES, LOCK_UNDO, SEEN_SESSION } from './undo.statements.js';
import { WAYS_BACK } from './ways-back.js';

type Input = ParsedInputOf<typeof undoSession>;
type Reply = OutputOf<typeof undoSession>;

/** Takes back the changes of a session, the last one first. Unconfirmed, it does the same and takes everything back again. */
export async function undo(tx: Transaction, input: Input): Promise<Reply> {
  const home = await refuseOthers(tx, input.session_id);
  await tx.execute(LOCK_UNDO, [input.session_id]);
  const { caller } = tx.context;
  const most = LIMITS.undoChanges;
  const found = await tx.rows<Change>(CHANGES, [
    ...seenBy(caller),
    input.session_id,
    input.from_seq ?? null,
    most + 1,
    input.to_seq ?? null,
    caller.session_id ?? null,
  ]);
  const changes: UndoneChange[] = [];
  const entries: string[] = [];
  for (const change of found.slice(0, most)) {
    if (change.node) tx.restOn(change.node.id);
    const told = await takeBack(tx, change, input.session_id);
    if (isWhole(change, told)) entries.push(change.id);
    changes.push(told);
  }
  const undone = changes.filter((change) => change.undone).length;
  const told = { undone, kept: changes.length - undone, complete: found.length <= most, changes };
  if (!input.confirmed) throw new UnconfirmedChange({ applied: false, ...told } satisfies Reply);
  if (undone > 0)
    tx.audit({
      action: undoSession.name,
      targetKind: 'session',
      targetId: input.session_id,
      concerns: [home],
      after: { undone, kept: told.kept, entries },
    });
  return { applied: true, ...told };
}

/** Answers the home node of the session, null where it has none. @throws ServiceError SESSION_NOT_FOUND, SESSION_FORBIDDEN */
async function refuseOthers(tx: Transaction, sessionId: string): Promise<string | null> {
  const { caller } = tx.context;
  const session = await tx.row<{ node_id: string | null; is_own: boolean }>(SEEN_SESSION, [
    ...seenBy(caller),
    sessionId,
  ]);
  if (!session)
    throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId} that you may see.`, {
      session_id: sessionId,
    });
  if (session.node_id !== null) tx.restOn(session.node_id);
  if (!session.is_own && caller.scope !== 'manage')
    throw new ServiceError('SESSION_FORBIDDEN', 'This is for the owner of the session and for the scope manage.');
  return session.node_id;
}

async function takeBack(tx: Transaction, change: Change, sessionId: string): Promise<UndoneChange> {
  const { at, seq, action, target_kind, target_id, node } = change;
  const told = { at, seq, action, target_kind, target_id, node };
  try {
    const fields = await tx.attempt(() => goBack(tx, change, sessionId));
    return { ...told, undone: true, fields: [...fields], kept: null };
  } catch (error) {
    return { ...told, undone: false, fields: [], kept: reasonOf(error) };
  }
}

/** Whether a change is taken back in all its parts: then no later undo does it again. */
function isWhole(change: Change, { undone, fields }: UndoneChange): boolean {
  return undone && (fields.length === 0 || changedIn(change).every((field) => fields.includes(field)));
}

async function goBack(tx: Transaction, change: Change, sessionId: string): Promise<readonly string[]> {
  const way = WAYS_BACK[change.action];
  if (!way) throw new Kept('not_undoable');
  if (change.is_undone) throw new Kept('already');
  if (!change.is_within) throw new Kept('forbidden');
  const tier = OPERATIONS.get(change.action)?.tier as Scope;
  if (!scopeIncludes(tx.context.caller.scope, tier)) throw new Kept('forbidden');
  return way(tx, change, sessionId);
}

/** @throws whatever is no refusal */
function reasonOf(error: unknown): NonNullable<UndoneChange['kept']> {
  if (error instanceof Kept) return error.reason;
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === 'FORBIDDEN') return 'forbidden';
  return error.code.endsWith('_NOT_FOUND') ? 'gone' : 'changed_since';
}
