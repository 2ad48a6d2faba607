/** What a rule of the routing policy says of the nodes that it is for. */
export interface RouteCondition {
  /** The lowest wins; among equals the one that was given first. */
  readonly priority: number;
  /** Null for any type. */
  readonly node_type: string | null;
  /** sync_key of an organization; null for any. */
  readonly org_slug: string | null;
}

/** A node as the routing policy looks at it. */
export interface RoutedNode {
  readonly type: string;
  /** sync_key of its organization, for an organization its own; null where it has none. */
  readonly organizationKey: string | null;
}

/** The rules in the order in which they are tried. */
export function inRoutingOrder<Rule extends RouteCondition>(rules: readonly Rule[]): Rule[] {
  return rules.toSorted((one, other) => one.priority - other.priority);
}

/** The rule that decides where the files of a node are kept; null where none is for it. */
export function routeOf<Rule extends RouteCondition>(rules: readonly Rule[], node: RoutedNode): Rule | null {
  return inRoutingOrder(rules).find((rule) => isFor(rule, node)) ?? null;
}

function isFor({ node_type, org_slug }: RouteCondition, { type, organizationKey }: RoutedNode): boolean {
  return (node_type === null || node_type === type) && (org_slug === null || org_slug === organizationKey);
}
