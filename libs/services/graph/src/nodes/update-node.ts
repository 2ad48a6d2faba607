import { type ParsedInputOf, type RawJson, updateNode } from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { lockActors } from '../actors/actor.repository.js';
import { rawObject } from '../shared/raw-json.js';
import { lockNode, type NodeRow, readNode, refuseStale } from './node.repository.js';
import { lifecycleChanges, type NodeChanges, realChanges, storeChanges } from './node-changes.js';
import { refuseHealthOfOthers } from './node-rules.js';

type Input = ParsedInputOf<typeof updateNode>;

/** Changes fields of a node; without a real change the node stays as it is, version and all. */
export async function update(tx: Transaction, input: Input): Promise<RawJson> {
  if (input.owner_id !== undefined) await lockAccess(tx);
  await lockActors(tx, input.owner_id ? [input.owner_id] : []);
  const node = await lockNode(tx, input.node_id);
  await refuseStale(tx, node, input.expected_version);
  const changes = changesOf(node, input);
  if (movesAccess(node, changes)) return updateOwnerOfGate(tx, node, changes, input.confirmed);
  await storeChanges(tx, node, changes, updateNode.name);
  return rawObject({ applied: true, preview: null, node: await readNode(tx, node.id) });
}

function changesOf(node: NodeRow, input: Input): NodeChanges {
  const { name, description, goal, owner_id } = input;
  return realChanges(node, {
    name,
    description,
    goal,
    owner_id,
    ...(input.lifecycle === undefined ? {} : lifecycleChanges(node, input.lifecycle)),
    ...healthChanges(node, input),
  });
}

/** A note explains one value: a new value without a note of its own drops the old note. */
function healthChanges(node: NodeRow, { health, health_note }: Input): NodeChanges {
  if (health !== undefined) refuseHealthOfOthers(node.type, 'health');
  if (health_note !== undefined) refuseHealthOfOthers(node.type, 'health_note');
  const isNew = health !== undefined && health !== node.health;
  return { health, health_note: health_note === undefined && isNew ? null : health_note };
}

/** The owner's user passes the gate of a node with a list of its own. */
function movesAccess(node: NodeRow, changes: NodeChanges): boolean {
  return changes.owner_id !== undefined && (node.visibility === 'private' || node.visibility === 'group');
}

async function updateOwnerOfGate(
  tx: Transaction,
  node: NodeRow,
  changes: NodeChanges,
  confirmed: boolean,
): Promise<RawJson> {
  const unchanged = await readNode(tx, node.id);
  const { preview } = await changeAccess(
    tx,
    { confirmed },
    async () => {
      await storeChanges(tx, node, changes, updateNode.name);
      return { result: null, refresh: [], regrant: [node.id] };
    },
    (unconfirmed) => rawObject({ applied: false, preview: unconfirmed, node: unchanged }),
  );
  return rawObject({ applied: true, preview, node: await readNode(tx, node.id) });
}
