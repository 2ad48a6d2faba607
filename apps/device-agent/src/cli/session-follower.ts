import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERRORS, getSession, isErrorCode, type SessionEvent, type SessionState } from '@workspace-graph/contracts';
import type { RawData } from 'ws';
import { CliError } from './cli-error.js';
import { EXIT } from './codes.js';
import { refused, type WorkspaceClient } from './workspace-client.js';

const AGAIN_MS = 500;
const MOST_AGAIN_MS = 15_000;
/** Frames that wait for whoever takes them; with more the socket is not read. */
const MOST_WAITING = 16;

/** What is sent on the live channel, as far as it matters here. */
type Frame =
  | { readonly type: 'reply'; readonly payload: { readonly last_seq: number } }
  | { readonly type: 'event'; readonly payload: { readonly event: SessionEvent } }
  | { readonly type: 'error'; readonly payload: Parameters<typeof refused>[0] }
  | { readonly type: 'session_state' | 'delta' };

export interface Following {
  readonly sessionId: string;
  /** seq of the last event that is known already. */
  readonly after: number;
  /** True: it is over when no run is under way; otherwise when the session is closed. */
  readonly untilIdle: boolean;
  /** Called for each connection. */
  readonly connect: () => Promise<WorkspaceClient>;
  /** A connection was lost; another one is tried until there is one. */
  readonly onLost: () => void;
  /** What waits before another connection is tried; longer each time. Default 500. */
  readonly againMs?: number;
}

/**
 * Follows the log of a session over the live channel. The log itself says what becomes of the session, so its state is known
 * without a gap: from a look at it when a connection begins, and from the events after that.
 */
export class SessionFollower {
  /** seq of the last event that has come. */
  private seen: number;
  /** How far the log is known to go. */
  private lastSeq = 0;
  /** At the later of the two. */
  private state: SessionState = 'running';
  private attempts = 0;

  constructor(private readonly following: Following) {
    this.seen = following.after;
  }

  /** What comes after the known event, each event once and in order, until it is over. @throws CliError */
  async *events(): AsyncGenerator<SessionEvent> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        yield* this.eventsOfConnection();
        if (this.isOver) return;
      } catch (error) {
        if (isFirst || !isPassing(error)) throw error;
      }
      await this.waitForAnother();
    }
  }

  private get isOver(): boolean {
    if (this.seen < this.lastSeq || this.state === 'running') return false;
    return this.following.untilIdle || this.state !== 'suspended';
  }

  private async *eventsOfConnection(): AsyncGenerator<SessionEvent> {
    const { connect, sessionId: session_id, after } = this.following;
    const client = await connect();
    const session = await client.call(getSession, { session_id });
    this.state = session.state;
    this.lastSeq = session.last_seq;
    // Beyond the end of the log: what is not wanted of it still says what becomes of the session.
    this.seen = Math.min(this.seen, session.last_seq);
    if (this.isOver) return;
    const socket = await client.openSocket();
    try {
      const frames = on(socket, 'message', { close: ['close'], highWaterMark: MOST_WAITING });
      socket.send(JSON.stringify({ id: 1, type: 'subscribe', payload: { session_id, after: this.seen } }));
      for await (const [data] of frames as AsyncIterable<[RawData]>) {
        const event = this.take(JSON.parse(String(data)) as Frame);
        if (event && event.seq > after) yield event;
        if (this.isOver) return;
      }
    } finally {
      socket.terminate();
    }
  }

  private take(frame: Frame): SessionEvent | null {
    if (frame.type === 'error') throw refused(frame.payload);
    if (frame.type === 'reply') {
      this.lastSeq = Math.max(this.lastSeq, frame.payload.last_seq);
      this.attempts = 0;
    }
    if (frame.type !== 'event') return null;
    const { event } = frame.payload;
    this.seen = event.seq;
    if (event.kind === 'state_changed') this.state = event.payload.to;
    return event;
  }

  private async waitForAnother(): Promise<void> {
    const { againMs = AGAIN_MS, onLost } = this.following;
    if (this.attempts === 0) onLost();
    const waitMs = Math.min(againMs * 2 ** this.attempts, MOST_AGAIN_MS);
    this.attempts += 1;
    // Those who were cut off together do not come back together.
    await sleep(waitMs * (0.75 + Math.random() / 2));
  }
}

/** Whether it may be otherwise in a moment: the workspace, or what is between, is away or busy. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CliError)) return false;
  const { code, status, exitCode } = error;
  if (isErrorCode(code)) return ERRORS[code].retryable;
  const isOfProxy = code === 'UNEXPECTED_ANSWER' && (status ?? 0) >= 500;
  return exitCode === EXIT.notRunning || code === 'WORKSPACE_SILENT' || isOfProxy;
}
