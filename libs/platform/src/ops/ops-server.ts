import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Secret } from '../config/index.js';
import type { Health } from '../health/index.js';
import { type Metrics, mayReadMetrics } from '../metrics/index.js';

/** Options of the server for health checks and metrics. */
export interface OpsServerOptions {
  /** Address to listen on. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Answers `/health/ready`. */
  readonly health: Health;
  /** Content of `/metrics`. */
  readonly metrics: Metrics;
  /** Bearer token for `/metrics`. Without it only this machine may read them. */
  readonly metricsToken?: Secret;
}

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const JSON_TYPE = { ...HEADERS, 'content-type': 'application/json; charset=utf-8' };

/** `/health/live`, `/health/ready` and `/metrics` of a process that has no public edge. */
export class OpsServer {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @throws the system's error when the address cannot be listened on */
  static listen(options: OpsServerOptions): Promise<OpsServer> {
    const server = createServer((request, response) => void answer(options, request, response));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, () => {
        const { address, port, family } = server.address() as AddressInfo;
        resolve(new OpsServer(server, `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`));
      });
    });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

async function answer(options: OpsServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET') return end(response, 405, 'method not allowed');
  switch (request.url) {
    case '/health/live':
      return end(response, 200, 'ok');
    case '/health/ready':
      return (await options.health.ready()) ? end(response, 200, 'ok') : end(response, 503, 'unavailable');
    case '/metrics':
      return answerMetrics(options, request, response);
    default:
      return end(response, 404, 'not found');
  }
}

async function answerMetrics(
  { metrics, metricsToken }: OpsServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const allowed = mayReadMetrics(
    { remoteAddress: request.socket.remoteAddress, headers: request.headers },
    metricsToken,
  );
  if (!allowed) return end(response, 401, 'unauthenticated');
  response.writeHead(200, { ...HEADERS, 'content-type': metrics.contentType }).end(await metrics.text());
}

function end(response: ServerResponse, statusCode: number, status: string): void {
  response.writeHead(statusCode, JSON_TYPE).end(JSON.stringify({ status }));
}
