import { LIMITS, type Node } from '@workspace-graph/contracts';
import type { ContextRow } from './context.statements.js';
import { type ContextPart, shortenNode } from './shorten-node.js';

/** Keys, numbers, the sentence about the rest and the names of shortened parts; every hub that is told takes room besides. */
const FRAME_BYTES = 620;
const HUB_BYTES = 39;
/** Room that the node itself has in any case, of the whole. */
const NODE_SHARE = 0.4;

interface Packed {
  readonly nodeId: string;
  readonly depth: number;
  readonly maxTokens: number;
  readonly rows: readonly ContextRow[];
}

interface LeftOut {
  readonly nodes: number;
  readonly more_nodes: boolean;
  readonly hubs: readonly string[];
  readonly details: number;
  readonly node: readonly ContextPart[];
}

/**
 * The answer as JSON text within the tokens asked for: the outline of as many nodes as fit, nearest first; the node
 * itself in what is left; then details, nearest first. Says what did not fit.
 */
export function packContext({ nodeId, depth, maxTokens, rows }: Packed): string {
  const [root, ...around] = rows;
  const hubs = root?.hubs ?? [];
  const node = JSON.parse(root?.json ?? 'null') as Node;
  const whole = JSON.stringify(node);
  const room = maxTokens * LIMITS.bytesPerToken - FRAME_BYTES - hubs.length * HUB_BYTES;
  const wholeBytes = Buffer.byteLength(whole);
  const outline = fitting(
    around.map(({ json }) => json ?? 'null'),
    room - bytesKept(node, wholeBytes, room * NODE_SHARE),
  );
  const most = room - outline.bytes;
  const short = wholeBytes <= most ? { text: whole, shortened: [] } : shortNode(node, wholeBytes - most);
  const shown = around.slice(0, outline.texts.length);
  const details = fittingAny(
    shown.map((row) => row.details && compact(row.details)),
    most - Buffer.byteLength(short.text),
  );
  const leftOut: LeftOut = {
    nodes: (root?.found ?? 0) - shown.length,
    more_nodes: root?.cut === true || hubs.length > 0,
    hubs,
    details: shown.length - details.length,
    node: short.shortened,
  };
  return withEstimate(
    { depth, leftOut, nodeId },
    `"nodes":[${outline.texts.join(',')}],"node":${short.text},"details":[${details.join(',')}]`,
  );
}

/** What the node has at least beside the outline: its share, or what can never be cut off it. */
function bytesKept(node: Node, whole: number, share: number): number {
  return whole <= share ? whole : Math.max(share, Buffer.byteLength(shortNode(node, Infinity).text));
}

/** The database writes JSON with spaces, which would cost tokens. */
function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/** The first of the texts that fit together. */
function fitting(texts: readonly string[], room: number): { texts: readonly string[]; bytes: number } {
  let [bytes, count] = [0, 0];
  for (const text of texts) {
    const more = bytes + Buffer.byteLength(text) + 1;
    if (more > room) break;
    [bytes, count] = [more, count + 1];
  }
  return { texts: texts.slice(0, count), bytes };
}

/** Those of the texts that fit, asked in their order; a large one does not keep later ones out. */
function fittingAny(texts: readonly (string | null)[], room: number): readonly string[] {
  let left = room;
  return texts.filter((text): text is string => {
    const bytes = text === null ? Infinity : Buffer.byteLength(text) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

function shortNode(whole: Node, excess: number): { text: string; shortened: readonly ContextPart[] } {
  const { node, shortened } = shortenNode(whole, excess);
  return { text: JSON.stringify(node), shortened };
}

/** Puts the head before the body, with the estimate of the whole text that contains it. */
function withEstimate(
  { depth, leftOut, nodeId }: { depth: number; leftOut: LeftOut; nodeId: string },
  body: string,
): string {
  const complete = leftOut.nodes === 0 && !leftOut.more_nodes && leftOut.details === 0 && leftOut.node.length === 0;
  const told = { ...leftOut, how_to_get: complete ? '' : howToGet(nodeId, leftOut) };
  const textOf = (tokens: number): string =>
    `{"depth":${depth},"estimated_tokens":${tokens},"complete":${complete},"left_out":${JSON.stringify(told)},${body}}`;
  const tokens = Math.ceil((Buffer.byteLength(textOf(0)) + 5) / LIMITS.bytesPerToken);
  return textOf(tokens);
}

function howToGet(nodeId: string, leftOut: LeftOut): string {
  const ways = [
    leftOut.details > 0 ? 'get_node with the id of a node of the outline for its details' : '',
    leftOut.node.length > 0 ? `get_node ${nodeId} for this node whole` : '',
    leftOut.nodes > 0 || leftOut.more_nodes
      ? 'a larger max_tokens, or list_edges with the id of a node for all its neighbours'
      : '',
  ];
  return ways.filter((way) => way !== '').join('; ');
}
