import { LIMITS } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { newKey } from '../api/change';
import { queries } from '../api/client';
import { onSignOut } from '../api/sign-in';
import { type Report, sendDocument } from './send-document';

/** The document that is being imported, and how far it is. */
export interface Importing {
  readonly document: File;
  /** What is under way. */
  readonly step: 'check' | 'import' | null;
  /** How much of it has gone, from 0 to 1. */
  readonly sent: number;
  /** What an import would change, or has changed where it is applied. */
  readonly report: Report | null;
  readonly error: unknown;
}

/** More than the workspace takes. */
export class TooLarge extends Error {}

const listeners = new Set<() => void>();
let importing: Importing | null = null;
/** Ends what is under way. */
let running: AbortController | null = null;
/** Of the chosen document: without leave to move access, and with it. Whatever is sent again with one of them happens once. */
let keys = { false: newKey(), true: newKey() };

/** It goes on while other views are looked at. */
export function useImporting(): Importing | null {
  return useSyncExternalStore(subscribe, () => importing);
}

/** Asks what an import of the document would change; nothing is. */
export async function check(document: File): Promise<void> {
  running?.abort();
  keys = { false: newKey(), true: newKey() };
  put({ document, step: null, sent: 0, report: null, error: null });
  await run('check', (options) => sendDocument(document, { ...options, dryRun: true }));
}

/** Imports the document that was checked. */
export async function carryOut(confirmed: boolean): Promise<void> {
  const { document, step } = importing ?? {};
  if (!document || step !== null) return;
  await run('import', (options) => sendDocument(document, { ...options, confirmed, key: keys[`${confirmed}`] }));
  if (importing?.report?.applied) refresh();
}

/** Imports a document of the page itself, without a question. @throws as `sendDocument` */
export async function importWhole(document: Blob): Promise<void> {
  await sendDocument(document, { key: newKey() });
  refresh();
}

/** Ends what is under way, which leaves nothing behind. */
export function abandon(): void {
  running?.abort();
}

/** Puts the document away. */
export function forget(): void {
  abandon();
  put(null);
}

// It is nobody else's.
onSignOut(forget);

type Options = Pick<Parameters<typeof sendDocument>[1], 'signal' | 'onSent'>;

async function run(step: 'check' | 'import', send: (options: Options) => Promise<Report>): Promise<void> {
  const mine = new AbortController();
  running = mine;
  const { signal } = mine;
  const note = (what: Partial<Importing>) => running === mine && importing && put({ ...importing, ...what });
  note({ step, sent: 0, error: null });
  try {
    if ((importing?.document.size ?? 0) > LIMITS.importBytes) throw new TooLarge();
    note({ step: null, report: await send({ signal, onSent: (sent) => note({ sent }) }) });
  } catch (error) {
    note({ step: null, error: signal.aborted ? null : error });
  }
}

function refresh(): void {
  for (const queryKey of [['graph'], ['overview'], ['node']]) void queries.invalidateQueries({ queryKey });
}

function put(next: Importing | null): void {
  importing = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
