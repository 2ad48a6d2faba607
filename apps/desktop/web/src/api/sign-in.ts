import { useSyncExternalStore } from 'react';
import { client } from './client';

const CODE = /^#code=([\w-]+)$/;
/** The cookie itself cannot be seen: without this note nobody asks in vain. */
const NOTE = 'svc:signed-in';
const listeners = new Set<() => void>();

/** Whether this browser has signed in and not out. Its credential may have ended nevertheless. */
export function useHasSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => localStorage.getItem(NOTE) !== null);
}

/** Exchanges a code or a token for the cookie. @throws Refusal, Unreachable */
export async function signIn(given: { readonly code: string } | { readonly token: string }): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await client.fetch('/app/sign-in', { method: 'POST', headers, body: JSON.stringify(given) });
  note(true);
}

/** Ends the credential of this browser. @throws Refusal, Unreachable */
export async function signOut(): Promise<void> {
  await client.fetch('/app/sign-out', { method: 'POST' });
  note(false);
}

/** Signs in by the code in the address, which is taken out of it and of the history first. Answers what went wrong. */
export async function signInByLink(): Promise<unknown> {
  const [, code] = CODE.exec(location.hash) ?? [];
  if (code === undefined) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    await signIn({ code });
    return null;
  } catch (error) {
    return error;
  }
}

/** A link that is opened where the page is open already changes the address alone: the page begins anew with it. */
export function followLinks(): void {
  addEventListener('hashchange', () => {
    if (CODE.test(location.hash)) location.reload();
  });
}

function note(isSignedIn: boolean): void {
  if (isSignedIn) localStorage.setItem(NOTE, new Date().toISOString());
  else localStorage.removeItem(NOTE);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab has signed in or out.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
