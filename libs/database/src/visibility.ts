import type { Caller } from '@workspace-graph/contracts';

/**
 * The one condition of what a caller may see, for statements whose first two parameters are `seenBy(caller)`: `VISIBLE`
 * where a statement looks at nodes once, `seen` where it does so in several places.
 */

/** The first two parameters of every statement: the caller's user, and whether the caller sees everything. */
export function seenBy(caller: Caller): [userId: string, seesAll: boolean] {
  return [caller.user_id, caller.scope === 'manage'];
}

/** The nodes that the caller may see; joins and EXISTS go through it and never through graph.node. */
export const VISIBLE = 'graph.visible_node($1::uuid, $2::boolean)';

/** What the caller may do on a node: 0 nothing, 1 read, 2 write. */
export const levelOf = (n: string): string => `graph.access_level(${n}.access_set_id, $1::uuid, $2::boolean)`;

/**
 * For statements that look at nodes in several places: `WITH ${SEEN_SETS}` works out once which access sets the caller
 * passes, and not at all where every node is open; `seen(alias)` is then the rule of graph.visible_node for that node.
 */
export const SEEN_SETS = 'seen_sets AS MATERIALIZED (SELECT v.access_set_id FROM graph.user_access_set($1::uuid) v)';
export const seen = (n: string): string => passes(n, 'SELECT s.access_set_id FROM seen_sets s');

/** The rule for a node that the caller may write on, for many nodes at once: `levelOf` works each out by itself. */
export const writable = (n: string): string =>
  passes(n, 'SELECT v.access_set_id FROM graph.user_access_set($1::uuid) v WHERE v.access = 2');

const passes = (n: string, sets: string): string =>
  `(${n}.access_set_id IS NULL OR (SELECT $2::boolean) OR ${n}.access_set_id IN (${sets}))`;
