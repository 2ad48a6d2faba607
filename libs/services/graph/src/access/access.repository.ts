import type { ParsedInputOf, RawJson, setAccess, Visibility } from '@workspace-graph/contracts';
import { changedFields, type Transaction } from '@workspace-graph/database';
import type { NodeRow } from '../nodes/node.repository.js';
import { nodeNotFound, seenBy } from '../shared/caller.js';
import { NODE_ACCESS, OWN_SHARES, REPLACE_SHARES, SET_VISIBILITY } from './access.statements.js';

/** One line of a sharing list as it is stored and audited. */
export type Share = ParsedInputOf<typeof setAccess>['recipients'][number];

/** The own setting of a node; visibility null inherits. */
export interface OwnSetting {
  readonly visibility: Visibility | null;
  readonly recipients: readonly Share[];
}

/** NodeAccess of a node that the caller sees. */
export async function readAccess(tx: Transaction, nodeId: string): Promise<RawJson> {
  const access = await tx.json(NODE_ACCESS, [...seenBy(tx.context.caller), nodeId]);
  if (!access) throw nodeNotFound(nodeId);
  return access;
}

/** Own setting of a locked node. */
export async function readOwnSetting(tx: Transaction, node: Pick<NodeRow, 'id' | 'visibility'>): Promise<OwnSetting> {
  return { visibility: node.visibility, recipients: inOrder(await tx.rows<Share>(OWN_SHARES, [node.id])) };
}

/** Stores the setting of a locked node with its audit line; answers false when nothing differs. */
export async function storeSetting(
  tx: Transaction,
  action: string,
  nodeId: string,
  change: { before: OwnSetting; after: OwnSetting },
): Promise<boolean> {
  const before = { ...change.before, recipients: inOrder(change.before.recipients) };
  const after = { ...change.after, recipients: inOrder(change.after.recipients) };
  const changes = changedFields(before, after);
  if (!changes) return false;
  await tx.execute(SET_VISIBILITY, [nodeId, after.visibility]);
  await tx.execute(REPLACE_SHARES, [nodeId, JSON.stringify(after.recipients)]);
  tx.audit({ action, targetKind: 'node', targetId: nodeId, ...changes });
  tx.emit('graph.changed', { node_ids: [nodeId], action });
  return true;
}

/** True for a setting that lets only some pass. */
export function isRestricted(visibility: Visibility | null): boolean {
  return visibility === 'private' || visibility === 'group';
}

function inOrder(shares: readonly Share[]): Share[] {
  return shares
    .map(({ kind, id, access }) => ({ kind, id, access }))
    .sort((a, b) => `${a.kind} ${a.id}`.localeCompare(`${b.kind} ${b.id}`, 'en'));
}
