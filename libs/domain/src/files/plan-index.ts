import { assertNever } from '../assert-never.js';
import { ReadOrder } from './read-order.js';
import { WaitingFiles } from './waiting-files.js';

/** Files that are read at once, and files that may take long: nobody waits for them. */
export type ReadLane = 'quick' | 'slow';

/** A tracked file as the index is to know it. */
export interface NotedFile {
  /** Id of the record. */
  readonly fileId: string;
  /** The node of the file. */
  readonly nodeId: string;
  /** Within the node. */
  readonly path: string;
  /** SHA-256 of the content to index; another hash means that the text must be read again. */
  readonly sha256: string;
  /** Time of the last change; null when it is not known, and then the one known before counts. */
  readonly modifiedMs: number | null;
}

/** How far the files of a node are noted. The object distinguishes this page, and one demand for all, from the next. */
export interface Comparison {
  /** Path of the last file that was noted; '' for none. */
  readonly after: string;
}

/** What the search index does not know yet. It may be 50,000 files, so `indexAfter`, and nothing else, changes it in place. */
export class IndexQueue {
  readonly changed = new Map<string, NotedFile>();
  readonly removed = new Set<string>();
  readonly removedNodes = new Set<string>();
  /** Nodes whose files are all to be noted. */
  readonly uncompared = new Map<string, Comparison>();
  /** A census compares all files there are, and removes others from the index. */
  census: 'none' | 'due' | 'open' = 'none';
  readonly toRead: Readonly<Record<ReadLane, ReadOrder>> = { quick: new ReadOrder(), slow: new ReadOrder() };
  readonly waiting = new WaitingFiles();
  /** Nodes that are compared again later: files of them could not be opened, or the index failed. */
  readonly unreadable = new Set<string>();
  hasFailed = false;
}

/** By file, the ticket of its last change when its work began; see `WaitingFiles`. */
export type Tickets = ReadonlyMap<string, object | undefined>;

export type IndexStep =
  | { readonly kind: 'remove-node'; readonly nodeId: string }
  | { readonly kind: 'note'; readonly files: readonly NotedFile[]; readonly removed: readonly string[] }
  /** One page of its files, so that what changes meanwhile is told before the next. */
  | { readonly kind: 'compare'; readonly nodeId: string; readonly page: Comparison }
  | { readonly kind: 'begin-census' | 'end-census' | 'wait' };

export type IndexEvent =
  | { kind: 'changed'; nodeId: string; files: readonly NotedFile[]; gone: readonly string[] }
  | { kind: 'node-removed'; nodeId: string }
  /** All files of these nodes are to be compared with the index. */
  | { kind: 'asked'; nodeIds: readonly string[]; withCensus: boolean }
  | { kind: 'began'; step: IndexStep }
  | { kind: 'census-open' }
  /** The index knows these, and wants the text of some. */
  | { kind: 'noted'; files: readonly NotedFile[]; tickets: Tickets; toRead: readonly string[] }
  /** `upTo` is the path of the last file; null when no more follow. */
  | { kind: 'compared'; nodeId: string; page: Comparison; upTo: string | null }
  | { kind: 'reading'; lane: ReadLane; fileIds: readonly string[] }
  /** A file of the quick lane may take long. */
  | { kind: 'slow'; fileId: string }
  /** The text can be found, or there is none. */
  | { kind: 'settled'; fileId: string; ticket: object | undefined }
  | { kind: 'unreadable'; nodeIds: readonly string[]; hasFailed: boolean }
  /** These are the nodes of mirrors by now. */
  | { kind: 'retried'; nodeIds: readonly string[] };

export const FILES_PER_NOTE = 500;
/** Files that changed and are kept one by one. */
const MOST_CHANGES = 5_000;

/** Decides what the index is told next. Whatever is noted while a census is due or open counts in it. */
export function planIndex({ changed, removed, removedNodes, uncompared, census }: Readonly<IndexQueue>): IndexStep {
  const [removedNode] = removedNodes;
  if (removedNode !== undefined) return { kind: 'remove-node', nodeId: removedNode };
  if (census === 'due') return { kind: 'begin-census' };
  if (changed.size + removed.size > 0)
    return { kind: 'note', files: [...changed.values()].slice(0, FILES_PER_NOTE), removed: [...removed] };
  const [next] = uncompared;
  if (next) return { kind: 'compare', nodeId: next[0], page: next[1] };
  return { kind: census === 'open' ? 'end-census' : 'wait' };
}

