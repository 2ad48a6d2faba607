import {
  archiveNode,
  connect,
  createNode,
  disconnect,
  type Edge,
  type ErrorCode,
  logEvent,
  moveNode,
  purgeNode,
  restoreNode,
  setAccess,
  updateNode,
} from '@workspace-graph/contracts';
import type { Act } from './act.js';
import type { ChangeOf } from './step.js';
import {
  edgeKey,
  levelOf,
  type Name,
  nodeOf,
  nodeText,
  type Recipient,
  type World,
  type WorldEdge,
  withDescendants,
} from './world.js';

export async function createNodeAct(act: Act, change: ChangeOf<'create_node'>): Promise<void> {
  const { world } = act;
  const { node: name, type, org, parents, visibility, owner } = change;
  const made = await act.accepted(createNode, {
    type,
    name: nodeText(name),
    visibility,
    owner_id: actorId(world, owner),
    ...(org === null ? {} : { organization_id: nodeOf(world, org).id }),
    parent_ids: parents.map((parent) => nodeOf(world, parent).id),
  });
  act.settle(() => {
    world.nodes.set(name, {
      id: made.id,
      type,
      org,
      visibility,
      recipients: [],
      owner,
      creator: act.step.by,
      archived: false,
    });
    for (const parent of parents) {
      const id = made.edges.items.find((edge) => edge.node.id === nodeOf(world, parent).id)?.id ?? '';
      addEdge(world, { id, source: name, target: parent, relation: 'belongs_to' });
    }
  });
}

export async function setAccessAct(
  act: Act,
  { node: name, visibility, recipients }: ChangeOf<'set_access'>,
): Promise<void> {
  const node = nodeOf(act.world, name);
  const input = {
    node_id: node.id,
    visibility,
    recipients: recipients.map((recipient) => recipientInput(act.world, recipient)),
  };
  await act.moveAccess(setAccess, input, () => Object.assign(node, { visibility, recipients }));
}

export function recipientInput(world: World, { principal, access }: Recipient) {
  const user = world.users.get(principal);
  return user
    ? { kind: 'user' as const, id: user.user_id, access }
    : { kind: 'group' as const, id: world.groups.get(principal)?.id ?? '', access };
}

export async function connectAct(act: Act, { source, target, relation }: ChangeOf<'connect'>): Promise<void> {
  const { world } = act;
  const input = { source_id: nodeOf(world, source).id, target_id: nodeOf(world, target).id, relation };
  const code = whyNotConnected(world, { source, target, relation });
  if (code !== null) return act.refused(connect, { ...input, confirmed: true }, code);
  const edge: WorldEdge = { id: '', source, target, relation };
  const answer = await act.moveAccess(connect, input, () => addEdge(world, edge));
  edge.id = (answer.edge as Edge).id;
}

function whyNotConnected(world: World, { source, target, relation }: Omit<WorldEdge, 'id'>): ErrorCode | null {
  if (source === target) return 'VALIDATION_FAILED';
  const membership = relation === 'belongs_to' && nodeOf(world, source).org === target;
  if (membership || world.edges.has(edgeKey({ source, target, relation }))) return 'EDGE_EXISTS';
  if (relation !== 'belongs_to') return null;
  if ([source, target].some((end) => nodeOf(world, end).type === 'organization')) return 'ORG_INVARIANT';
  return withDescendants(world, source).has(target) ? 'EDGE_CYCLE' : null;
}

export async function disconnectAct(act: Act, { edge: key }: ChangeOf<'disconnect'>): Promise<void> {
  const edge_id = act.world.edges.get(key)?.id ?? '';
  await act.moveAccess(disconnect, { edge_id }, () => act.world.edges.delete(key));
}

export async function moveNodeAct(
  act: Act,
  { node: name, org, withDescendants: deep }: ChangeOf<'move_node'>,
): Promise<void> {
  const { world } = act;
  const from = nodeOf(world, name).org;
  const input = { node_id: nodeOf(world, name).id, organization_id: nodeOf(world, org).id, with_descendants: deep };
  if (from === null) return act.refused(moveNode, input, 'ORG_INVARIANT');
  const moving = (deep ? [...withDescendants(world, name)] : [name]).filter(
    (one) => nodeOf(world, one).org === from && from !== org,
  );
  const answer = await act.moveAccess(
    moveNode,
    input,
    () => {
      for (const one of moving) nodeOf(world, one).org = org;
    },
    { alwaysAsks: from !== org },
  );
  expect(answer.moves.map((node) => node.id).sort()).toEqual(moving.map((one) => nodeOf(world, one).id).sort());
}

export async function purgeNodeAct(act: Act, { node: name }: ChangeOf<'purge_node'>): Promise<void> {
  const { world } = act;
  const node_id = nodeOf(world, name).id;
  if ([...world.nodes.values()].some((node) => node.org === name))
    return act.refused(purgeNode, { node_id, confirmed: true }, 'IN_USE');
  await act.moveAccess(
    purgeNode,
    { node_id },
    () => {
      world.nodes.delete(name);
      for (const [key, edge] of world.edges) if (edge.source === name || edge.target === name) world.edges.delete(key);
      for (const [key, event] of world.events) if (event.node === name) world.events.delete(key);
    },
    { alwaysAsks: true },
  );
}

export async function setOwnerAct(act: Act, { node: name, owner }: ChangeOf<'set_owner'>): Promise<void> {
  const node = nodeOf(act.world, name);
  await act.moveAccess(updateNode, { node_id: node.id, owner_id: actorId(act.world, owner) }, () => {
    node.owner = owner;
  });
}

export async function archiveAct(act: Act, { node: name, restore }: ChangeOf<'archive'>): Promise<void> {
  const node = nodeOf(act.world, name);
  await act.accepted(restore ? restoreNode : archiveNode, { node_id: node.id });
  node.archived = !restore;
}

/** Anybody tries to log, whatever they may see. */
export async function logAct(act: Act, { node, event }: ChangeOf<'log'>): Promise<void> {
  const { world, session, step } = act;
  const input = { node_id: nodeOf(world, node).id, kind: 'note' as const, content: `zebra ${event}` };
  const level = levelOf(world, session.table, step.by, node);
  if (act.by.scope === 'read') return act.refused(logEvent, input, 'FORBIDDEN');
  if (level !== 'write') return act.refused(logEvent, input, level === 'none' ? 'NODE_NOT_FOUND' : 'FORBIDDEN');
  world.events.set(event, { id: (await act.accepted(logEvent, input)).id, node });
}

function addEdge(world: World, edge: WorldEdge): void {
  world.edges.set(edgeKey(edge), edge);
}

function actorId(world: World, actor: Name | null): string | null {
  return actor === null ? null : (world.actors.get(actor)?.id ?? null);
}
