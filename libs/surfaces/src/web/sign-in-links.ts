import { hash, randomBytes } from 'node:crypto';
import type { Presented } from '../edge/credential.js';

/** Long enough to open a browser on a slow machine. */
const CODE_MS = 5 * 60_000;
/** The oldest one makes room. */
const MOST_CODES = 100;

interface Kept {
  readonly maker: Presented;
  readonly madeAtMs: number;
}

/** One-time codes that sign a browser in for whoever made them. They live in this process alone, as hashes. */
export class SignInLinks {
  private readonly codes = new Map<string, Kept>();

  /** A code for the holder of a credential, and when it ends, in milliseconds since the epoch. */
  make(maker: Presented): { readonly code: string; readonly expiresAtMs: number } {
    const code = randomBytes(24).toString('base64url');
    this.codes.set(keyOf(code), { maker, madeAtMs: performance.now() });
    const [oldest] = this.codes.keys();
    if (this.codes.size > MOST_CODES && oldest !== undefined) this.codes.delete(oldest);
    return { code, expiresAtMs: Date.now() + CODE_MS };
  }

  /** The credential that a code stands for, once; null for one that was used, has ended or never was. */
  redeem(code: string): Presented | null {
    const key = keyOf(code);
    const kept = this.codes.get(key);
    this.codes.delete(key);
    return kept && performance.now() - kept.madeAtMs < CODE_MS ? kept.maker : null;
  }
}

function keyOf(code: string): string {
  return hash('sha256', code, 'hex');
}
