import { useQuery } from '@tanstack/react-query';
import { type FileClass, fileStatus, getSyncStatus, LIMITS, STATUS_BUCKETS } from '@workspace-graph/contracts';
import { client } from '../../api/client';

/** Classes that are told beside a file; a clean one shows its date. */
const TOLD = [
  'push',
  'pull',
  'conflict',
  'remote_missing',
  'remote_error',
  'native',
  'deleted_local',
  'new_remote',
] as const satisfies readonly FileClass[];
export type ToldClass = (typeof TOLD)[number];
const BUCKET_CLASSES: Readonly<Partial<Record<(typeof STATUS_BUCKETS)[number], ToldClass>>> = {
  push_candidates: 'push',
  pull_candidates: 'pull',
  conflicts: 'conflict',
  remote_missing: 'remote_missing',
  remote_error: 'remote_error',
  native: 'native',
  deleted_local: 'deleted_local',
  new_remote: 'new_remote',
};

/** The states of files by their paths; a file that is not among them is clean. */
export type FileStates = ReadonlyMap<string, ToldClass>;
const NONE: FileStates = new Map();

/** Compared with what is known; nothing is looked for on the disk. */
export function useFileStates(nodeId: string, hasFolder: boolean): FileStates {
  const { data } = useQuery({
    enabled: hasFolder,
    queryKey: ['node', nodeId, 'file-states'],
    queryFn: async ({ signal }): Promise<FileStates> => {
      const input = { node_id: nodeId, include_discovery: false, classes: [...TOLD], limit: LIMITS.statusMax };
      const status = await client.call(fileStatus, input, { signal });
      return new Map(
        STATUS_BUCKETS.flatMap((bucket) => {
          const told = BUCKET_CLASSES[bucket];
          return told ? status[bucket].map(({ path }) => [path, told] as const) : [];
        }),
      );
    },
  });
  return data ?? NONE;
}

/** The state of the folder of a node: what watches it, and what it could not take in. */
export function useFolderState(nodeId: string, hasFolder: boolean) {
  return useQuery({
    enabled: hasFolder,
    queryKey: ['node', nodeId, 'folder-state'],
    staleTime: 0,
    queryFn: ({ signal }) => client.call(getSyncStatus, { node_id: nodeId }, { signal }),
  });
}
