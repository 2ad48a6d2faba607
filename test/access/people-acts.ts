import {
  approveAccessRequest,
  type Caller,
  changeGroupMembers,
  createActor,
  createGroup,
  deleteActor,
  deleteGroup,
  refuseAccessRequest,
  requestAccess,
  updateActor,
  updateUser,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { weakerAccess } from '@workspace-graph/domain';
import type { Act } from './act.js';
import type { ChangeOf } from './step.js';
import { callerOf, levelOf, type Name, nodeOf, type World } from './world.js';

export async function createGroupAct(act: Act, { group }: ChangeOf<'create_group'>): Promise<void> {
  const { id } = await act.accepted(createGroup, { name: group });
  act.world.groups.set(group, { id, members: new Set() });
}

export async function changeMembersAct(act: Act, change: ChangeOf<'change_members'>): Promise<void> {
  const { world } = act;
  const { id, members } = groupOf(world, change.group);
  const idsOf = (users: readonly Name[]): string[] => users.map((user) => callerOf(world, user).user_id);
  await act.moveAccess(
    changeGroupMembers,
    { group_id: id, add: idsOf(change.add), remove: idsOf(change.remove) },
    () => {
      for (const user of change.add) members.add(user);
      for (const user of change.remove) members.delete(user);
    },
  );
}

export async function deleteGroupAct(act: Act, { group }: ChangeOf<'delete_group'>): Promise<void> {
  const { world } = act;
  await act.moveAccess(
    deleteGroup,
    { group_id: groupOf(world, group).id },
    () => {
      world.groups.delete(group);
      for (const node of world.nodes.values())
        node.recipients = node.recipients.filter((recipient) => recipient.principal !== group);
    },
    { alwaysAsks: true },
  );
}

export async function createActorAct(act: Act, { actor, user }: ChangeOf<'create_actor'>): Promise<void> {
  const { world } = act;
  const input = { type: 'person' as const, name: actor, user_id: user === null ? null : callerOf(world, user).user_id };
  if (isTied(world, user)) return act.refused(createActor, input, 'CONFLICT');
  world.actors.set(actor, { id: (await act.accepted(createActor, input)).id, user });
}

export async function tieActorAct(act: Act, { actor, user }: ChangeOf<'tie_actor'>): Promise<void> {
  const { world } = act;
  const tied = actorOf(world, actor);
  const input = { actor_id: tied.id, user_id: user === null ? null : callerOf(world, user).user_id };
  if (tied.user !== user && isTied(world, user))
    return act.refused(updateActor, { ...input, confirmed: true }, 'CONFLICT');
  await act.moveAccess(updateActor, input, () => {
    tied.user = user;
  });
}

export async function deleteActorAct(act: Act, { actor, heir }: ChangeOf<'delete_actor'>): Promise<void> {
  const { world } = act;
  if (actor === heir) return;
  await act.moveAccess(
    deleteActor,
    { actor_id: actorOf(world, actor).id, reassign_to: actorOf(world, heir).id },
    () => {
      world.actors.delete(actor);
      for (const node of world.nodes.values()) if (node.owner === actor) node.owner = heir;
    },
  );
}

export async function disableUserAct(act: Act, { user, disabled }: ChangeOf<'disable_user'>): Promise<void> {
  await act.accepted(updateUser, { user_id: callerOf(act.world, user).user_id, disabled });
  if (disabled) act.world.disabled.add(user);
  else act.world.disabled.delete(user);
}

/** Anybody asks for access to anything; a manager, or the asker again, decides. */
export async function requestAct(act: Act, { node, access, decision }: ChangeOf<'request'>): Promise<void> {
  const { world, session, step } = act;
  const input = { node_id: nodeOf(world, node).id, access };
  const held = levelOf(world, session.table, step.by, node);
  if (weakerAccess(held, access) === access) return act.refused(requestAccess, input, 'CONFLICT');
  const { id: access_request_id } = await act.accepted(requestAccess, input);
  if (decision === 'withdraw') return void (await act.accepted(withdrawAccessRequest, { access_request_id }));
  const by = someManager(world);
  if (decision === 'refuse') return void (await act.accepted(refuseAccessRequest, { access_request_id }, by));
  const shutting = (session.table.gates.get(node) ?? []).filter((gate) => isShutOut(act, gate, access));
  await act.moveAccess(
    approveAccessRequest,
    { access_request_id },
    () => {
      for (const gate of shutting) admit(world, gate, step.by, access);
    },
    { alwaysAsks: true, by },
  );
}

function isShutOut({ session, step }: Act, gate: Name, access: 'read' | 'write'): boolean {
  const held = session.table.levels.get(step.by)?.get(gate) ?? 'none';
  return weakerAccess(held, access) !== access;
}

function admit(world: World, gate: Name, user: Name, access: 'read' | 'write'): void {
  const node = nodeOf(world, gate);
  const others = node.recipients.filter((recipient) => recipient.principal !== user);
  Object.assign(node, { visibility: 'group', recipients: [...others, { principal: user, access }] });
}

function someManager(world: World): Caller {
  const manager = [...world.users.values()].find((caller) => caller.scope === 'manage');
  if (!manager) throw new Error('A world has managers');
  return manager;
}

function isTied(world: World, user: Name | null): boolean {
  return user !== null && [...world.actors.values()].some((actor) => actor.user === user);
}

function groupOf(world: World, name: Name): { readonly id: string; readonly members: Set<Name> } {
  const group = world.groups.get(name);
  if (!group) throw new Error(`No group ${name}`);
  return group;
}

function actorOf(world: World, name: Name): { readonly id: string; user: Name | null } {
  const actor = world.actors.get(name);
  if (!actor) throw new Error(`No actor ${name}`);
  return actor;
}
