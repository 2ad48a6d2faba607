import { hash } from 'node:crypto';

/** What an Authorization header presents. `key` is the SHA-256 of the text, which is all that is kept of it. */
export type Presented =
  | { readonly kind: 'token'; readonly key: string }
  | { readonly kind: 'jwt'; readonly key: string; readonly jwt: string };

const BEARER = /^Bearer +(\S+) *$/i;
const TOKEN = /^svc_(?:pat|dev)_[A-Za-z0-9_-]{20,200}$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Reads a bearer credential; null for anything that cannot be one. */
export function readCredential(authorization: string): Presented | null {
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) return null;
  if (TOKEN.test(text)) return { kind: 'token', key: sha256(text) };
  return JWT.test(text) ? { kind: 'jwt', key: sha256(text), jwt: text } : null;
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
