import type { AccessLevel, Caller, NodeType, Relation, Visibility } from '@workspace-graph/contracts';
import {
  type AccessModel,
  type AccessNode,
  type EffectiveAccess,
  effectiveAccess,
  gatesOf,
} from '@workspace-graph/domain';

/** Everything goes by short names here (`n3`, `u1`, `g0`, `a2`, `e5`), so that a log of steps can be replayed. */
export type Name = string;

export interface Recipient {
  /** A user `u…` or a group `g…`. */
  readonly principal: Name;
  readonly access: AccessLevel;
}

export interface WorldNode {
  id: string;
  readonly type: NodeType;
  org: Name | null;
  visibility: Visibility | null;
  recipients: readonly Recipient[];
  owner: Name | null;
  /** Nobody for what a purge of the creator's tie would need; nodes always have one here. */
  readonly creator: Name;
  archived: boolean;
}

export interface WorldEdge {
  id: string;
  readonly source: Name;
  readonly target: Name;
  readonly relation: Relation;
}

/** What the product should know, as the test believes it to be. */
export interface World {
  readonly users: Map<Name, Caller>;
  readonly disabled: Set<Name>;
  readonly groups: Map<Name, { readonly id: string; readonly members: Set<Name> }>;
  readonly actors: Map<Name, { readonly id: string; user: Name | null }>;
  readonly nodes: Map<Name, WorldNode>;
  /** By `source relation target`; memberships in organizations are told by `org` and have no entry. */
  readonly edges: Map<string, WorldEdge>;
  /** Active events. */
  readonly events: Map<Name, { readonly id: string; readonly node: Name }>;
  readonly names: { next: number };
}

export function emptyWorld(): World {
  return {
    users: new Map(),
    disabled: new Set(),
    groups: new Map(),
    actors: new Map(),
    nodes: new Map(),
    edges: new Map(),
    events: new Map(),
    names: { next: 0 },
  };
}

export function edgeKey({ source, relation, target }: Pick<WorldEdge, 'source' | 'relation' | 'target'>): string {
  return `${source} ${relation} ${target}`;
}

/** The text by which lists, search and suggestions find a node. */
export const nodeText = (name: Name): string => `zebra ${name}`;

/** Who may do what with every node at one moment, credentials with manage aside. */
export interface AccessTable {
  readonly gates: ReadonlyMap<Name, readonly Name[]>;
  /** By user, then node. */
  readonly levels: ReadonlyMap<Name, ReadonlyMap<Name, EffectiveAccess>>;
}

/** Judges the world by the plain rules of the domain. */
export function accessTable(world: World): AccessTable {
  const model = modelOf(world);
  const byId = new Map(model.nodes.map((node) => [node.id, node]));
  return {
    gates: new Map(
      [...byId].map(([name, node]) => [
        name,
        gatesOf(model, node)
          .map((gate) => gate.id)
          .sort(),
      ]),
    ),
    levels: new Map(
      [...world.users.keys()].map((user) => [user, effectiveAccess(model, { userId: user, scope: 'write' })]),
    ),
  };
}

function modelOf(world: World): AccessModel {
  const nodes = [...world.nodes].map(
    ([id, node]): AccessNode => ({
      id,
      type: node.type,
      organizationId: node.org,
      visibility: node.visibility,
      recipients: node.recipients.map(({ principal, access }) => ({ principalId: principal, access })),
      ownerUserId: node.owner === null ? null : (world.actors.get(node.owner)?.user ?? null),
      createdBy: node.creator,
    }),
  );
  return {
    nodes,
    parents: [...world.edges.values()]
      .filter((edge) => edge.relation === 'belongs_to')
      .map(({ source, target }) => ({ childId: source, parentId: target })),
    memberships: [...world.groups].flatMap(([groupId, group]) =>
      [...group.members].map((userId) => ({ userId, groupId })),
    ),
  };
}

/** What a user's credential may do with a node. */
export function levelOf(world: World, table: AccessTable, user: Name, node: Name): EffectiveAccess {
  if (callerOf(world, user).scope === 'manage') return 'write';
  return table.levels.get(user)?.get(node) ?? 'none';
}

export function sees(world: World, table: AccessTable, user: Name, node: Name): boolean {
  return levelOf(world, table, user, node) !== 'none';
}

/** Names of the nodes that a user's credential sees. */
export function visibleNodes(world: World, table: AccessTable, user: Name): Name[] {
  return [...world.nodes.keys()].filter((node) => sees(world, table, user, node));
}

export function callerOf(world: World, user: Name): Caller {
  const caller = world.users.get(user);
  if (!caller) throw new Error(`No user ${user}`);
  return caller;
}

export function nodeOf(world: World, name: Name): WorldNode {
  const node = world.nodes.get(name);
  if (!node) throw new Error(`No node ${name}`);
  return node;
}

/** Parents, organizations aside. */
export function parentsOf(world: World, name: Name): Name[] {
  return [...world.edges.values()]
    .filter((edge) => edge.relation === 'belongs_to' && edge.source === name)
    .map((edge) => edge.target);
}

/** The node and everything that belongs to it, over any number of edges. */
export function withDescendants(world: World, name: Name): Set<Name> {
  const found = new Set([name]);
  for (const at of found) {
    for (const edge of world.edges.values())
      if (edge.relation === 'belongs_to' && edge.target === at) found.add(edge.source);
    for (const [child, node] of world.nodes) if (node.org === at) found.add(child);
  }
  return found;
}

/** Every edge with both ends, memberships in organizations included. */
export function allEdges(world: World): { source: Name; target: Name; relation: Relation }[] {
  const memberships = [...world.nodes].flatMap(([source, node]) =>
    node.org === null ? [] : [{ source, target: node.org, relation: 'belongs_to' as const }],
  );
  return [...world.edges.values(), ...memberships].map(({ source, target, relation }) => ({
    source,
    target,
    relation,
  }));
}
