import { WebSocket } from 'ws';
import type { BusLogger } from '../bus.js';
import { type Frame, MESSAGE_BYTES } from './frames.js';
import { LinkPeer, type PeerOptions } from './link-peer.js';

export interface LinkConnectionOptions extends Pick<PeerOptions, 'logger' | 'replyBytes' | 'heartbeatMs'> {
  /** Where the gateway takes links, such as wss://example.org/link. */
  readonly url: string;
  /** The headers of each attempt, such as the credential of now. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Wait before the first further attempt; each one doubles it, up to `mostMs`. */
  readonly reconnect: { readonly firstMs: number; readonly mostMs: number };
  readonly receive: (frame: Frame) => void;
  readonly up: (peer: LinkPeer) => void;
  readonly down: () => void;
  /** The gateway has answered and lets nobody in with these headers. It is tried again. */
  readonly refused?: ((status: number) => void) | undefined;
}

/** How long a gateway may take to let a connection in. */
const HANDSHAKE_MS = 10_000;
/** Before an attempt that somebody waits for. */
const HURRY_MS = 300;

/** Keeps one connection to a gateway, and makes it again whenever it was lost, later each time. */
export class LinkConnection {
  private peer: LinkPeer | null = null;
  private socket: WebSocket | null = null;
  private timer: NodeJS.Timeout | undefined;
  private attempts = 0;
  /** Before the next attempt; 0 while one is under way. */
  private waitsMs = 0;
  private isClosed = false;
  private failure: string | null = null;

  constructor(private readonly options: LinkConnectionOptions) {
    this.connect();
  }

  /** The peer while the link is up. */
  get current(): LinkPeer | null {
    return this.peer;
  }

  /** Why the last attempt came to nothing; null while the link is up, or was lost a moment ago. */
  get problem(): string | null {
    return this.failure;
  }

  /** Leaves for good, when all that was told is on its way. */
  async close(withinMs: number): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    const { socket } = this;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
    else socket.close(1000);
    const late = setTimeout(() => socket.terminate(), withinMs);
    await closed;
    clearTimeout(late);
  }

  /** Somebody needs the link now: the next attempt is not put off for as long as after many others. */
  hurry(): void {
    if (this.waitsMs > HURRY_MS && !this.isClosed) this.connectIn(HURRY_MS);
  }

  private connect(): void {
    const { url, headers, logger, replyBytes, heartbeatMs } = this.options;
    const socket = new WebSocket(url, {
      headers: headers(),
      maxPayload: MESSAGE_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      followRedirects: false,
    });
    this.socket = socket;
    let isAnswered = false;
    socket.once('unexpected-response', (_request, response) => {
      isAnswered = true;
      const { statusCode = 0 } = response;
      response.resume();
      this.note(logger, answered(statusCode));
      if (statusCode === 401 || statusCode === 403) this.options.refused?.(statusCode);
      socket.terminate();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // What comes after an answer tells only that we left.
      if (!isAnswered) this.note(logger, error.code ?? error.message);
    });
    const peer = new LinkPeer(socket, {
      logger,
      replyBytes,
      heartbeatMs,
      receive: (frame) => this.receive(peer, frame),
      lost: () => this.lost(),
    });
  }

  private receive(peer: LinkPeer, frame: Frame): void {
    if (this.peer) return this.options.receive(frame);
    if (frame.head.kind !== 'hello') throw new Error('a link begins with another frame than hello');
    this.attempts = 0;
    this.failure = null;
    this.peer = peer;
    if (!this.isClosed) this.options.up(peer);
  }

  private lost(): void {
    const wasUp = this.peer !== null;
    this.peer = null;
    if (wasUp) this.options.down();
    if (this.isClosed) return;
    if (wasUp) this.options.logger.warn({ url: this.options.url }, 'the link to the gateway was lost');
    const { firstMs, mostMs } = this.options.reconnect;
    this.connectIn(Math.min(firstMs * 2 ** this.attempts, mostMs));
    this.attempts += 1;
  }

  /** Many devices that lost one gateway do not come to the next one in the same moment. */
  private connectIn(waitMs: number): void {
    clearTimeout(this.timer);
    this.waitsMs = waitMs;
    this.timer = setTimeout(
      () => {
        this.waitsMs = 0;
        this.connect();
      },
      waitMs * (0.5 + Math.random() / 2),
    );
  }

  /** An outage is told once. */
  private note(logger: BusLogger, problem: string): void {
    this.failure = problem;
    const fields = { url: this.options.url, problem };
    if (this.attempts === 0 && !this.isClosed) logger.warn(fields, 'the gateway cannot be reached; trying again');
    else logger.debug(fields, 'the gateway cannot be reached yet');
  }
}

const UPGRADE_REQUIRED = 426;

/** A gateway is asked for nothing but a WebSocket here: it says that one is needed when somebody in between has left that out. */
function answered(status: number): string {
  return status === UPGRADE_REQUIRED
    ? `it answered ${status}: a proxy in between does not pass WebSockets on`
    : `it answered ${status}`;
}
