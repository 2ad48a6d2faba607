import {
  getNode,
  listEdges,
  type Node,
  type NodeType,
  nameOn,
  type Responsibility,
  type Via,
} from '@workspace-graph/contracts';
import { estimateTokens } from '@workspace-graph/domain';
import type { z } from 'zod';
import type { ContextRow } from './context.statements.js';
import { outlineLine } from './outline-line.js';
import { type ContextPart, shortenNode } from './shorten-node.js';

/** Room that the node itself has in any case, of the whole. */
const NODE_SHARE = 0.4;
/** And its responsibilities, where they are told in lines. */
const DUTIES_SHARE = 0.5;
/** What the last sessions have at most. */
const SESSIONS_SHARE = 0.1;
const ATTEMPTS = 6;
/** Tokens of the name of the member that the node is in the answer. */
const NAME_TOKENS = 3;

interface Asked {
  readonly depth: number;
  /** Whether the outline consists of records instead of lines. */
  readonly records: boolean;
  readonly nodeId: string;
  readonly maxTokens: number;
  readonly via: Via;
}

interface LeftOut {
  readonly nodes: number;
  readonly types: Readonly<Partial<Record<NodeType, number>>>;
  readonly more_nodes: boolean;
  readonly hubs: readonly string[];
  readonly details: number;
  readonly node: readonly ContextPart[];
}

/** The node asked for, as JSON and what that costs. */
interface Whole {
  readonly node: Node;
  readonly text: string;
  readonly tokens: number;
}

/** The node within its room, as JSON members. */
interface NodePart {
  readonly text: string;
  readonly shortened: readonly ContextPart[];
}

/**
 * The answer as JSON text within the tokens asked for: the outline of as many nodes as fit beside what the node itself
 * needs, nearest first; the node in what is left; then details, nearest first. Says what did not fit.
 */
export function packContext(rows: readonly ContextRow[], asked: Asked): string {
  const [root, ...around] = rows;
  const whole = wholeOf(JSON.parse(root?.json ?? 'null') as Node);
  const references = new Map(rows.map(({ id, reference }) => [id, reference ?? id]));
  const hubs = (root?.hubs ?? []).map((id) => references.get(id) ?? id);
  const found = { ...root?.types };
  const more = root?.cut === true || hubs.length > 0;
  const sessions = fitting(sessionsOf(root), asked.maxTokens * SESSIONS_SHARE);
  const room = asked.maxTokens - frameTokens({ hubs, found, asked }) - sessions.tokens;
  const outline = fitting(linesOf(around, asked, references), room - tokensKept(whole, room, asked));
  const most = room - outline.tokens;
  const part = nodePart(whole, most, asked);
  const shown = around.slice(0, outline.texts.length);
  const details = fittingAny(
    shown.map((row) => row.details && compact(row.details)),
    most - estimateTokens(part.text),
  );
  const leftOut: LeftOut = {
    nodes: (root?.found ?? 0) - shown.length,
    types: withoutShown(found, shown),
    more_nodes: more,
    hubs,
    details: shown.length - details.length,
    node: part.shortened,
  };
  const lines = outline.texts.join(',');
  const places = asked.records ? `"outline":[],"nodes":[${lines}]` : `"outline":[${lines}],"nodes":[]`;
  const rest = `"recent_sessions":[${sessions.texts.join(',')}],"details":[${details.join(',')}]`;
  return withEstimate(headOf(leftOut, asked), `${places},${part.text},${rest}`);
}

function wholeOf(node: Node): Whole {
  const text = JSON.stringify(node);
  return { node, text, tokens: estimateTokens(text) };
}

function sessionsOf(root: ContextRow | undefined): string[] {
  const sessions = JSON.parse(root?.details ?? '[]') as readonly unknown[];
  return sessions.map((session) => JSON.stringify(session));
}

/** One line after the other, as far as anybody asks for them. */
function* linesOf(
  rows: readonly ContextRow[],
  { records, nodeId }: Asked,
  references: ReadonlyMap<string, string>,
): Generator<string> {
  for (const row of rows)
    yield records ? (row.json ?? 'null') : JSON.stringify(outlineLine(row, nodeId.toLowerCase(), references));
}

/** What the node has at least beside the outline: its share, or what can never be cut off it. */
function tokensKept(whole: Whole, room: number, asked: Asked): number {
  const share = room * NODE_SHARE;
  if (whole.tokens <= share) return whole.tokens;
  const least = estimateTokens(nodePart(whole, 0, asked).text);
  return Math.min(room, Math.max(share, least));
}

