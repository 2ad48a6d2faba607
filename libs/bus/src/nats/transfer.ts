import { PROTOCOL } from './options.js';

export type SendPart = (part: Uint8Array, place: { readonly index: number; readonly count: number }) => boolean;

/** A large reply on its way: a few parts ahead of what the receiver has confirmed, so that nobody has to buffer it. */
export class Transfer {
  private readonly count: number;
  private sent = 0;
  private confirmed = 0;
  private over = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly partBytes: number,
    private readonly send: SendPart,
  ) {
    this.count = Math.ceil(bytes.length / partBytes);
  }

  /** Resolves when every part has been handed to the connection, or the transfer was stopped. */
  async run(): Promise<void> {
    while (!this.over && this.sent < this.count) {
      if (this.sent - this.confirmed < PROTOCOL.windowParts) this.sendNext();
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  confirm(received: number): void {
    if (received > this.confirmed && received <= this.sent) this.confirmed = received;
    this.wake();
  }

  stop(): void {
    this.over = true;
    this.wake();
  }

  private sendNext(): void {
    const start = this.sent * this.partBytes;
    const part = this.bytes.subarray(start, start + this.partBytes);
    if (!this.send(part, { index: this.sent, count: this.count })) this.over = true;
    this.sent += 1;
  }
}
