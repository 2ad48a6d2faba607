import { isIPv6 } from 'node:net';
import type { SharedBuckets } from './shared-buckets.js';
import { TokenBuckets } from './token-buckets.js';

export interface RateLimiterOptions {
  /** Of one credential, and of one address without a valid credential. 0 sets no limit. */
  readonly requestsPerMinute: number;
  /** Credentials and addresses that are remembered. */
  readonly maxKeys?: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
  /** What other gateways take counts here, too. */
  readonly shared?: Pick<SharedBuckets, 'share'>;
}

export interface RateRefusal {
  readonly by: 'credential' | 'address' | 'failures';
  readonly retryAfterSeconds: number;
}

/** Wrong credentials of one address a minute, after which it has to wait. */
export const FAILURES_PER_MINUTE = 60;
const MAX_KEYS = 50_000;

/**
 * Limits who is known by credential, and everybody else by address: an unknown credential costs nothing to invent.
 * Wrong credentials use up a small allowance of their own, so guessing is slow and disturbs nobody who is known.
 */
export class RateLimiter {
  private readonly credentials: TokenBuckets;
  private readonly addresses: TokenBuckets;
  private readonly failures: TokenBuckets;
  private readonly isOff: boolean;

  constructor({ requestsPerMinute, maxKeys = MAX_KEYS, now = () => performance.now(), shared }: RateLimiterOptions) {
    this.isOff = requestsPerMinute === 0;
    this.credentials = new TokenBuckets(requestsPerMinute, maxKeys, now);
    this.addresses = new TokenBuckets(requestsPerMinute, maxKeys, now);
    this.failures = new TokenBuckets(Math.min(FAILURES_PER_MINUTE, requestsPerMinute), maxKeys, now);
    for (const name of ['credentials', 'addresses', 'failures'] as const) shared?.share(name, this[name]);
  }

  /** Counts a request of a credential that has been verified lately. */
  takeKnown(credential: string): RateRefusal | undefined {
    return this.isOff ? undefined : refusal('credential', this.credentials.take(credential));
  }

  /** Counts a request without a credential, or with one that is yet to be verified. */
  takeUnknown(address: string, hasCredential: boolean): RateRefusal | undefined {
    if (this.isOff) return undefined;
    const key = network(address);
    const refused = hasCredential ? refusal('failures', this.failures.wait(key)) : undefined;
    return refused ?? refusal('address', this.addresses.take(key));
  }

  /** Counts a wrong credential. */
  failed(address: string): void {
    if (!this.isOff) this.failures.take(network(address));
  }
}

function refusal(by: RateRefusal['by'], waitMs: number): RateRefusal | undefined {
  return waitMs === 0 ? undefined : { by, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
}

/** A subscriber of IPv6 has a whole network of addresses, which counts as one. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Array.from({ length: 8 - front.length - back.length }, () => '0') : [];
  const groups = [...front, ...zeros, ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