/** Whether the index was told all and all is being read. */
export function isIndexTold(queue: Readonly<IndexQueue>): boolean {
  return planIndex(queue).kind === 'wait' && queue.toRead.quick.size + queue.toRead.slow.size === 0;
}

/** Brings the queue to what is known after something happened. */
export function indexAfter(queue: IndexQueue, event: IndexEvent): void {
  switch (event.kind) {
    case 'changed':
      return takeChanges(queue, event.nodeId, event);
    case 'node-removed':
      return dropNode(queue, event.nodeId);
    case 'asked':
      for (const nodeId of event.nodeIds) compareAll(queue, nodeId);
      if (event.withCensus) queue.census = 'due';
      return;
    case 'began':
      return takeStep(queue, event.step);
    case 'census-open':
      queue.census = 'open';
      return;
    case 'noted':
      return takeNoted(queue, event.files, event);
    case 'compared':
      return takeCompared(queue, event);
    case 'reading':
      for (const fileId of event.fileIds) queue.toRead[event.lane].delete(fileId);
      return;
    case 'slow':
      queue.toRead.slow.add([event.fileId]);
      return;
    case 'settled':
      return queue.waiting.remove(event.fileId, event.ticket);
    case 'unreadable':
      for (const nodeId of event.nodeIds) queue.unreadable.add(nodeId);
      queue.hasFailed ||= event.hasFailed;
      return;
    case 'retried':
      return retry(queue, event.nodeIds);
    default:
      return assertNever(event);
  }
}

/** Of very many only the node is kept: its files are compared later. */
function takeChanges(
  queue: IndexQueue,
  nodeId: string,
  { files, gone }: { files: readonly NotedFile[]; gone: readonly string[] },
): void {
  for (const fileId of gone) drop(queue, fileId);
  if (queue.changed.size + files.length > MOST_CHANGES) return compareAll(queue, nodeId);
  for (const file of files) {
    queue.removed.delete(file.fileId);
    queue.changed.set(file.fileId, file);
    queue.waiting.add(file.fileId, file.nodeId);
  }
}

function drop({ changed, removed, toRead, waiting }: IndexQueue, fileId: string): void {
  changed.delete(fileId);
  toRead.quick.delete(fileId);
  toRead.slow.delete(fileId);
  waiting.remove(fileId);
  removed.add(fileId);
}

function dropNode({ changed, waiting, uncompared, removedNodes }: IndexQueue, nodeId: string): void {
  for (const file of changed.values()) if (file.nodeId === nodeId) changed.delete(file.fileId);
  waiting.removeNode(nodeId);
  uncompared.delete(nodeId);
  removedNodes.add(nodeId);
}

function takeStep(queue: IndexQueue, step: IndexStep): void {
  if (step.kind === 'remove-node') queue.removedNodes.delete(step.nodeId);
  if (step.kind === 'end-census') queue.census = 'none';
  if (step.kind !== 'note') return;
  for (const { fileId } of step.files) queue.changed.delete(fileId);
  queue.removed.clear();
}

function compareAll({ uncompared }: IndexQueue, nodeId: string): void {
  uncompared.set(nodeId, { after: '' });
}

function takeCompared(
  { uncompared }: IndexQueue,
  { nodeId, page, upTo }: Extract<IndexEvent, { kind: 'compared' }>,
): void {
  if (uncompared.get(nodeId) !== page) return;
  if (upTo === null) uncompared.delete(nodeId);
  else uncompared.set(nodeId, { after: upTo });
}

/** What was changed or removed meanwhile is told by itself. */
function takeNoted(
  { removed, changed, waiting, toRead }: IndexQueue,
  files: readonly NotedFile[],
  answer: { readonly tickets: Tickets; readonly toRead: readonly string[] },
): void {
  const wanted = new Set(answer.toRead);
  const read: string[] = [];
  for (const { fileId, nodeId } of files) {
    if (removed.has(fileId) || changed.has(fileId)) continue;
    const ticket = answer.tickets.get(fileId);
    if (!wanted.has(fileId)) waiting.remove(fileId, ticket);
    else {
      if (!ticket) waiting.add(fileId, nodeId);
      toRead.slow.delete(fileId);
      read.push(fileId);
    }
  }
  toRead.quick.add(read);
}

function retry(queue: IndexQueue, nodeIds: readonly string[]): void {
  for (const nodeId of nodeIds) if (queue.unreadable.has(nodeId)) compareAll(queue, nodeId);
  queue.unreadable.clear();
  if (queue.hasFailed) queue.census = 'due';
  queue.hasFailed = false;
}