/** The node whole if it fits, else as much of it as does; responsibilities are told in lines before they are left out. */
function nodePart(whole: Whole, most: number, { records }: Asked): NodePart {
  const { node } = whole;
  if (whole.tokens + NAME_TOKENS <= most) return { text: `"node":${whole.text}`, shortened: [] };
  const short = shortNode(whole, most);
  if (records || !short.shortened.includes('responsibilities')) return short;
  const lines = fitting(
    node.responsibilities.map((duty) => JSON.stringify(dutyLine(duty))),
    most > 0 ? most * DUTIES_SHARE : Infinity,
  );
  const duties = `"responsibilities":[${lines.texts.join(',')}],`;
  const rest = shortNode(wholeOf({ ...node, responsibilities: [] }), most - estimateTokens(duties));
  return { text: `${duties}${rest.text}`, shortened: [...new Set([...rest.shortened, 'responsibilities' as const])] };
}

function dutyLine({ title, description, assignees }: z.infer<typeof Responsibility>): string {
  const who = assignees.map(({ name }) => name).join(', ');
  return `${title}${description === '' ? '' : `: ${description}`}${who === '' ? '' : ` (${who})`}`;
}

/** Bytes are taken off until the tokens fit, or nothing more can go. */
function shortNode({ node, text: all, tokens }: Whole, most: number): NodePart {
  const bytes = Buffer.byteLength(all);
  const perToken = bytes / tokens;
  let excess = most > 0 ? bytes - most * perToken : Infinity;
  for (let attempt = 1; ; attempt += 1) {
    const { node: short, shortened } = shortenNode(node, excess);
    const text = `"node":${JSON.stringify(short)}`;
    const over = estimateTokens(text) - most;
    if (over <= 0 || attempt > ATTEMPTS || excess === Infinity) return { text, shortened };
    excess = attempt === ATTEMPTS ? Infinity : excess + over * perToken * attempt;
  }
}

/** The database writes JSON with spaces, which would cost tokens. */
function compact(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/** The first of the texts that fit together. */
function fitting(texts: Iterable<string>, room: number): { texts: readonly string[]; tokens: number } {
  const fit: string[] = [];
  let tokens = 0;
  for (const text of texts) {
    const more = tokens + estimateTokens(text) + 1;
    if (more > room) break;
    tokens = more;
    fit.push(text);
  }
  return { texts: fit, tokens };
}

/** Those of the texts that fit, asked in their order; a large one does not keep later ones out. */
function fittingAny(texts: readonly (string | null)[], room: number): readonly string[] {
  let left = room;
  return texts.filter((text): text is string => {
    const tokens = text === null ? Infinity : estimateTokens(text) + 1;
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

function withoutShown(found: LeftOut['types'], shown: readonly ContextRow[]): LeftOut['types'] {
  const left = new Map<string, number>(Object.entries(found));
  for (const { type } of shown) if (type !== null) left.set(type, (left.get(type) ?? 0) - 1);
  return Object.fromEntries([...left].filter(([, count]) => count > 0));
}

/** Tokens of the largest head that this answer can have, and of the names of its parts. */
function frameTokens({
  hubs,
  found,
  asked,
}: Pick<LeftOut, 'hubs'> & { found: LeftOut['types']; asked: Asked }): number {
  const node = ['edges', 'recent_events', 'files', 'data_sources', 'tools', 'responsibilities', 'description'] as const;
  const most: LeftOut = { nodes: 1_000, types: found, more_nodes: true, hubs, details: 1_000, node };
  return estimateTokens(
    `${headOf(most, asked)(10_000)},"outline":[],"nodes":[],"node":,"recent_sessions":[],"details":[]}`,
  );
}

/** Everything before the outline, by the estimate of the whole answer. */
function headOf(leftOut: LeftOut, { depth, via, nodeId }: Asked): (tokens: number) => string {
  const complete = leftOut.nodes === 0 && !leftOut.more_nodes && leftOut.details === 0 && leftOut.node.length === 0;
  const told = { ...leftOut, how_to_get: complete ? '' : howToGet(leftOut, via, nodeId) };
  return (tokens) =>
    `{"depth":${depth},"estimated_tokens":${tokens},"complete":${complete},"left_out":${JSON.stringify(told)}`;
}

/** The estimate is part of the text that it is of. */
function withEstimate(head: (tokens: number) => string, body: string): string {
  return `${head(estimateTokens(`${head(10_000)},${body}}`))},${body}}`;
}

function howToGet({ details, node, nodes, more_nodes }: LeftOut, via: Via, nodeId: string): string {
  const [read, edges] = [nameOn(via, getNode), nameOn(via, listEdges)];
  const ways = [
    details > 0 ? `${read} with a node of the outline for its details` : '',
    node.length > 0 ? `${read} with ${nodeId} for this node in full` : '',
    nodes > 0 || more_nodes ? `a larger max_tokens, or ${edges} of a node for all its neighbours` : '',
  ];
  return ways.filter((way) => way !== '').join('; ');
}
