import { LIMITS, listFiles, type OutputOf } from '@workspace-graph/contracts';
import { client } from '../../api/client';
import { usePages } from '../../api/pages';

export type TrackedFile = OutputOf<typeof listFiles>['items'][number];

/** The files of a node, as many at once as can be: their folders are made of them. */
export function useFiles(nodeId: string) {
  return usePages({
    queryKey: ['node', nodeId, 'files'],
    load: (place, options) => client.call(listFiles, { node_id: nodeId, limit: LIMITS.filesMax, ...place }, options),
  });
}
