import { type BusEventPayload, LIMITS } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';

type Payload = BusEventPayload<'graph.changed'>;
/** With 36 characters for each end, and the nodes of the event, well below the largest message. */
const EDGES_PER_EVENT = 2_000;

/** What has changed beside nodes themselves. */
export interface ChangedAround {
  /** Edges that have come or gone, by their ends: told to those alone who see both. */
  readonly edges?: readonly (readonly [string, string])[];
  /** A node of these that is there no more, and who saw it. */
  readonly gone?: Payload['gone'];
}

/**
 * Tells after the commit that something drawn or listed of these nodes has changed. Each event names what it is about,
 * however much it is, for nobody can be told of nodes that are not named.
 */
export function emitGraphChanged(
  tx: Transaction,
  nodeIds: readonly string[],
  action: string,
  { edges = [], gone }: ChangedAround = {},
): void {
  const own = inParts([...new Set(nodeIds)], LIMITS.nodesPerEvent);
  const joined = inParts(edges, EDGES_PER_EVENT);
  for (let place = 0; place < Math.max(own.length, joined.length); place += 1) {
    const payload = payloadOf(own[place] ?? [], joined[place] ?? [], action);
    if (gone) for (const part of goneInParts(gone)) tx.emit('graph.changed', { ...payload, gone: part });
    else tx.emit('graph.changed', payload);
  }
}

function payloadOf(own: readonly string[], edges: readonly (readonly [string, string])[], action: string): Payload {
  if (edges.length === 0) return { node_ids: [...own], action };
  const node_ids = [...new Set([...own, ...edges.flat()])];
  return { node_ids, action, own: own.length, edges: edges.map(([a, b]) => [a, b]) };
}

function goneInParts(gone: NonNullable<Payload['gone']>): NonNullable<Payload['gone']>[] {
  const { node_id, seen_by } = gone;
  if (seen_by === null || seen_by.length === 0) return [gone];
  return inParts(seen_by, LIMITS.nodesPerEvent).map((part) => ({ node_id, seen_by: [...part] }));
}

function inParts<T>(items: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_part, place) =>
    items.slice(place * size, (place + 1) * size),
  );
}
