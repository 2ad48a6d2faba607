import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkFaults } from './world.js';

type Direction = 'up' | 'down';

/** A way to a server on this machine, which can be shut, cut and slow. */
export class FaultyNetwork implements NetworkFaults, AsyncDisposable {
  private isShut = false;
  private cutting: { readonly direction: Direction; readonly bytes: number } | null = null;
  private bytesPerSecond = Number.POSITIVE_INFINITY;
  private readonly passages = new Set<Passage>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(to: number) {
    this.server = createServer((inside) => {
      this.keep(inside);
      if (this.isShut) return void inside.destroy();
      const outside = connect(to, '127.0.0.1');
      this.keep(outside);
      const end = (): void => {
        inside.destroy();
        outside.destroy();
      };
      for (const socket of [inside, outside]) {
        socket.on('error', end);
        // One that ended in order has its last bytes on their way yet.
        socket.once('close', () => socket.readableEnded || end());
      }
      inside.pipe(this.passage('up', end)).pipe(outside);
      outside.pipe(this.passage('down', end)).pipe(inside);
    });
  }

  static async to(port: number): Promise<FaultyNetwork> {
    const network = new FaultyNetwork(port);
    await new Promise<void>((resolve) => network.server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all connections, and lets no new one in. */
  shut(): void {
    this.isShut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  async cut(after: { readonly direction: Direction; readonly bytes: number }): Promise<void> {
    this.cutting = after;
    for (const passage of this.passages) passage.cut(after);
  }

  async slow(bytesPerSecond: number): Promise<void> {
    this.bytesPerSecond = bytesPerSecond;
    for (const passage of this.passages) passage.slow(bytesPerSecond);
  }

  async mend(): Promise<void> {
    this.isShut = false;
    this.cutting = null;
    await this.slow(Number.POSITIVE_INFINITY);
    for (const passage of this.passages) passage.cut(null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.shut();
    for (const passage of this.passages) passage.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private passage(direction: Direction, end: () => void): Passage {
    const passage = new Passage(direction, end);
    passage.slow(this.bytesPerSecond);
    passage.cut(this.cutting);
    this.passages.add(passage);
    passage.once('close', () => this.passages.delete(passage));
    return passage;
  }
}

/** One direction of one connection. */
class Passage extends Transform {
  private bytesPerSecond = Number.POSITIVE_INFINITY;
  private waiting = new AbortController();
  private left = Number.POSITIVE_INFINITY;

  constructor(
    private readonly direction: Direction,
    private readonly breakOff: () => void,
  ) {
    super({ highWaterMark: 16_384 });
  }

  cut(after: { readonly direction: Direction; readonly bytes: number } | null): void {
    this.left = after?.direction === this.direction ? after.bytes : Number.POSITIVE_INFINITY;
  }

  /** Whoever waits at the old speed goes on at once. */
  slow(bytesPerSecond: number): void {
    this.bytesPerSecond = bytesPerSecond;
    this.waiting.abort();
    this.waiting = new AbortController();
  }

  override _destroy(error: Error | null, done: TransformCallback): void {
    this.waiting.abort();
    done(error);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { signal } = this.waiting;
    const waited = sleep((chunk.length / this.bytesPerSecond) * 1_000, undefined, { signal }).catch(() => undefined);
    void waited.then(() => {
      if (chunk.length <= this.left) {
        this.left -= chunk.length;
        done(null, chunk);
      } else {
        this.left = 0;
        done();
        this.breakOff();
      }
    });
  }
}
