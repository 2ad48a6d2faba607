import type { RawData, WebSocket } from 'ws';
import type { BusLogger } from '../bus.js';
import type { Outcome } from '../codec.js';
import { UnderwayByKey } from '../underway.js';
import { decodeFrame, encodeFrame, type Frame, type FrameHead, type FrameOf, PART_BYTES } from './frames.js';

/** The connection is gone: what was asked over it may have been done or not. */
export class LinkLost extends Error {}

/** What was begun on a connection that is gone is begun again on the next one. @throws whatever else */
export function unlessLost(error: unknown): void {
  if (!(error instanceof LinkLost)) throw error;
}

export interface PeerOptions {
  readonly logger: BusLogger;
  /** Largest body of a reply that is taken. */
  readonly replyBytes: number;
  /** How often the other end is asked for a sign of life; one that gives none until then is gone. */
  readonly heartbeatMs: number;
  /** What the other end asks for or tells; must not throw. */
  readonly receive: (frame: Frame) => void;
  /** Once, whoever ended the connection. */
  readonly lost: () => void;
}

/** What is asked of the other end: a frame without its id. */
export type Asked = FrameHead extends infer Head ? (Head extends { id: number } ? Omit<Head, 'id'> : never) : never;

interface Awaited {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
  head: FrameOf<'reply'> | null;
  parts: Uint8Array[];
  bytes: number;
}

/** One end of a connection: requests and their replies, many at once, in either direction. */
export class LinkPeer {
  private readonly awaited = new UnderwayByKey<number, Awaited>();
  private readonly heartbeat: NodeJS.Timeout;
  private lastId = 0;
  private isAlive = true;
  private isOpen = true;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: PeerOptions,
  ) {
    socket.on('message', (data) => this.take(data));
    socket.on('pong', () => this.heard());
    socket.on('ping', () => this.heard());
    socket.on('error', (error) => options.logger.debug({ err: error }, 'a connection of a link failed'));
    socket.on('close', () => this.end());
    this.heartbeat = setInterval(() => this.beat(), options.heartbeatMs);
    this.heartbeat.unref();
  }

  get open(): boolean {
    return this.isOpen;
  }

  /** Asks the other end. @throws LinkLost */
  ask(asked: Asked, body: string | Uint8Array = ''): { readonly id: number; readonly outcome: Promise<Outcome> } {
    this.lastId += 1;
    const id = this.lastId;
    const outcome = new Promise<Outcome>((resolve, reject) => {
      if (!this.isOpen) return reject(new LinkLost());
      this.awaited.set(id, { resolve, reject, head: null, parts: [], bytes: 0 });
      this.tell({ ...asked, id }, body);
    });
    return { id, outcome };
  }

  /** Waits no longer for a reply. */
  forget(id: number): void {
    this.awaited.delete(id);
  }

  /** Tells something that is not answered. */
  tell(head: FrameHead, body: string | Uint8Array = ''): void {
    void this.send(encodeFrame(head, body));
  }

  /** Resolves when the outcome is on its way, in parts that let others in between; false for a connection that is gone. */
  async reply(id: number, { kind, facts, body }: Outcome): Promise<boolean> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    let head: FrameHead = { kind: 'reply', id, outcome: kind, ...(facts ? { facts } : {}) };
    for (let start = 0; start === 0 || start < bytes.length; start += PART_BYTES) {
      const isLast = start + PART_BYTES >= bytes.length;
      const part = bytes.subarray(start, start + PART_BYTES);
      if (!(await this.send(encodeFrame(isLast ? head : { ...head, more: true }, part)))) return false;
      head = { kind: 'part', id };
    }
    return true;
  }

  /** Ends the connection when all that was told is on its way. */
  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  /** Ends it at once. */
  terminate(): void {
    this.socket.terminate();
  }

  private send(message: Buffer): Promise<boolean> {
    if (!this.isOpen) return Promise.resolve(false);
    return new Promise((resolve) => this.socket.send(message, (error) => resolve(!error)));
  }

  private take(data: RawData): void {
    this.heard();
    try {
      const frame = decodeFrame(data as Buffer);
      if (frame.head.kind === 'reply' || frame.head.kind === 'part') this.takeReply(frame.head, frame.body);
      else this.options.receive(frame);
    } catch (error) {
      this.options.logger.warn({ err: error }, 'the other end of a link does not keep to the protocol');
      this.socket.close(1002, 'protocol');
    }
  }

  private takeReply(head: FrameOf<'reply'> | FrameOf<'part'>, body: Uint8Array): void {
    const awaited = this.awaited.get(head.id);
    if (!awaited) return;
    if (head.kind === 'reply') awaited.head = head;
    awaited.bytes += body.byteLength;
    if (!awaited.head || awaited.bytes > this.options.replyBytes)
      throw new Error('a reply is too large, or has no beginning');
    awaited.parts.push(body);
    if (head.more) return;
    this.awaited.delete(head.id);
    const { outcome: kind, facts } = awaited.head;
    awaited.resolve({ kind, body: Buffer.concat(awaited.parts), ...(facts ? { facts } : {}) });
  }

  private heard(): void {
    this.isAlive = true;
  }

  private beat(): void {
    // How long a connection may take to be made is not told by this.
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (!this.isAlive) return this.socket.terminate();
    this.isAlive = false;
    this.socket.ping();
  }

  private end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearInterval(this.heartbeat);
    const lost = this.awaited.values();
    this.awaited.clear();
    for (const { reject } of lost) reject(new LinkLost());
    this.options.lost();
  }
}
