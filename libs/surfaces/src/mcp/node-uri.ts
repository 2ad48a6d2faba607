import { Id } from '@workspace-graph/contracts';

const PREFIX = 'svc://node/';

/** Template of the resource that is one node. */
export const NODE_URI_TEMPLATE = `${PREFIX}{node_id}`;

/** The node that a URI names, or null for any other URI. */
export function nodeIdOf(uri: string): string | null {
  if (!uri.startsWith(PREFIX)) return null;
  const id = Id.safeParse(uri.slice(PREFIX.length));
  return id.success ? id.data : null;
}
