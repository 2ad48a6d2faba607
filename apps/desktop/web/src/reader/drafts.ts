import { useSyncExternalStore } from 'react';
import { onSomebodyElse } from '../api/person';
import type { FilePlace } from './addresses';

/** A text that is written and not saved. Kept by the browser tab, so that no way out of it loses it. */
export interface Draft {
  readonly text: string;
  /** SHA-256 of the content that it is to replace. */
  readonly base: string;
}

const PREFIX = 'svc:file-draft ';
/** What the tab has no room for stays at least as long as the page. */
const drafts = new Map<string, Draft | null>();
const listeners = new Set<() => void>();

const keyOf = ({ nodeId, path }: FilePlace): string => `${PREFIX}${nodeId} ${path}`;

/** Keeps what is written; null when it has been saved or given up. */
export function keepDraft(place: FilePlace, draft: Draft | null): void {
  const key = keyOf(place);
  drafts.set(key, draft);
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    // It is full: an older text of the same file must not come back in place of this one.
    sessionStorage.removeItem(key);
  }
  if (hasDrafts()) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
  for (const listener of listeners) listener();
}

export function draftOf(place: FilePlace): Draft | null {
  const key = keyOf(place);
  if (!drafts.has(key)) drafts.set(key, JSON.parse(sessionStorage.getItem(key) ?? 'null') as Draft | null);
  return drafts.get(key) ?? null;
}

/** What is written in a file and not saved. */
export function useDraft(place: FilePlace): Draft | null {
  return useSyncExternalStore(subscribe, () => draftOf(place));
}

/** A file is called otherwise now: what is written in it goes along. */
export function moveDraft(from: FilePlace, to: FilePlace): void {
  const draft = draftOf(from);
  if (!draft) return;
  keepDraft(to, draft);
  keepDraft(from, null);
}

function hasDrafts(): boolean {
  return [...drafts.values()].some((draft) => draft !== null);
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

// It is not theirs to keep.
onSomebodyElse(() => removeEventListener('beforeunload', ask));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
