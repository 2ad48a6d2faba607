import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback, type Secret } from '../config/index.js';

/** What decides whether a request may read the metrics. */
export interface MetricsRequest {
  /** Address of the peer; undefined when it has disconnected. */
  readonly remoteAddress: string | undefined;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** With a token: only who presents it. Without: only who is on this machine, and not through a proxy on it. */
export function mayReadMetrics(request: MetricsRequest, token: Secret | undefined): boolean {
  return token ? presents(request.headers.authorization, token) : isDirectAndLocal(request);
}

function presents(authorization: string | readonly string[] | undefined, token: Secret): boolean {
  const presented = typeof authorization === 'string' ? /^Bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
  return presented !== undefined && timingSafeEqual(digest(presented), digest(token.reveal()));
}

/** A page in a local browser comes with a foreign Host, a request through a local proxy with a forwarding header. */
function isDirectAndLocal({ remoteAddress, headers }: MetricsRequest): boolean {
  const host = typeof headers.host === 'string' ? headers.host.replace(/:\d+$/, '') : '';
  const forwarded = headers['x-forwarded-for'] ?? headers.forwarded;
  return isLoopback(remoteAddress ?? '') && isLoopback(host) && forwarded === undefined && headers.origin === undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
