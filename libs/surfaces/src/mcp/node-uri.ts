import { ReferenceText } from '@workspace-graph/contracts';

const PREFIX = 'svc://node/';

/** Template of the resource that is one node. */
export const NODE_URI_TEMPLATE = `${PREFIX}{node_id}`;

/** What a URI names a node by, its id or percent-encoded its path or name; null for any other URI. */
export function nodeNamedBy(uri: string): string | null {
  if (!uri.startsWith(PREFIX)) return null;
  const text = ReferenceText.safeParse(decoded(uri.slice(PREFIX.length)));
  return text.success ? text.data : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
