import { Refusal, Unreachable } from '@workspace-graph/client';
import type { Section } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { newKey, refreshNode } from '../../api/change';
import { client } from '../../api/client';

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
const listeners = new Set<() => void>();

/** A folder of a node: its section, and the subfolders within; null directly in it. */
export interface UploadPlace {
  readonly section: Section;
  readonly subpath: string | null;
}

/** Sends files into a folder of a node. They go on while other nodes and views are looked at. */
export function upload(nodeId: string, place: UploadPlace, files: Iterable<File>): void {
  for (const file of files) {
    const id = ++lastId;
    put([...uploads, { id, nodeId, name: file.name, part: 0, error: null }]);
    waiting.push(() => send(id, nodeId, { ...place, file }));
  }
  next();
}

/** Ends an upload that is under way, or takes one that did not arrive off the list. */
export function drop(id: number): void {
  requests.get(id)?.abort();
  put(uploads.filter((one) => one.id !== id));
}

/** The uploads into a node. */
export function useUploads(nodeId: string): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => uploads);
  return all.filter((one) => one.nodeId === nodeId);
}

function next(): void {
  while (running < AT_ONCE) {
    const begin = waiting.shift();
    if (!begin) return;
    running++;
    begin();
  }
}

/** By XMLHttpRequest, which alone tells how much of a body has gone. */
function send(id: number, nodeId: string, { section, subpath, file }: UploadPlace & { readonly file: File }): void {
  if (!uploads.some((one) => one.id === id)) return end(id, nodeId);
  const form = new FormData();
  form.set('section', section);
  if (subpath !== null) form.set('subpath', subpath);
  form.set('file', file, file.name.normalize('NFC'));
  const request = new XMLHttpRequest();
  requests.set(id, request);
  request.open('POST', `/nodes/${nodeId}/files`);
  request.setRequestHeader('idempotency-key', newKey());
  request.upload.onprogress = ({ loaded, total }) => change(id, { part: total > 0 ? loaded / total : 0 });
  request.onload = () => {
    if (request.status < 300) put(uploads.filter((one) => one.id !== id));
    else change(id, { error: refusalOf(request) });
  };
  request.onerror = () => change(id, { error: new Unreachable(client.url, new Error('The connection broke.')) });
  request.onloadend = () => end(id, nodeId);
  request.send(form);
}

function end(id: number, nodeId: string): void {
  requests.delete(id);
  running--;
  void refreshNode(nodeId);
  next();
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
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
