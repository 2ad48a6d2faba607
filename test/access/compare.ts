import {
  type Caller,
  explainAccess,
  findPlaces,
  findRemovedFiles,
  getAccess,
  getContext,
  getEvent,
  getNode,
  getOverview,
  getSnapshot,
  type InputOf,
  listEdges,
  listEvents,
  listNodeRecords,
  listNodes,
  NodeStatus,
  type Operation,
  type OutputOf,
  type Relation,
  search,
  suggestNodes,
} from '@workspace-graph/contracts';
import { drawingOf } from './drawing.js';
import type { Random } from './random.js';
import { accepted, refused, type Session } from './session.js';
import { allEdges, callerOf, levelOf, type Name, nodeOf, sees, visibleNodes } from './world.js';

/** An id that never was. */
const ABSENT = '01890000-0000-7000-8000-00000000dead';
const ALL = NodeStatus.options;

/** What one user should see, and the calls that show what they do see. */
class View {
  readonly caller: Caller;
  readonly visible: readonly Name[];

  constructor(
    readonly session: Session,
    readonly user: Name,
  ) {
    this.caller = callerOf(session.world, user);
    this.visible = visibleNodes(session.world, session.table, user);
  }

  read<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
    return accepted(this.session.call, operation, input, this.caller);
  }

  idOf(name: Name): string {
    return nodeOf(this.session.world, name).id;
  }

  idsOf(names: Iterable<Name>): string[] {
    return [...names].map((name) => this.idOf(name)).sort();
  }

  sees(name: Name): boolean {
    return sees(this.session.world, this.session.table, this.user, name);
  }

  /** Edges with both ends visible. */
  edges(): { source: Name; target: Name; relation: Relation }[] {
    return allEdges(this.session.world).filter((edge) => this.sees(edge.source) && this.sees(edge.target));
  }

  events(node?: Name): string[] {
    return [...this.session.world.events.values()]
      .filter((event) => this.sees(event.node) && (node ?? event.node) === event.node)
      .map((event) => event.id)
      .sort();
  }

  /** Fails unless naming the node is answered as naming one that never was. */
  async looksAbsent<Op extends Operation>(
    operation: Op,
    id: string,
    input: (id: string) => InputOf<Op>,
  ): Promise<void> {
    const real = await refused(this.session.call, operation, input(id), this.caller);
    const absent = await refused(this.session.call, operation, input(ABSENT), this.caller);
    expect(JSON.stringify(real).replaceAll(id, ABSENT)).toBe(JSON.stringify(absent));
  }
}

type Comparison = (view: View, random: Random) => Promise<void>;

/** Every list, count, search, edge and error, each against the rules. */
const COMPARISONS: readonly Comparison[] = [
  compareList,
  compareList,
  compareFilteredList,
  comparePagedList,
  compareNode,
  compareNode,
  compareNode,
  compareEdges,
  compareEvents,
  compareSearch,
  compareSuggestions,
  compareSnapshot,
  compareContext,
  compareOverview,
  compareExplanation,
  compareSharing,
  comparePlaces,
];

/** The list of what a user sees, and `more` other comparisons chosen by chance. */
export async function compareSome(session: Session, user: Name, random: Random, more: number): Promise<void> {
  if (session.world.nodes.size === 0) return;
  const view = new View(session, user);
  await compareList(view);
  for (let index = 0; index < more; index += 1) await random.pick(COMPARISONS)(view, random);
}

/** Everything, for every user. */
export async function compareAll(session: Session, random: Random): Promise<void> {
  if (session.world.nodes.size === 0) return;
  for (const user of session.world.users.keys()) {
    const view = new View(session, user);
    for (const comparison of new Set(COMPARISONS)) await comparison(view, random);
    for (const node of session.world.nodes.keys()) await compareOneNode(view, node);
  }
}

async function compareList(view: View): Promise<void> {
  const { items } = await view.read(listNodes, { scope: 'global', status: ALL, limit: 500 });
  expect(items.map((item) => item.id).sort()).toEqual(view.idsOf(view.visible));
  expect(items.map((item) => item.organization?.id ?? null)).toEqual(
    items.map((item) => {
      const organization = nodeByText(view, item.name).org;
      return organization !== null && view.sees(organization) ? view.idOf(organization) : null;
    }),
  );
}

function nodeByText({ session: { world } }: View, text: string) {
  return nodeOf(world, text.split(' ')[1] ?? '');
}

async function comparePagedList(view: View, random: Random): Promise<void> {
  const ids: string[] = [];
  const order = random.pick(['name', 'created', 'updated'] as const);
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: OutputOf<typeof listNodes> = await view.read(listNodes, {
      scope: 'global',
      status: ALL,
      order,
      limit: 7,
      ...(cursor ? { cursor } : {}),
    });
    // Nothing is filtered after paging: a page that is not the last one is full.
    if (page.next_cursor !== null) expect(page.items).toHaveLength(7);
    ids.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor;
  }
  expect(ids.sort()).toEqual(view.idsOf(view.visible));
}

