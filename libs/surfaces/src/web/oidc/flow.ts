import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import type { PageCookie } from '../../edge/page-cookie.js';
import { pagePathOf } from '../page-path.js';

/** Long enough to find a password and a second factor. */
const FLOW_SECONDS = 600;
/** By which the clock of the gateway that it began at may be ahead. */
const AHEAD_SECONDS = 60;

const Flow = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Where in the page it began. */
  to: z.string(),
  begunAtMs: z.number(),
});

/** A sign-in under way at the provider: what its end is held against. */
export type Flow = z.infer<typeof Flow>;

export function beginFlow(to: string): Flow {
  return {
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    to: pagePathOf(to),
    begunAtMs: Date.now(),
  };
}

/** Reads what was sealed; undefined for one that has taken too long, or that another version has begun. */
export function readFlow(text: string): Flow | undefined {
  const flow = Flow.safeParse(JSON.parse(text)).data;
  if (!flow) return undefined;
  const ageSeconds = (Date.now() - flow.begunAtMs) / 1_000;
  return ageSeconds <= FLOW_SECONDS && ageSeconds >= -AHEAD_SECONDS ? flow : undefined;
}

/**
 * The header that sets the cookie of a sign-in under way, or that removes it where there is no value. The provider's redirect
 * comes from another site: Strict would hold it back. A name with `__Host-`, which no neighbour can set, goes with the root alone.
 */
export function setFlowCookie({ name, isSecure }: PageCookie, value: string | null, path: string): string {
  const life = value === null ? 0 : FLOW_SECONDS;
  const place = isSecure ? 'Path=/; Secure' : `Path=${path}`;
  return `${name}=${value ?? ''}; ${place}; Max-Age=${life}; HttpOnly; SameSite=Lax`;
}
