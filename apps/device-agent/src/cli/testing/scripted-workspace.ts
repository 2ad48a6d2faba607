import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { main } from '../main.js';

/** One request as it came. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What a request is answered; null for 404. */
export type Script = (request: SeenRequest) => ScriptedAnswer | null;

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An HTTP server that answers as a test tells it, and the command line that talks to it, in this process. */
export class ScriptedWorkspace implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  script: Script = () => null;
  /** Takes the sockets of the live channel; without it their requests are answered like all others. */
  takeSocket: ((socket: WebSocket) => void) | null = null;
  /** Variables of the command, beside where the workspace is and its credential. */
  environment: Readonly<Record<string, string>> = {};

  private readonly server: Server;
  private readonly sockets = new WebSocketServer({ noServer: true });

  private constructor() {
    this.server = createServer({ shouldUpgradeCallback: () => this.takeSocket !== null });
    this.server.on('request', (request, response) => void this.answer(request, response));
    this.server.on('upgrade', (request, socket: Socket, head) =>
      this.sockets.handleUpgrade(request, socket, head, (client) => this.takeSocket?.(client)),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<ScriptedWorkspace> {
    const workspace = new ScriptedWorkspace();
    const { server } = workspace;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return workspace;
  }

  /** Runs a command line against this workspace to its end. */
  async svc(...args: readonly string[]): Promise<CommandRun> {
    const before = process.env;
    // What the run of the tests is told is nothing to the command.
    process.env = Object.fromEntries(Object.entries(before).filter(([name]) => !name.startsWith('SVC_')));
    const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
    process.env['SVC_URL'] = this.url;
    process.env['SVC_TOKEN'] = 'svc_pat_test';
    Object.assign(process.env, this.environment);
    process.exitCode = undefined;
    try {
      await main(args);
      return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
    } finally {
      stdout.end();
      stderr.end();
      process.exitCode = undefined;
      process.env = before;
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    this.requests.push(seen);
    const answer = this.script(seen) ?? { status: 404, body: error('ROUTE_NOT_FOUND') };
    response.writeHead(answer.status ?? 200, answer.headers);
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** An error object as the workspace sends it. */
export function error(code: string, message = code): object {
  return { code, message, request_id: 'r' };
}

function capture(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const write = stream.write;
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    chunks.push(Buffer.from(chunk as string));
    const done = rest.at(-1) as (() => void) | string | undefined;
    if (typeof done === 'function') done();
    return true;
  };
  const end = (): void => {
    stream.write = write;
  };
  return { text: () => Buffer.concat(chunks).toString(), end };
}
