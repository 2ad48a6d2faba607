import { NODE_TYPES, type NodeType, Relation, type Visibility } from '@workspace-graph/contracts';
import type { Random } from './random.js';
import type { Change, ChangeKind, Step } from './step.js';
import type { Name, Recipient, World } from './world.js';

/** How often each kind of change is chosen. */
const WEIGHTS: Readonly<Record<ChangeKind, number>> = {
  set_access: 26,
  connect: 18,
  disconnect: 11,
  change_members: 10,
  create_node: 7,
  move_node: 6,
  set_owner: 6,
  log: 5,
  tie_actor: 4,
  purge_node: 4,
  request: 4,
  archive: 2,
  delete_group: 1,
  create_group: 1.5,
  create_actor: 1,
  delete_actor: 1,
  disable_user: 1,
};

const NODES_MIN = 10;
const NODES_MAX = 32;
const VISIBILITIES: readonly (Visibility | null)[] = [
  null,
  null,
  null,
  'everyone',
  'private',
  'group',
  'group',
  'group',
];

/** A change that is likely to be possible; some are not, on purpose. */
export function planStep(random: Random, world: World): Step {
  const change = planChange(random, world);
  const anybody = change.do === 'log' || change.do === 'request';
  const by = random.pick(
    [...world.users].filter(([, caller]) => anybody || caller.scope === 'manage').map(([name]) => name),
  );
  return { by, ask: random.chance(0.5), change };
}

function planChange(random: Random, world: World): Change {
  if (world.nodes.size < NODES_MIN || organizations(world).length === 0) return createNode(random, world);
  const kind = random.weighted(WEIGHTS);
  const isFull = kind === 'create_node' && world.nodes.size >= NODES_MAX;
  return nodeChange(isFull ? 'purge_node' : kind, random, world);
}

function nodeChange(kind: ChangeKind, random: Random, world: World): Change {
  const node = random.pick([...world.nodes.keys()]);
  const member = random.maybe(members(world)) ?? node;
  switch (kind) {
    case 'create_node':
      return createNode(random, world);
    case 'set_access':
      return { do: kind, node, ...setting(random, world) };
    case 'connect':
      return connect(random, world);
    case 'disconnect': {
      const edge = random.maybe([...world.edges.keys()]);
      return edge === undefined ? connect(random, world) : { do: kind, edge };
    }
    case 'move_node':
      return { do: kind, node: member, org: random.pick(organizations(world)), withDescendants: random.chance(0.6) };
    case 'set_owner':
      return { do: kind, node, owner: someActor(random, world) };
    case 'purge_node':
      return { do: kind, node: random.chance(0.1) ? node : member };
    case 'archive':
      return { do: kind, node, restore: random.chance(0.5) };
    case 'log':
      return { do: kind, node, event: fresh(world, 'e') };
    case 'request':
      return {
        do: kind,
        node,
        access: random.pick(['read', 'write']),
        decision: random.weighted({ approve: 4, refuse: 1, withdraw: 1 }),
      };
    default:
      return peopleChange(kind, random, world);
  }
}

type PeopleKind =
  | 'change_members'
  | 'create_group'
  | 'delete_group'
  | 'create_actor'
  | 'tie_actor'
  | 'delete_actor'
  | 'disable_user';

function peopleChange(kind: PeopleKind, random: Random, world: World): Change {
  const [group, actor] = [random.maybe([...world.groups.keys()]), random.maybe([...world.actors.keys()])];
  const left = { delete_group: world.groups.size, delete_actor: world.actors.size };
  const enough = !(kind in left) || left[kind as keyof typeof left] > 2;
  if (kind === 'disable_user') {
    const user = random.pick([...world.users].filter(([, caller]) => caller.scope !== 'manage').map(([name]) => name));
    return { do: kind, user, disabled: random.chance(0.4) };
  }
  if (kind === 'tie_actor' || kind === 'delete_actor' || kind === 'create_actor') {
    if (kind === 'create_actor' || !enough || actor === undefined)
      return { do: 'create_actor', actor: fresh(world, 'a'), user: freeUser(random, world) };
    if (kind === 'tie_actor') return { do: kind, actor, user: freeUser(random, world) };
    return { do: kind, actor, heir: random.pick([...world.actors.keys()].filter((other) => other !== actor)) };
  }
  if (kind === 'create_group' || !enough || group === undefined)
    return { do: 'create_group', group: fresh(world, 'g') };
  return kind === 'delete_group' ? { do: kind, group } : changeMembers(random, world, group);
}

function changeMembers(random: Random, world: World, group: Name): Change {
  const touched = random.some([...world.users.keys()], 3);
  const inside = world.groups.get(group)?.members ?? new Set();
  return {
    do: 'change_members',
    group,
    add: touched.filter((user) => !inside.has(user)),
    remove: touched.filter((user) => inside.has(user)),
  };
}

function createNode(random: Random, world: World): Change {
  const type: NodeType =
    organizations(world).length === 0 || random.chance(0.06) ? 'organization' : random.pick(NODE_TYPES.slice(1));
  const isOrganization = type === 'organization';
  return {
    do: 'create_node',
    node: fresh(world, 'n'),
    type,
    org: isOrganization ? null : random.pick(organizations(world)),
    parents: isOrganization || random.chance(0.3) ? [] : random.some(members(world), 2),
    visibility: random.chance(0.8) ? null : random.pick(VISIBILITIES),
    owner: someActor(random, world),
  };
}

/** Mostly from younger to older nodes, so that graphs grow deep and cycles stay rare. */
function connect(random: Random, world: World): Change {
  const nodes = [...world.nodes.keys()];
  const [first, second] = [random.int(nodes.length), random.int(nodes.length)];
  const [younger, older] = [nodes[Math.max(first, second)], nodes[Math.min(first, second)]];
  const [source = '', target = ''] = random.chance(0.92) ? [younger, older] : [older, younger];
  return {
    do: 'connect',
    source,
    target,
    relation: random.chance(0.75) ? 'belongs_to' : random.pick(Relation.options),
  };
}

function setting(random: Random, world: World): { visibility: Visibility | null; recipients: readonly Recipient[] } {
  const visibility = random.pick(VISIBILITIES);
  if (visibility !== 'group' || random.chance(0.1)) return { visibility, recipients: [] };
  const groups = [...world.groups.keys()];
  const principals = new Set(random.some([...world.users.keys(), ...groups, ...groups], 4));
  return {
    visibility,
    recipients: [...principals].map((principal) => ({ principal, access: random.pick(['read', 'write'] as const) })),
  };
}

function organizations(world: World): Name[] {
  return [...world.nodes].filter(([, node]) => node.type === 'organization').map(([name]) => name);
}

function members(world: World): Name[] {
  return [...world.nodes].filter(([, node]) => node.type !== 'organization').map(([name]) => name);
}

function someActor(random: Random, world: World): Name | null {
  return random.chance(0.3) ? null : (random.maybe([...world.actors.keys()]) ?? null);
}

/** A user that no actor is tied to. */
function freeUser(random: Random, world: World): Name | null {
  const tied = new Set([...world.actors.values()].map((actor) => actor.user));
  return random.chance(0.2) ? null : (random.maybe([...world.users.keys()].filter((user) => !tied.has(user))) ?? null);
}

function fresh(world: World, kind: 'n' | 'g' | 'a' | 'e'): Name {
  world.names.next += 1;
  return `${kind}${world.names.next}`;
}
