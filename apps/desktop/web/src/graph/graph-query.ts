import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getSnapshot } from '@workspace-graph/contracts';
import { client, queries } from '../api/client';
import { type Graph, graphAfter } from './graph';

export const GRAPH_KEY = ['graph'];

/** The whole visible graph; after the first time only what changed is asked for. */
export function useGraph() {
  return useQuery({
    queryKey: GRAPH_KEY,
    structuralSharing: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const former = queries.getQueryData<Graph>(GRAPH_KEY);
      const answer = await client.call(getSnapshot, former ? { since: former.token } : {}, { signal });
      return graphAfter(answer, former);
    },
  });
}

/** Notes where nodes are drawn now, before the workspace tells it. */
export function keepPlaces(places: ReadonlyMap<string, { readonly x: number; readonly y: number }>): void {
  queries.setQueryData<Graph>(GRAPH_KEY, (graph) => {
    if (!graph) return graph;
    const nodes = new Map(graph.nodes);
    for (const [id, place] of places) {
      const node = nodes.get(id);
      if (node) nodes.set(id, { ...node, place });
    }
    return { ...graph, nodes };
  });
}
