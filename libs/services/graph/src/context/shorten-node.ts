import type { CONTEXT_PARTS, Node } from '@workspace-graph/contracts';

export type ContextPart = (typeof CONTEXT_PARTS)[number];

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const ELLIPSIS = '…';

/**
 * The node with some bytes less as JSON, and the parts that are shortened for it: what can be read elsewhere in the
 * answer first, its own words last. What is no list and no long text always stays, even where that leaves it larger.
 */
export function shortenNode(
  node: Node,
  excessBytes: number,
): { readonly node: Node; readonly shortened: readonly ContextPart[] } {
  let excess = excessBytes;
  const shortened: ContextPart[] = [];
  const short: Node = { ...node };
  const spare = (part: ContextPart, bytes: number): void => {
    if (bytes === 0) return;
    shortened.push(part);
    excess -= bytes;
  };
  const shorten = <T>(part: ContextPart, items: readonly T[]): T[] => {
    const kept = keepFirst(items, excess);
    spare(part, kept.bytes);
    return kept.items;
  };
  const shortenPage = (part: 'edges' | 'files'): void => {
    const items = shorten<unknown>(part, node[part].items);
    if (items.length === node[part].items.length) return;
    Object.assign(short, { [part]: { items, complete: false } });
    // `false` is longer than `true`.
    if (node[part].complete) excess += 1;
  };
  if (excess > 0) shortenPage('edges');
  if (excess > 0) Object.assign(short, { recent_events: shorten('recent_events', node.recent_events) });
  if (excess > 0) shortenPage('files');
  for (const part of ['data_sources', 'tools', 'responsibilities'] as const) {
    if (excess > 0) Object.assign(short, { [part]: shorten<unknown>(part, node[part]) });
  }
  for (const part of ['description', 'goal'] as const) {
    if (excess <= 0) continue;
    short[part] = cutText(node[part], excess);
    spare(part, bytesOf(node[part]) - bytesOf(short[part]));
  }
  return { node: short, shortened };
}

/** Leaves items out from the end until `excess` bytes are saved. */
function keepFirst<T>(items: readonly T[], excess: number): { items: T[]; bytes: number } {
  let [kept, bytes] = [items.length, 0];
  while (kept > 0 && bytes < excess) {
    kept -= 1;
    // The comma goes with it.
    bytes += bytesOf(items[kept]) + (kept > 0 ? 1 : 0);
  }
  return { items: items.slice(0, kept), bytes };
}

/** The beginning of a text that saves `excess` bytes, or none of it where all of it saves less. */
function cutText(text: string, excess: number): string {
  const most = bytesOf(text) - excess - Buffer.byteLength(ELLIPSIS);
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(text.slice(0, middle)) <= most) low = middle;
    else high = middle - 1;
  }
  const cut = text.slice(0, low).replace(/[\ud800-\udbff]$/u, '');
  return cut === '' ? '' : `${cut}${ELLIPSIS}`;
}
