import { type AccessPreview, LIMITS } from '@workspace-graph/contracts';
import {
  END_RECORD,
  HOLD,
  LOCK,
  MAY_MOVE,
  PREVIEW,
  PREVIEW_USERS,
  RECORD,
  REFRESH,
  REGRANT,
} from './access-change.statements.js';
import { type Transaction, UnconfirmedChange } from './command.js';

/** Options of `changeAccess`. */
export interface AccessChangeOptions {
  /** The caller has seen the preview and wants the change. */
  readonly confirmed: boolean;
  /** True: only preview the change. Default false. */
  readonly dryRun?: boolean;
}

/** What a change did. */
export interface AccessEffect<R> {
  readonly result: R;
  /** Nodes whose setting or parents changed: they and everything below them are recomputed. */
  readonly refresh: readonly string[];
  /** Nodes of which only recipients, owner or the owner's user changed: who passes them is recomputed. */
  readonly regrant?: readonly string[];
}

/** A change of access that was applied. */
export interface AccessChangeResult<R> {
  /** What `change` returned. */
  readonly result: R;
  /** Who gained and who lost access; empty lists when the change did not affect access. */
  readonly preview: AccessPreview;
}

/**
 * Carries out a change that may move access, and tells who gains and who loses. `change` alters rows and answers the
 * nodes to recompute. When somebody gains and the caller has not confirmed, the whole transaction is rolled back and
 * `unconfirmed(preview, result)` is the command's reply.
 */
export async function changeAccess<R>(
  tx: Transaction,
  options: AccessChangeOptions,
  change: () => Promise<AccessEffect<R>>,
  unconfirmed: (preview: AccessPreview, result: R) => unknown,
): Promise<AccessChangeResult<R>> {
  await tx.execute(RECORD);
  const { result, refresh, regrant = [] } = await change();
  if (refresh.length > 0) await tx.execute(REFRESH, [refresh]);
  if (regrant.length > 0) await tx.execute(REGRANT, [regrant]);
  const { preview, users } = await previewOf(tx);
  if (options.dryRun || (preview.widens && !options.confirmed))
    throw new UnconfirmedChange(unconfirmed(preview, result));
  await tx.execute(END_RECORD);
  const moved = users.length > 0 || preview.opens_to_everyone > 0;
  if (moved) emitAccessChanged(tx, [...refresh, ...regrant], users);
  return { result, preview };
}

/** Tells after the commit that these users may see more or less, and by which nodes, where those are known. */
export function emitAccessChanged(tx: Transaction, nodeIds: readonly string[], users: readonly string[]): void {
  const node_ids = nameable(nodeIds);
  for (let from = 0; from === 0 || from < users.length; from += LIMITS.nodesPerEvent)
    tx.emit('access.changed', { node_ids, user_ids: users.slice(from, from + LIMITS.nodesPerEvent) });
}

/** The nodes that an event names: none where there are too many, and whoever listens looks at everything. */
function nameable(nodeIds: readonly string[]): string[] {
  return nodeIds.length > LIMITS.nodesPerEvent ? [] : [...nodeIds];
}

/** Serialises with everything that moves access. Taken before any row lock by whatever may move it. */
export async function lockAccess(tx: Transaction): Promise<void> {
  await tx.execute(LOCK);
}

/** Keeps everybody's access as it is until the end of a transaction that does not move it itself and never calls `lockAccess`. */
export async function shareAccessLock(tx: Transaction): Promise<void> {
  await tx.execute(HOLD);
}

/** Recomputes access after a change that nobody can gain by, such as a new node. */
export async function refreshAccess(tx: Transaction, nodeIds: readonly string[]): Promise<void> {
  if (nodeIds.length > 0) await tx.execute(REFRESH, [nodeIds]);
}

interface PreviewRow {
  readonly opened: number;
  /** Everybody who gains or loses. */
  readonly users: readonly string[];
  readonly gains: AccessPreview['gains'];
  readonly loses: AccessPreview['loses'];
}

const NOTHING_MOVES: AccessPreview = { widens: false, gains: [], loses: [], opens_to_everyone: 0, complete: true };

async function previewOf(
  tx: Transaction,
): Promise<{ readonly preview: AccessPreview; readonly users: readonly string[] }> {
  const recorded = await tx.row<{ may_move: boolean }>(MAY_MOVE);
  if (!recorded?.may_move) return { preview: NOTHING_MOVES, users: [] };
  const row = await tx.row<PreviewRow>(PREVIEW);
  if (!row) throw new Error('A preview returns one row');
  const { opened, users, gains, loses } = row;
  const preview = {
    widens: gains.length > 0 || opened > 0,
    gains: gains.slice(0, PREVIEW_USERS),
    loses: loses.slice(0, PREVIEW_USERS),
    opens_to_everyone: opened,
    complete: gains.length <= PREVIEW_USERS && loses.length <= PREVIEW_USERS,
  };
  return { preview, users };
}
