import type { NodeType, Relation, Visibility } from '@workspace-graph/contracts';
import type { Name, Recipient, World } from './world.js';

/** A change of the world, as data. */
export type Change =
  | {
      readonly do: 'create_node';
      readonly node: Name;
      readonly type: NodeType;
      readonly org: Name | null;
      readonly parents: readonly Name[];
      readonly visibility: Visibility | null;
      readonly owner: Name | null;
    }
  | {
      readonly do: 'set_access';
      readonly node: Name;
      readonly visibility: Visibility | null;
      readonly recipients: readonly Recipient[];
    }
  | { readonly do: 'connect'; readonly source: Name; readonly target: Name; readonly relation: Relation }
  | { readonly do: 'disconnect'; readonly edge: string }
  | { readonly do: 'move_node'; readonly node: Name; readonly org: Name; readonly withDescendants: boolean }
  | { readonly do: 'set_owner'; readonly node: Name; readonly owner: Name | null }
  | {
      readonly do: 'change_members';
      readonly group: Name;
      readonly add: readonly Name[];
      readonly remove: readonly Name[];
    }
  | { readonly do: 'create_group'; readonly group: Name }
  | { readonly do: 'delete_group'; readonly group: Name }
  | { readonly do: 'create_actor'; readonly actor: Name; readonly user: Name | null }
  | { readonly do: 'tie_actor'; readonly actor: Name; readonly user: Name | null }
  | { readonly do: 'delete_actor'; readonly actor: Name; readonly heir: Name }
  | { readonly do: 'purge_node'; readonly node: Name }
  | { readonly do: 'archive'; readonly node: Name; readonly restore: boolean }
  | { readonly do: 'log'; readonly node: Name; readonly event: Name }
  | {
      readonly do: 'request';
      readonly node: Name;
      readonly access: 'read' | 'write';
      readonly decision: 'approve' | 'refuse' | 'withdraw';
    }
  | { readonly do: 'disable_user'; readonly user: Name; readonly disabled: boolean };
export type ChangeKind = Change['do'];
export type ChangeOf<K extends ChangeKind> = Extract<Change, { do: K }>;

/** `by` makes the change; `ask` sends it unconfirmed first. */
export interface Step {
  readonly by: Name;
  readonly ask: boolean;
  readonly change: Change;
}

/** False when a step names something that is not there, as happens when steps before it were left out. */
export function isPossible(world: World, { by, change }: Step): boolean {
  const named = namesIn(change);
  return (
    world.users.has(by) &&
    named.every((name) => isKnown(world, name)) &&
    (change.do !== 'disconnect' || world.edges.has(change.edge))
  );
}

/** What a change needs to be there. */
function namesIn(change: Change): Name[] {
  const given = (...names: (Name | null)[]): Name[] => names.filter((name) => name !== null);
  switch (change.do) {
    case 'create_node':
      return given(change.org, ...change.parents, change.owner);
    case 'set_access':
      return [change.node, ...change.recipients.map((recipient) => recipient.principal)];
    case 'connect':
      return [change.source, change.target];
    case 'move_node':
      return [change.node, change.org];
    case 'set_owner':
      return given(change.node, change.owner);
    case 'change_members':
      return [change.group, ...change.add, ...change.remove];
    case 'delete_group':
      return [change.group];
    case 'create_actor':
      return given(change.user);
    case 'tie_actor':
      return given(change.actor, change.user);
    case 'delete_actor':
      return [change.actor, change.heir];
    case 'purge_node':
    case 'archive':
    case 'log':
    case 'request':
      return [change.node];
    case 'disable_user':
      return [change.user];
    case 'create_group':
    case 'disconnect':
      return [];
  }
}

function isKnown({ users, groups, actors, nodes }: World, name: Name): boolean {
  return [users, groups, actors, nodes].some((things) => things.has(name));
}
