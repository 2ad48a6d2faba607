import type { EdgeSettings } from './edge-settings.js';

const YEAR_SECONDS = 31_536_000;

/** Headers of every answer. Nothing that this service answers is to be shown, framed, stored or run by a browser. */
export function protectiveHeaders({ publicUrl }: Pick<EdgeSettings, 'publicUrl'>): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    vary: 'Accept-Encoding, Origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(publicUrl?.startsWith('https:') ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` } : {}),
  };
}
