import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { statusOf } from './central-world.js';

const LOOK_MS = 500;

/** Spreads new connections over the backends that said at the last look that they are ready, as TCP balancers do. */
export class Balancer implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();
  private ready: readonly URL[] = [];
  private turn = 0;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();

  private readonly server: Server;
  private readonly backends: () => readonly string[];

  private constructor(server: Server, backends: () => readonly string[]) {
    this.server = server;
    this.backends = backends;
    server.on('connection', (socket) => this.pass(socket));
  }

  static async listen(backends: () => readonly string[]): Promise<Balancer> {
    const server = createServer();
    const balancer = new Balancer(server, backends);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    await balancer.look();
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.looking;
    clearTimeout(this.timer);
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async look(): Promise<void> {
    const urls = this.backends();
    const statuses = await Promise.all(urls.map((url) => statusOf(url, '/health/ready')));
    this.ready = urls.filter((_url, index) => statuses[index] === 200).map((url) => new URL(url));
    this.timer = setTimeout(() => {
      this.looking = this.look();
    }, LOOK_MS);
  }

  private pass(near: Socket): void {
    this.turn += 1;
    const backend = this.ready[this.turn % Math.max(1, this.ready.length)];
    if (!backend) return void near.destroy();
    const far = connect(Number(backend.port), backend.hostname);
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      this.sockets.add(socket);
      // A reset is passed on as an end; `close` follows it.
      socket
        .on('error', () => undefined)
        .once('close', () => {
          this.sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  }
}
