import type { Socket } from 'node:net';
import type { Caller, ServerFrameType, ServiceError } from '@workspace-graph/contracts';
import type { WebSocket } from 'ws';
import type { Admission } from '../edge/admission.js';
import { HIGH_BYTES, LOW_BYTES } from './back-pressure.js';

/** Codes with which a socket is closed. */
export const CLOSE_CODES = { leaving: 1001, revoked: 4401 } as const;

/** One client of the live channel. */
export class LiveSocket {
  /** Sessions that the client follows. */
  readonly following = new Set<string>();
  /** Sessions whose state the client has to be told once it takes frames again. */
  readonly untold = new Set<string>();
  private pendingBytes = 0;
  private waiters: (() => void)[] = [];

  constructor(
    readonly socket: WebSocket,
    readonly admission: Admission,
    /** Whether the upgrade carried the proof of the application's own window, or none is asked for. */
    readonly isProven: boolean,
    private readonly connection: Pick<Socket, 'cork' | 'uncork'>,
  ) {}

  /** Handed to the socket, and not taken by the client. */
  get unsentBytes(): number {
    return this.pendingBytes;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Takes no more for now: the client is slower than what happens. */
  get isFull(): boolean {
    return this.pendingBytes > HIGH_BYTES;
  }

  get expiresAtMs(): number {
    return this.admission.credential.expiresAtMs;
  }

  /** Who it is for reading; the scope may have changed since the frame before. */
  get caller(): Caller {
    return { ...this.admission.caller, via: 'ws' };
  }

  /** Makes sure that the credential holds, and answers who calls. @throws ServiceError */
  async confirm(): Promise<Caller> {
    await this.admission.confirm();
    return this.caller;
  }

  /** Hands over a frame that is text already. */
  sendText(text: string): void {
    if (!this.isOpen) return;
    const bytes = Buffer.byteLength(text);
    this.pendingBytes += bytes;
    this.socket.send(text, () => {
      this.pendingBytes -= bytes;
      if (this.pendingBytes <= LOW_BYTES) this.drained();
    });
  }

  /** The frames that `send` hands over go to the system at once: it costs much to do so for each. */
  together(send: () => void): void {
    this.connection.cork();
    try {
      send();
    } finally {
      this.connection.uncork();
    }
  }

  send(type: ServerFrameType, payload: unknown): void {
    this.sendText(JSON.stringify({ type, payload }));
  }

  reply(id: string | number | undefined, payload: unknown): void {
    if (id !== undefined) this.sendText(JSON.stringify({ id, type: 'reply', payload }));
  }

  refuse(id: string | number | undefined, refusal: ServiceError): void {
    const payload = refusal.toBody(this.admission.requestId);
    this.sendText(JSON.stringify({ ...(id === undefined ? {} : { id }), type: 'error', payload }));
  }

  /** Resolves when the client has taken most of what was handed over, and when the socket is closed. */
  async roomy(): Promise<void> {
    if (!this.isOpen || !this.isFull) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  /** Closes for a reason; a client that does not answer is cut off by the pings. */
  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  /** Lets go of those who wait. */
  ended(): void {
    this.drained();
  }

  private drained(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
