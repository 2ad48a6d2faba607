import {
  type getSnapshot,
  type Health,
  type Lifecycle,
  type NodeStatus,
  type NodeType,
  type OutputOf,
  type Relation,
  STATUS_OF_LIFECYCLE,
} from '@workspace-graph/contracts';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  /** The name as search compares it: without case and diacritics. */
  readonly folded: string;
  readonly type: NodeType;
  readonly lifecycle: Lifecycle;
  readonly status: NodeStatus;
  readonly health: Health | null;
  /** Null on an organization, and where it is not seen. */
  readonly organizationId: string | null;
  /** Where somebody has put it on the drawing; null: nowhere yet. */
  readonly place: { readonly x: number; readonly y: number } | null;
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly relation: Relation;
}

export interface GraphContent {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly GraphEdge[];
}

/** Everything that the caller may see, as of `token`; the content stays the same one until something in it changes. */
export interface Graph extends GraphContent {
  readonly token: string;
}

type Answer = OutputOf<typeof getSnapshot>;
type Snapshot = Exclude<Answer, { unchanged: true }>;

const HEALTHS: readonly Health[] = ['on_track', 'at_risk', 'off_track'];

/** Without case and diacritics. */
export function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The graph after an answer; `former`: the one whose token was sent. */
export function graphAfter(answer: Answer, former: Graph | undefined): Graph {
  if ('unchanged' in answer) {
    if (!former) throw new Error('Nothing was asked for that could be unchanged.');
    return { ...former, token: answer.token };
  }
  const changed = nodesOf(answer);
  if (answer.full || !former) {
    const nodes = new Map(changed.map((node) => [node.id, node]));
    return { token: answer.token, nodes, edges: wholeEdges(answer, changed) };
  }
  // What is told to have changed and has not, such as a place that was put here, changes nothing that is shown.
  const news = changed.filter((node) => !isSame(node, former.nodes.get(node.id)));
  if (news.length + answer.removed.length + answer.edges_added.length + answer.edges_removed.length === 0)
    return { ...former, token: answer.token };
  const nodes = new Map(former.nodes);
  for (const id of answer.removed) nodes.delete(id);
  for (const node of news) nodes.set(node.id, node);
  return { token: answer.token, nodes, edges: changedEdges(answer, former.edges) };
}

function isSame(a: GraphNode, b: GraphNode | undefined): boolean {
  return b !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

function nodesOf({ nodes, types, lifecycles, organizations }: Snapshot): GraphNode[] {
  return nodes.id.map((id, row) => {
    const name = nodes.name[row] ?? '';
    const lifecycle = lifecycles[nodes.lifecycle[row] ?? 0] ?? 'active';
    const [x, y] = [nodes.x[row] ?? null, nodes.y[row] ?? null];
    return {
      id,
      name,
      folded: folded(name),
      type: types[nodes.type[row] ?? 0] ?? 'project',
      lifecycle,
      status: STATUS_OF_LIFECYCLE[lifecycle],
      health: HEALTHS[nodes.health[row] ?? -1] ?? null,
      organizationId: organizations[nodes.organization[row] ?? -1] ?? null,
      place: x === null || y === null ? null : { x, y },
    };
  });
}

function wholeEdges({ edges, relations }: Snapshot, nodes: readonly GraphNode[]): GraphEdge[] {
  const list: GraphEdge[] = [];
  for (let at = 0; at + 2 < edges.length; at += 3) {
    const [source, target, relation] = [
      nodes[edges[at] ?? -1],
      nodes[edges[at + 1] ?? -1],
      relations[edges[at + 2] ?? -1],
    ];
    if (source && target && relation) list.push({ source: source.id, target: target.id, relation });
  }
  return list;
}

function changedEdges({ edges_added, edges_removed, removed, relations }: Snapshot, former: readonly GraphEdge[]) {
  const named = (list: Snapshot['edges_added']): GraphEdge[] =>
    list.flatMap(([source, target, code]) => {
      const relation = relations[code];
      return relation ? [{ source, target, relation }] : [];
    });
  const added = named(edges_added);
  const gone = new Set([...named(edges_removed), ...added].map(edgeKey));
  const goneNodes = new Set(removed);
  const kept = former.filter(
    (edge) => !gone.has(edgeKey(edge)) && !goneNodes.has(edge.source) && !goneNodes.has(edge.target),
  );
  return [...kept, ...added];
}

/** Whether an edge begins or ends at a node. */
export function isEnd({ source, target }: GraphEdge, id: string): boolean {
  return source === id || target === id;
}

function edgeKey({ source, target, relation }: GraphEdge): string {
  return `${source} ${target} ${relation}`;
}

/** What each node belongs to first of all: of several, one that is no organization, for that says most. */
export function parentsOf({ nodes, edges }: GraphContent): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const { source, target, relation } of edges) {
    if (relation !== 'belongs_to') continue;
    const former = parents.get(source);
    if (former === undefined || nodes.get(former)?.type === 'organization') parents.set(source, target);
  }
  return parents;
}

/** Whether an edge only says that a node is of the organization that its parent is of. */
export function isImplied(
  { source, target, relation }: GraphEdge,
  nodes: GraphContent['nodes'],
  parents: ReadonlyMap<string, string>,
): boolean {
  const parent = nodes.get(parents.get(source) ?? '');
  return relation === 'belongs_to' && parent?.organizationId === target && parent.id !== target;
}

/** How many edges each node has. */
export function degreesOf(edges: readonly GraphEdge[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { source, target } of edges)
    for (const end of [source, target]) counts.set(end, (counts.get(end) ?? 0) + 1);
  return counts;
}
