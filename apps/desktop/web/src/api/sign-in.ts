import { SIGN_IN_REFUSALS, type SignInRefusal } from '@workspace-graph/contracts';
import { useSyncExternalStore } from 'react';
import { client } from './client';

/** How the workspace says in the address that a sign-in at the identity provider is over, and how it went. */
const SIGNED_IN = '#signed-in';
const REFUSED = 'refused';
const CODE = /^#code=([\w-]+)$/;
/** The cookie itself cannot be seen: without this note nobody asks in vain. */
const NOTE = 'svc:signed-in';
const listeners = new Set<() => void>();

/** Whether this browser has signed in and not out. Its credential may have ended nevertheless. */
export function useHasSignedIn(): boolean {
  return useSyncExternalStore(subscribe, hasSignedIn);
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

/** Notes that the credential of this browser has ended without a sign-out. */
export function forgetSignIn(): void {
  note(false);
}

/** Why a sign-in at the identity provider came to nothing. */
export class ProviderRefusal extends Error {
  constructor(
    readonly reason: SignInRefusal,
    /** Under which the workspace has it in its log. */
    readonly requestId: string,
  ) {
    super(reason);
  }
}

/** Goes to the identity provider, which sends the browser back to this view. @throws Refusal, Unreachable */
export async function signInAtProvider({ asOther }: { readonly asOther: boolean }): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ to: location.pathname + location.search, as_other: asOther });
  const answer = await client.fetch('/app/sign-in/oidc', { method: 'POST', headers, body });
  const { url } = (await answer.json()) as { readonly url: string };
  location.assign(url);
}

/** Reads what the address says of a sign-in, and takes it out of there and of the history. Answers what went wrong. */
export async function arrive(): Promise<unknown> {
  const { hash, pathname, search } = location;
  const [, code] = CODE.exec(hash) ?? [];
  const told = new URLSearchParams(hash.slice(1));
  if (code === undefined && !told.has(REFUSED) && hash !== SIGNED_IN) return null;
  history.replaceState(history.state, '', pathname + search);
  if (told.has(REFUSED)) return providerRefusal(told);
  if (code !== undefined)
    return signIn({ code }).then(
      () => null,
      (error: unknown) => error,
    );
  note(true);
  return null;
}

/** A link that is opened where the page is open already changes the address alone: the page begins anew with it. */
export function followLinks(): void {
  addEventListener('hashchange', () => {
    if (CODE.test(location.hash)) location.reload();
  });
}

/** Calls back when this browser has signed out, here or in another tab. */
export function onSignOut(listener: () => void): void {
  subscribe(() => {
    if (!hasSignedIn()) listener();
  });
}

/** Calls back when this browser has signed in, here or in another tab, also over a sign-in of before. */
export function onSignIn(listener: () => void): void {
  subscribe(() => {
    if (hasSignedIn()) listener();
  });
}

function hasSignedIn(): boolean {
  return localStorage.getItem(NOTE) !== null;
}

/** Anybody can write an address: null for what is none of ours. */
function providerRefusal(told: URLSearchParams): ProviderRefusal | null {
  const reason = SIGN_IN_REFUSALS.find((one) => one === told.get(REFUSED));
  return reason ? new ProviderRefusal(reason, told.get('request') ?? '') : null;
}

function note(isSignedIn: boolean): void {
  if (isSignedIn) localStorage.setItem(NOTE, new Date().toISOString());
  else localStorage.removeItem(NOTE);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Another tab has signed in or out, or all of the storage was cleared.
addEventListener('storage', ({ key }) => {
  if (key !== NOTE && key !== null) return;
  for (const listener of listeners) listener();
});
