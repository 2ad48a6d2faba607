import type { NodeStatus, NodeType, Relation } from '@workspace-graph/contracts';
import { folded, type GraphContent, type GraphEdge, type GraphNode } from './graph';

export const TYPES = ['organization', 'area', 'process', 'project', 'principle'] as const satisfies readonly NodeType[];
export const STATUSES = ['active', 'completed', 'archived'] as const satisfies readonly NodeStatus[];
export const RELATIONS = ['belongs_to', 'related_to', 'applies', 'informed_by'] as const satisfies readonly Relation[];

/** What is left out, of each group: what is new is shown. Organizations by their ids. */
export interface Filters {
  readonly type: readonly string[];
  readonly status: readonly string[];
  readonly relation: readonly string[];
  readonly organization: readonly string[];
}
export type FilterGroup = keyof Filters;
const FILTER_GROUPS = ['type', 'status', 'relation', 'organization'] as const satisfies readonly FilterGroup[];

export const NO_FILTERS: Filters = { type: [], status: [], relation: [], organization: [] };
export const DEFAULT_FILTERS: Filters = { ...NO_FILTERS, status: ['archived'] };

/** Whether nothing was chosen, in whatever order it was taken back. */
export function isDefault(filters: Filters): boolean {
  const sameIn = (group: FilterGroup) => {
    const [chosen, left] = [new Set(filters[group]), DEFAULT_FILTERS[group]];
    return chosen.size === left.length && left.every((value) => chosen.has(value));
  };
  return FILTER_GROUPS.every(sameIn);
}

/** The part of a graph that the filters leave. */
export interface Shown {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export function shownOf(graph: GraphContent, filters: Filters): Shown {
  const left = new Map<string, GraphNode>();
  for (const node of graph.nodes.values()) if (isShown(node, filters)) left.set(node.id, node);
  const edges = graph.edges.filter(
    ({ source, target, relation }) => !filters.relation.includes(relation) && left.has(source) && left.has(target),
  );
  return { nodes: [...left.values()], edges };
}

function isShown({ id, type, status, organizationId }: GraphNode, filters: Filters): boolean {
  const organization = type === 'organization' ? id : organizationId;
  return !(
    filters.type.includes(type) ||
    filters.status.includes(status) ||
    (organization !== null && filters.organization.includes(organization))
  );
}

/** How many of the whole graph each value stands for, by `group value`. */
export function countsOf({ nodes, edges }: GraphContent): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { type, status, organizationId } of nodes.values()) {
    count(`type ${type}`);
    count(`status ${status}`);
    if (organizationId !== null) count(`organization ${organizationId}`);
  }
  for (const { relation } of edges) count(`relation ${relation}`);
  return counts;
}

/** Nodes whose name contains what is looked for, those that begin with it first; at most `limit`. */
export function found(nodes: Iterable<GraphNode>, text: string, limit: number): GraphNode[] {
  const query = folded(text.trim());
  if (query === '') return [];
  const [first, then]: [GraphNode[], GraphNode[]] = [[], []];
  for (const node of nodes) {
    const at = node.folded.indexOf(query);
    if (at === 0) first.push(node);
    else if (at > 0) then.push(node);
  }
  return [...first, ...then].slice(0, limit);
}
