import { moveNode, type NodeRef, type ParsedInputOf, type RawJson, ServiceError } from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { rawObject } from '../shared/raw-json.js';
import { KEY_CLASHES, MOVE_MEMBERSHIPS, MOVE_NODES, MOVING_NODES } from './move.statements.js';
import { lockNode, lockNodes, readNode, refuseStale } from './node.repository.js';

type Input = ParsedInputOf<typeof moveNode>;

const MOVES_SHOWN = 500;
const CLASHES_SHOWN = 100;

/** Moves a node, and what belongs to it, to another organization. Unconfirmed it answers what would move and who would gain and lose. */
export async function move(tx: Transaction, input: Input): Promise<RawJson> {
  await lockAccess(tx);
  const node = await lockNode(tx, input.node_id);
  await refuseStale(tx, node, input.expected_version);
  await refuseForeignTarget(tx, input);
  const from = node.organization_id;
  if (from === null)
    throw new ServiceError('ORG_INVARIANT', 'node_id: an organization cannot belong to another organization.', {
      node_id: node.id,
    });
  if (from === input.organization_id) {
    return rawObject({ applied: true, preview: null, node: await readNode(tx, node.id), moves: [], move_count: 0 });
  }
  const moving = await tx.rows<NodeRef>(MOVING_NODES, [node.id, input.with_descendants, from]);
  const ids = moving.map(({ id }) => id);
  await refuseClashes(tx, node.id, ids, input.organization_id);
  const unmoved = await readNode(tx, node.id);
  const outcome = { moves: moving.slice(0, MOVES_SHOWN), move_count: moving.length };
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed, dryRun: !input.confirmed },
    () => moveAll(tx, ids, from, input.organization_id),
    (unconfirmed) => rawObject({ applied: false, preview: unconfirmed, node: unmoved, ...outcome }),
  );
  return rawObject({ applied: true, preview, node: await readNode(tx, node.id), ...outcome });
}

async function refuseForeignTarget(tx: Transaction, { organization_id }: Input): Promise<void> {
  const target = (await lockNodes(tx, [organization_id])).get(organization_id);
  if (target?.type !== 'organization') {
    throw new ServiceError('ORG_INVARIANT', 'organization_id: this node is not an organization.', {
      node_id: organization_id,
    });
  }
}

interface Clash {
  readonly node: NodeRef;
  /** Null for a node that was purged or has gone elsewhere, and has left its folder. */
  readonly with: NodeRef | null;
  readonly sync_key: string;
}

/** A sync_key never changes, so a node cannot go where its key is taken, or its folder on remotes was another's. */
async function refuseClashes(
  tx: Transaction,
  nodeId: string,
  ids: readonly string[],
  organizationId: string,
): Promise<void> {
  const rows = await tx.rows<{ clash: Clash; leaves: boolean }>(KEY_CLASHES, [ids, organizationId, CLASHES_SHOWN]);
  if (rows.length === 0) return;
  const clashes = rows.map(({ clash }) => clash);
  const current: unknown = (await readNode(tx, nodeId)).parse();
  const message = `${inTheWay(clashes)} ${wayOut(nodeId, clashes, { mayMakeRoom: rows.every(({ leaves }) => !leaves) })}`;
  throw new ServiceError('CONFLICT', message, { current, clashes });
}

function inTheWay(clashes: readonly Clash[]): string {
  const named = clashes.slice(0, 3).map(({ node, with: other, sync_key }) => {
    const who = other ? `${other.type} "${other.name}"` : `the folder of a ${node.type} that was purged or moved`;
    return `${sync_key} (${who})`;
  });
  return `In that organization the same sync_key is taken: ${named.join(', ')}${clashes.length > 3 ? ' and more' : ''}.`;
}

function wayOut(nodeId: string, clashes: readonly Clash[], { mayMakeRoom }: { readonly mayMakeRoom: boolean }): string {
  const ways = ['create this node again there, where it gets a new key, and archive it here'];
  if (mayMakeRoom) ways.unshift('move the existing node to another organization, or archive and purge it');
  if (!clashes.some(({ node }) => node.id === nodeId)) ways.push('move the node with_descendants: false');
  return `A key names folders and never changes. Options: ${ways.join('; or ')}.`;
}

async function moveAll(tx: Transaction, ids: readonly string[], from: string, to: string) {
  await tx.execute(MOVE_NODES, [ids, to]);
  await tx.execute(MOVE_MEMBERSHIPS, [ids, to, from]);
  for (const id of ids) {
    tx.audit({
      action: moveNode.name,
      targetKind: 'node',
      targetId: id,
      concerns: [from, to],
      before: { organization_id: from },
      after: { organization_id: to },
    });
  }
  const edges = ids.flatMap((id) => [from, to].map((organization): [string, string] => [id, organization]));
  emitGraphChanged(tx, ids, moveNode.name, { edges });
  return { result: null, refresh: ids };
}