async function compareFilteredList(view: View, random: Random): Promise<void> {
  const { world } = view.session;
  const parent = random.pick([...world.nodes.keys()]);
  const filter = random.chance(0.5) ? 'organization_id' : 'parent_id';
  const input = (id: string): InputOf<typeof listNodes> => ({ scope: 'global', status: ALL, limit: 500, [filter]: id });
  if (!view.sees(parent)) return view.looksAbsent(listNodes, view.idOf(parent), input);
  const children = allEdges(world)
    .filter((edge) => edge.relation === 'belongs_to' && edge.target === parent)
    .map((edge) => edge.source);
  const expected = filter === 'parent_id' ? children : children.filter((child) => nodeOf(world, child).org === parent);
  const { items } = await view.read(listNodes, input(view.idOf(parent)));
  expect(items.map((item) => item.id).sort()).toEqual(view.idsOf(expected.filter((child) => view.sees(child))));
}

async function compareNode(view: View, random: Random): Promise<void> {
  await compareOneNode(view, random.pick([...view.session.world.nodes.keys()]));
}

async function compareOneNode(view: View, name: Name): Promise<void> {
  const { world, table } = view.session;
  if (!view.sees(name)) return view.looksAbsent(getNode, view.idOf(name), (node_id) => ({ node_id }));
  const node = await view.read(getNode, { node_id: view.idOf(name) });
  const gates = table.gates.get(name) ?? [];
  const modes = gates.map((gate) => nodeOf(world, gate).visibility);
  expect({ ...node.access, from: node.access.from.map((gate) => gate.id).sort() }).toEqual({
    mode: (['private', 'group'] as const).find((mode) => modes.includes(mode)) ?? 'everyone',
    inherited: nodeOf(world, name).visibility === null,
    from: view.idsOf(gates),
    level: levelOf(world, table, view.user, name),
  });
  expect(node.edges.items.map((edge) => `${edge.direction} ${edge.relation} ${edge.node.id}`).sort()).toEqual(
    edgesAt(view, name),
  );
  expect(node.recent_events.map((event) => event.id).sort()).toEqual(view.events(name).slice(-20));
}

/** Edges of a node as its answers tell them. */
function edgesAt(view: View, name: Name): string[] {
  return view
    .edges()
    .flatMap(({ source, target, relation }) => [
      ...(source === name ? [`outgoing ${relation} ${view.idOf(target)}`] : []),
      ...(target === name ? [`incoming ${relation} ${view.idOf(source)}`] : []),
    ])
    .sort();
}

async function compareEdges(view: View, random: Random): Promise<void> {
  const name = random.pick([...view.session.world.nodes.keys()]);
  if (!view.sees(name)) return view.looksAbsent(listEdges, view.idOf(name), (node_id) => ({ node_id }));
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: OutputOf<typeof listEdges> = await view.read(listEdges, {
      node_id: view.idOf(name),
      limit: 4,
      ...(cursor ? { cursor } : {}),
    });
    if (page.next_cursor !== null) expect(page.items).toHaveLength(4);
    found.push(...page.items.map((edge) => `${edge.direction} ${edge.relation} ${edge.node.id}`));
    cursor = page.next_cursor;
  }
  expect(found.sort()).toEqual(edgesAt(view, name));
}

async function compareEvents(view: View, random: Random): Promise<void> {
  const { world } = view.session;
  const { items } = await view.read(listEvents, { limit: 500 });
  expect(items.map((event) => event.id).sort()).toEqual(view.events());
  const event = random.maybe([...world.events.values()]);
  if (event && !view.sees(event.node)) await view.looksAbsent(getEvent, event.id, (event_id) => ({ event_id }));
  const name = random.pick([...world.nodes.keys()]);
  if (!view.sees(name)) return view.looksAbsent(listEvents, view.idOf(name), (node_id) => ({ node_id }));
  const own = await view.read(listEvents, { node_id: view.idOf(name), limit: 500 });
  expect(own.items.map((each) => each.id).sort()).toEqual(view.events(name));
}

async function compareSearch(view: View, random: Random): Promise<void> {
  const { items } = await view.read(search, { query: 'zebra', limit: 500 });
  const hits = (kind: 'node' | 'event'): string[] =>
    items
      .filter((hit) => hit.kind === kind)
      .map((hit) => hit.item_id ?? hit.node?.id ?? '')
      .sort();
  expect(hits('node')).toEqual(view.idsOf(view.visible));
  expect(hits('event')).toEqual(view.events());
  const organization = random.maybe(
    [...view.session.world.nodes].filter(([, node]) => node.type === 'organization'),
  )?.[0];
  if (organization === undefined) return;
  const inside = await view.read(search, {
    query: 'zebra',
    limit: 500,
    include: ['node'],
    organization_id: view.idOf(organization),
  });
  const expected = view.visible.filter(
    (name) => view.sees(organization) && nodeOf(view.session.world, name).org === organization,
  );
  expect(inside.items.map((hit) => hit.node?.id ?? '').sort()).toEqual(view.idsOf(expected));
}

