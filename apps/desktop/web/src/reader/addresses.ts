import { SECTIONS } from '@workspace-graph/contracts';

/** A file of a node. */
export interface FilePlace {
  readonly nodeId: string;
  /** Within the node. */
  readonly path: string;
}

/** Options of the address of a file's content: the bundle itself, or a page to be shown in a frame. */
type As = 'raw' | 'preview';

/** Where the content of a file is. */
export function contentUrl({ nodeId, path }: FilePlace, as?: As): string {
  const query = new URLSearchParams({ path, ...(as ? { [as]: 'true' } : {}) });
  return `/nodes/${encodeURIComponent(nodeId)}/file?${query}`;
}

/** Where this page shows a file, from the view that is open. */
export function readerUrl({ nodeId, path }: FilePlace): string {
  return `?${new URLSearchParams({ node: nodeId, file: path })}`;
}

/** Where a link in a text leads. */
export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'heading'; readonly id: string }
  | { readonly kind: 'elsewhere'; readonly url: string };

const ROOT = 'https://node.invalid/';
const FOLLOWED = new Set(['http:', 'https:', 'mailto:']);

/** Reads a link of a text as one of the file in which it stands; null for what is not to be followed. */
export function targetOf(href: string, from: string): Target | null {
  if (href.startsWith('#')) return { kind: 'heading', id: decoded(href.slice(1)) ?? '' };
  const url = URL.parse(href, ROOT + from.split('/').map(encodeURIComponent).join('/'));
  if (!url || !FOLLOWED.has(url.protocol)) return null;
  if (!url.href.startsWith(ROOT)) return { kind: 'elsewhere', url: url.href };
  const path = decoded(url.pathname.slice(1));
  return path !== null && isFileOfNode(path) ? { kind: 'file', path } : null;
}

/** Whether a path is of what nodes keep, rather than of a folder beside it. */
export function isFileOfNode(path: string): boolean {
  return SECTIONS.some((section) => path.startsWith(`${section}/`)) && !path.split('/').includes('..');
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
