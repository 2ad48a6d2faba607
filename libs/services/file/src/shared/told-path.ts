import type { NodePlace } from '@workspace-graph/contracts';
import { nodeFolder } from '@workspace-graph/domain';

/** A node as a place for files on remotes. */
export interface ToldNode {
  /** As the caller may be told of it. */
  readonly place: NodePlace;
  /** Its folder on a remote, whoever sees the organization. */
  readonly folder: string;
}

/**
 * A path on a remote as the caller may be told of it: the key of an organization is for those who see it. What lies elsewhere,
 * as after a move, is told as `otherwise`, a path within the node.
 */
export function toldPath({ place, folder }: ToldNode, path: string, otherwise: string): string {
  const within = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : otherwise;
  return within === '' ? nodeFolder(place) : `${nodeFolder(place)}/${within}`;
}
