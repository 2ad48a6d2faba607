import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { rpcError } from './answers.js';
import { type Connection, runAs, statelessKeyOf, withinSession } from './connection.js';
import type { Exchange } from './exchange.js';
import type { NodeWatch } from './node-watch.js';
import type { ProtocolServer } from './session.js';
import type { StreamHub } from './stream-hub.js';

export interface StatelessLaneOptions {
  readonly maxStreams: number;
  readonly maxWatched: number;
  readonly keepAliveMs: number;
  readonly report: (error: unknown) => void;
}

const LISTEN = 'subscriptions/listen';

/** Serves the newest protocol: each request stands for itself, `subscriptions/listen` is the one that stays open. */
export class StatelessLane {
  private readonly handler: McpHttpHandler;

  constructor(
    createServer: () => ProtocolServer,
    private readonly hub: StreamHub,
    private readonly nodes: Pick<NodeWatch, 'look'>,
    private readonly options: StatelessLaneOptions,
  ) {
    const { maxStreams, keepAliveMs, report } = options;
    this.handler = createMcpHandler(createServer, {
      legacy: 'reject',
      bus: hub,
      maxSubscriptions: maxStreams,
      keepAliveMs,
      onerror: report,
    });
  }

  async serve(exchange: Exchange, request: Request, message: unknown): Promise<Response> {
    const { connection } = exchange;
    this.hub.noteScope(connection);
    if (field(message, 'method') === LISTEN && this.hub.countOf(connection.caller) >= this.options.maxStreams / 2) {
      return rpcError(
        503,
        { code: -32000, message: 'This user has the maximum number of open streams' },
        idOf(message),
      );
    }
    const watching = watchedBy(message);
    if (watching.length > this.options.maxWatched) {
      return rpcError(
        400,
        { code: -32602, message: `A stream watches at most ${this.options.maxWatched} resources` },
        idOf(message),
      );
    }
    const within = withinSession(connection, statelessKeyOf(connection.caller));
    const asking: Connection = { ...within, watching: await this.nodes.look(watching, within) };
    return runAs(asking, () => this.handler.fetch(request, { parsedBody: message }));
  }

  /** Ends open streams with their last message, and calls that are still under way. */
  async close(): Promise<void> {
    await this.handler.close();
  }
}

/** URIs that a `subscriptions/listen` asks for; the library checks the request itself. */
function watchedBy(message: unknown): readonly string[] {
  const uris = field(field(field(message, 'params'), 'notifications'), 'resourceSubscriptions');
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

function idOf(message: unknown): string | number | null {
  const id = field(message, 'id');
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
