import { Refusal, Unreachable } from '@workspace-graph/client';
import type { Section } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { newKey, refreshNode } from '../../api/change';
import { client } from '../../api/client';
import { onSomebodyElse } from '../../api/person';
import { isAlreadyThere } from './already-there';

/** A file on its way to a node. */
export interface Upload {
  readonly id: number;
  readonly nodeId: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly part: number;
  /** Why it did not arrive; null while it is under way. */
  readonly error: unknown;
}

/** Files that are sent at the same time; the others wait for these. */
const AT_ONCE = 2;

let uploads: readonly Upload[] = [];
const waiting: (() => void)[] = [];
let running = 0;
let lastId = 0;
const requests = new Map<number, XMLHttpRequest>();
/** How each one that has not arrived is sent. */
const senders = new Map<number, () => void>();
const listeners = new Set<() => void>();

/** A folder of a node: its section, and the subfolders within; null directly in it. */
export interface UploadPlace {
  readonly section: Section;
  readonly subpath: string | null;
}

/** Sends files into a folder of a node. They go on while other nodes and views are looked at. */
export function upload(nodeId: string, place: UploadPlace, files: Iterable<File>): void {
  const added = [...files].map((file): Upload => {
    const id = ++lastId;
    // The same key each time: to the workspace it is the same call.
    const key = newKey();
    senders.set(id, () => send(id, nodeId, { ...place, file, key }));
    queue(id);
    return { id, nodeId, name: file.name, part: 0, error: null };
  });
  put([...uploads, ...added]);
  next();
}

/** Sends again what did not arrive. */
export function again(ids: readonly number[]): void {
  for (const id of ids) {
    change(id, { part: 0, error: null });
    queue(id);
  }
  next();
}

/** Whether an upload may arrive when it is sent again as it is: the workspace did not refuse it. */
export function mayArrive({ error }: Upload): boolean {
  if (error === null) return false;
  return !(error instanceof Refusal) || error.status >= 500 || error.status === 401;
}

/** Ends an upload that is under way, or takes one that did not arrive off the list. */
export function drop(id: number): void {
  takeOff(id);
  requests.get(id)?.abort();
}

function takeOff(id: number): void {
  senders.delete(id);
  put(uploads.filter((one) => one.id !== id));
}

/** The uploads into a node. */
export function useUploads(nodeId: string): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => uploads);
  return all.filter((one) => one.nodeId === nodeId);
}

function queue(id: number): void {
  const sender = senders.get(id);
  if (sender) waiting.push(sender);
}

function next(): void {
  while (running < AT_ONCE) {
    const begin = waiting.shift();
    if (!begin) return;
    running++;
    begin();
  }
}

interface Sent extends UploadPlace {
  readonly file: File;
  readonly key: string;
}

/** By XMLHttpRequest, which alone tells how much of a body has gone. */
function send(id: number, nodeId: string, { section, subpath, file, key }: Sent): void {
  if (!uploads.some((one) => one.id === id)) return end(id, nodeId);
  const form = new FormData();
  form.set('section', section);
  if (subpath !== null) form.set('subpath', subpath);
  form.set('file', file, file.name.normalize('NFC'));
  const request = new XMLHttpRequest();
  requests.set(id, request);
  request.open('POST', `/nodes/${nodeId}/files`);
  request.setRequestHeader('idempotency-key', key);
  request.upload.onprogress = ({ loaded, total }) => change(id, { part: total > 0 ? loaded / total : 0 });
  request.onload = () => {
    if (request.status < 300) takeOff(id);
    else void settle(id, refusalOf(request), { nodeId, section, subpath, file });
  };
  request.onerror = () => change(id, { error: new Unreachable(client.url, new Error('The connection broke.')) });
  request.onloadend = () => end(id, nodeId);
  request.send(form);
}

interface Target extends UploadPlace {
  readonly nodeId: string;
  readonly file: File;
}

/** A refusal because the very same file is there already is none: it has arrived, and the answer to that was lost. */
async function settle(id: number, error: Error, { nodeId, section, subpath, file }: Target): Promise<void> {
  const path = [section, ...(subpath === null ? [] : [subpath]), file.name.normalize('NFC')].join('/');
  const isTaken = error instanceof Refusal && error.code === 'DESTINATION_EXISTS';
  if (isTaken && (await isAlreadyThere({ nodeId, path }, file))) takeOff(id);
  else change(id, { error });
  refresh(nodeId);
}

function end(id: number, nodeId: string): void {
  requests.delete(id);
  running--;
  refresh(nodeId);
  next();
}

/** Once for files that are sent together; until then the live channel tells of those that have arrived. */
function refresh(nodeId: string): void {
  if (!uploads.some((one) => one.nodeId === nodeId && one.error === null)) void refreshNode(nodeId);
}

function refusalOf({ status, responseText }: XMLHttpRequest): Error {
  try {
    return new Refusal(status, JSON.parse(responseText) as Refusal['body']);
  } catch {
    return new Error(`${status} ${responseText.slice(0, 200)}`);
  }
}

function change(id: number, what: Partial<Upload>): void {
  put(uploads.map((one) => (one.id === id ? { ...one, ...what } : one)));
}

function put(list: readonly Upload[]): void {
  uploads = list;
  if (list.some(({ error }) => error === null)) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
  for (const listener of listeners) listener();
}

/** Whoever leaves the page ends what is under way. */
function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// They are not theirs to wait for.
onSomebodyElse(() => removeEventListener('beforeunload', ask));
