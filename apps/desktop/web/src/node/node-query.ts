import { type FetchQueryOptions, useQuery } from '@tanstack/react-query';
import { getAccess, getNode, type Node, type NodeAccess } from '@workspace-graph/contracts';
import { useRef } from 'react';
import { client, queries } from '../api/client';
import { type Me, meQuery } from '../api/person';

export type Duty = Node['responsibilities'][number];

/** Who looks at the page; there whenever a view is. */
export function useMe(): Me {
  const { data } = useQuery(meQuery);
  if (!data) throw new Error('No view is shown before it is known who looks.');
  return data;
}

/** What somebody may do with a node: read it, write to its timeline and files, or change the node itself. */
export interface Rights {
  readonly mayWrite: boolean;
  readonly mayManage: boolean;
}

export function rightsOn(node: Node, { scope }: Me): Rights {
  const mayWrite = scope === 'manage' || (scope === 'write' && node.access.level === 'write');
  return { mayWrite, mayManage: scope === 'manage' };
}

const nodeQuery = (nodeId: string) => ({
  queryKey: ['node', nodeId, 'record'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => client.call(getNode, { node_id: nodeId }, { signal }),
});
const accessQuery = (nodeId: string) => ({
  queryKey: ['node', nodeId, 'access'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => client.call(getAccess, { node_id: nodeId }, { signal }),
});

/** A node. Why it cannot be shown stands until another answer has come: what is typed beside it must not go when it is asked again. */
export function useNode(nodeId: string) {
  const { data, error, isFetching, refetch } = useQuery(nodeQuery(nodeId));
  const last = useRef<{ readonly nodeId: string; readonly error: Error | null }>({ nodeId, error });
  if (!isFetching || last.current.nodeId !== nodeId) last.current = { nodeId, error };
  return { data, error: data ? error : last.current.error, refetch };
}

export function useAccess(nodeId: string) {
  return useQuery(accessQuery(nodeId));
}

/** A node as it is at this moment. @throws Refusal, Unreachable */
export function readNode(nodeId: string): Promise<Node> {
  return readNow(nodeQuery(nodeId));
}

/** The sharing of a node as it is at this moment. @throws Refusal, Unreachable */
export function readAccess(nodeId: string): Promise<NodeAccess> {
  return readNow(accessQuery(nodeId));
}

/** Asked now: an answer that is on its way already may be older than the last change. */
async function readNow<T>(query: FetchQueryOptions<T, Error, T, string[]>): Promise<T> {
  await queries.cancelQueries({ queryKey: query.queryKey });
  return queries.fetchQuery({ ...query, staleTime: 0 });
}
