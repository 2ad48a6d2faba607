import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** `silent` passes nothing on and closes nothing, as a network that is cut; `refused` ends what is open and what comes. */
export type ProxyMode = 'open' | 'silent' | 'refused';

/** Stands between a process and a server on loopback, so that a test can part the two. */
export class TcpProxy implements AsyncDisposable {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private mode: ProxyMode = 'open';
  private lastPassed: string | null = null;

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {
    server.on('connection', (socket) => this.pass(socket));
  }

  static listen(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, targetPort);
    return new Promise((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', () => resolve(proxy));
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections that neither side has ended. */
  get open(): number {
    return this.pairs.size;
  }

  set(mode: ProxyMode): void {
    this.mode = mode;
    for (const pair of this.pairs) this.apply(pair);
  }

  /** Lets no answer through any more once this text has passed to the server, until a mode is set. */
  muteAfter(text: string): void {
    this.lastPassed = text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.set('refused');
    await new Promise((resolve) => this.server.close(resolve));
  }

  private pass(near: Socket): void {
    const far = connect(this.targetPort, '127.0.0.1');
    const pair = [near, far] as const;
    this.pairs.add(pair);
    const end = (): void => {
      this.pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    // A reset is an end like any other here; `close` follows it.
    for (const socket of pair) socket.on('error', () => undefined).once('close', end);
    near.on('data', (chunk) => {
      if (this.lastPassed !== null && chunk.includes(this.lastPassed)) this.mute();
      far.write(chunk);
    });
    far.on('data', (chunk) => void near.write(chunk));
    this.apply(pair);
  }

  private mute(): void {
    this.lastPassed = null;
    for (const [, far] of this.pairs) far.pause();
  }

  private apply(pair: readonly [Socket, Socket]): void {
    for (const socket of pair) {
      if (this.mode === 'refused') socket.destroy();
      else if (this.mode === 'silent') socket.pause();
      else socket.resume();
    }
  }
}
