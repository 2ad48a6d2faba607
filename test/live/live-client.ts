import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientFrameType, type SessionEvent, SOCKET_PATH } from '@workspace-graph/contracts';
import { WebSocket } from 'ws';

export interface ReceivedFrame {
  readonly id?: string | number;
  readonly type: string;
  readonly payload: FramePayload;
}

/** What a test looks at of whatever came. */
interface FramePayload {
  readonly [name: string]: unknown;
  readonly session_id: string;
  readonly state: string;
  readonly waiting_since: string | null;
  readonly code: string;
  readonly event: SessionEvent;
}

/** A client of the live channel that keeps everything that it was sent. */
export class LiveClient implements AsyncDisposable {
  readonly frames: ReceivedFrame[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  private nextId = 1;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as ReceivedFrame));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => undefined);
  }

  /** Resolves when the socket is open; rejects with the HTTP status of a refusal. */
  static async open(url: string, token: string, headers: Record<string, string> = {}): Promise<LiveClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${SOCKET_PATH}`, {
      headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
    });
    const client = new LiveClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (part: Buffer) => {
          body += part.toString();
        });
        response.on('end', () =>
          reject(
            Object.assign(new Error(`HTTP ${response.statusCode}`), {
              status: response.statusCode,
              body: JSON.parse(body),
            }),
          ),
        );
      });
    });
    return client;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
  }

  /** Sends a frame and answers its reply or error. */
  async ask(type: ClientFrameType, payload: unknown): Promise<ReceivedFrame> {
    const id = this.nextId++;
    this.send({ id, type, payload });
    await this.until(() => this.frames.some((frame) => frame.id === id), `an answer to ${type}`);
    const frame = this.frames.find((one) => one.id === id);
    if (!frame) throw new Error('An answer has vanished');
    return frame;
  }

  of(type: string): ReceivedFrame[] {
    return this.frames.filter((frame) => frame.type === type);
  }

  /** Events of a session, as they came. */
  events(sessionId: string): SessionEvent[] {
    return this.of('event').flatMap(({ payload }) => (payload.session_id === sessionId ? [payload.event] : []));
  }

  seqs(sessionId: string): number[] {
    return this.events(sessionId).map(({ seq }) => seq);
  }

  states(sessionId: string): string[] {
    return this.of('session_state').flatMap(({ payload }) => (payload.session_id === sessionId ? [payload.state] : []));
  }

  async until(condition: () => boolean, what: string, withinMs = 60_000): Promise<void> {
    const deadlineMs = Date.now() + withinMs;
    while (!condition()) {
      if (Date.now() > deadlineMs)
        throw new Error(`${what} did not come; got ${JSON.stringify(this.frames.slice(-5)).slice(0, 2_000)}`);
      await sleep(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return;
    const closed = new Promise((resolve) => this.socket.once('close', resolve));
    // One that takes nothing does not hear of its end either.
    this.socket.resume();
    this.socket.terminate();
    await closed;
  }
}