async function compareSuggestions(view: View): Promise<void> {
  const { items, total } = await view.read(suggestNodes, { text: 'zebra', limit: 100 });
  expect(items.map((item) => item.id).sort()).toEqual(view.idsOf(view.visible));
  expect(total).toBe(view.visible.length);
}

/** The graph as this user's client has it drawn: brought up to date by what changed, or by the whole. */
async function compareSnapshot(view: View, random: Random): Promise<void> {
  const drawing = drawingOf(view.session, view.user);
  const since = drawing.token !== null && random.chance(0.8) ? { since: drawing.token } : {};
  drawing.apply(await view.read(getSnapshot, since));
  expect([...drawing.nodes].sort()).toEqual(view.idsOf(view.visible));
  const edges = view
    .edges()
    .map(({ source, target, relation }) => `${view.idOf(source)} ${relation} ${view.idOf(target)}`);
  expect([...drawing.edges].sort()).toEqual(edges.sort());
}

async function compareContext(view: View, random: Random): Promise<void> {
  const name = random.pick([...view.session.world.nodes.keys()]);
  const depth = random.int(4);
  const input = (node_id: string): InputOf<typeof getContext> => ({
    node_id,
    depth,
    include_archived: true,
    max_tokens: 100_000,
  });
  if (!view.sees(name)) return view.looksAbsent(getContext, view.idOf(name), input);
  const context = await view.read(getContext, input(view.idOf(name)));
  const expected = within(view, name, depth);
  expect(context.nodes.map((node) => `${node.id} ${node.depth}`).sort()).toEqual(
    [...expected].map(([node, steps]) => `${view.idOf(node)} ${steps}`).sort(),
  );
  expect(context).toMatchObject({ complete: true, left_out: { details: 0, nodes: 0 } });
}

/** Visible nodes within some steps over visible edges, with their distance, the start aside. */
function within(view: View, start: Name, depth: number): Map<Name, number> {
  const edges = view.edges();
  const found = new Map([[start, 0]]);
  for (const [at, steps] of found) {
    if (steps === depth) continue;
    for (const { source, target } of edges) {
      const ends = [source, target];
      for (const next of ends) if (ends.includes(at) && !found.has(next)) found.set(next, steps + 1);
    }
  }
  found.delete(start);
  return found;
}

async function compareOverview(view: View): Promise<void> {
  const overview = await view.read(getOverview, {});
  const created = (ids: readonly string[]): string[] => [...ids].sort().reverse();
  expect(created(overview.new_nodes.map((node) => node.id))).toEqual(created(view.idsOf(view.visible)).slice(0, 20));
  expect(created(overview.recent_activity.map(({ event }) => event?.id ?? ''))).toEqual(
    created(view.events()).slice(0, 30),
  );
  if (view.caller.scope !== 'manage') expect(overview.attention.access_requests).toEqual([]);
}

async function compareExplanation(view: View, random: Random): Promise<void> {
  const { world, table } = view.session;
  const name = random.pick([...world.nodes.keys()]);
  const input = (node_id: string): InputOf<typeof explainAccess> => ({ node_id });
  if (!view.sees(name)) return view.looksAbsent(explainAccess, view.idOf(name), input);
  const { level, open, reasons } = await view.read(explainAccess, input(view.idOf(name)));
  const gates = table.gates.get(name) ?? [];
  expect({ level, open }).toEqual({ level: table.levels.get(view.user)?.get(name), open: gates.length === 0 });
  expect(reasons.map((reason) => `${reason.node.id} ${reason.level}`).sort()).toEqual(
    gates.map((gate) => `${view.idOf(gate)} ${table.levels.get(view.user)?.get(gate)}`).sort(),
  );
}

async function compareSharing(view: View, random: Random): Promise<void> {
  const name = random.pick([...view.session.world.nodes.keys()]);
  if (!view.sees(name)) return view.looksAbsent(getAccess, view.idOf(name), (node_id) => ({ node_id }));
  const { own, effective } = await view.read(getAccess, { node_id: view.idOf(name) });
  expect(own?.visibility ?? null).toBe(nodeOf(view.session.world, name).visibility);
  expect(effective.map((gate) => gate.node.id).sort()).toEqual(view.idsOf(view.session.table.gates.get(name) ?? []));
}

/** What a device is told of nodes as places for files. */
async function comparePlaces(view: View): Promise<void> {
  if (view.caller.device_id === undefined) return;
  const { world, table } = view.session;
  const node_ids = [...view.idsOf(world.nodes.keys()), ABSENT];
  const { places } = await view.read(findPlaces, { node_ids });
  const told = places.map(({ node_id, level, organization_sync_key: key }) => [node_id, level, key !== null]);
  const expected = view.visible.map((name) => {
    const { id, org } = nodeOf(world, name);
    return [id, levelOf(world, table, view.user, name), org !== null && view.sees(org)];
  });
  expect(told.toSorted()).toEqual(expected.toSorted());
  for (const [name, { id }] of world.nodes)
    if (!view.sees(name)) {
      await view.looksAbsent(listNodeRecords, id, (node_id) => ({ node_id }));
      await view.looksAbsent(findRemovedFiles, id, (node_id) => ({ node_id, ids: [ABSENT] }));
    }
}
