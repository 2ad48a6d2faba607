import type { OpenedSessions } from './mcp-sessions.js';
import type { Answer, ShotSet } from './shots.js';

/** What the load process is asked for. */
export type LoadRequest =
  | { readonly kind: 'open'; readonly set: ShotSet }
  | { readonly kind: 'ask'; readonly gun: number; readonly index: number }
  | { readonly kind: 'fire'; readonly gun: number; readonly connections: number; readonly forMs: number }
  | { readonly kind: 'close'; readonly gun: number }
  | {
      readonly kind: 'open-sessions';
      readonly url: string;
      readonly token: string;
      readonly count: number;
      readonly connections: number;
    }
  | { readonly kind: 'listen-on-sessions' }
  | { readonly kind: 'end-sessions' };

/** How a burst went. */
export interface Burst {
  /** Of each shot, in the order of their ends. */
  readonly tookMs: Float64Array;
  /** Shots that were refused as too much at once; their times do not count. */
  readonly refused: number;
  /** How many shots were under way at once. */
  readonly connections: number;
}

export type LoadReply =
  | { readonly gun: number }
  | { readonly answer: Answer }
  | { readonly burst: Burst }
  | { readonly opened: OpenedSessions }
  | null;

export interface Sent {
  readonly id: number;
  readonly request: LoadRequest;
}

export interface Returned {
  readonly id: number;
  readonly reply?: LoadReply;
  readonly error?: string;
}
