import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** One public address before several servers, each request to the server that its path is for, as a balancer may do it. */
export class PathProxy implements AsyncDisposable {
  /** Addresses of the servers. */
  servers: readonly string[] = [];
  /** What was asked, with the number of the server. */
  readonly asked: { readonly path: string; readonly server: number }[] = [];
  private readonly sockets = new Set<Duplex>();

  private constructor(
    private readonly listening: http.Server,
    private readonly serverFor: (path: string) => number,
  ) {
    listening.on('request', (request, response) => this.pass(request, response));
    listening.on('upgrade', (request, socket, head) => this.passSocket(request, socket, head));
  }

  static async listen(serverFor: (path: string) => number): Promise<PathProxy> {
    const listening = http.createServer();
    await new Promise<void>((resolve, reject) => listening.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new PathProxy(listening, serverFor);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.listening.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.listening.closeAllConnections();
    await new Promise((resolve) => this.listening.close(resolve));
  }

  private targetOf({ url = '/' }: IncomingMessage): URL {
    const [path = ''] = url.split('?');
    const server = this.serverFor(path);
    this.asked.push({ path, server });
    return new URL(url, this.servers[server]);
  }

  private pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', headers } = request;
    const onward = http.request(this.targetOf(request), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  private passSocket(request: IncomingMessage, near: Duplex, head: Buffer): void {
    const { hostname, port } = this.targetOf(request);
    const far = connect(Number(port), hostname);
    const { rawHeaders, method, url } = request;
    const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
    far.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    far.write(head);
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      this.sockets.add(socket);
      // A reset is passed on as an end; `close` follows it.
      socket.on('error', () => undefined).once('close', () => other.destroy());
      socket.pipe(other);
    }
  }
}
