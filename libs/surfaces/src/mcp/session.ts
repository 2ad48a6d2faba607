import { randomUUID } from 'node:crypto';
import { McpServer, ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Scope, SuspendReason } from '@workspace-graph/contracts';
import { type Connection, holderOf, type WatchedNode } from './connection.js';
import type { NodeWatch, Watcher } from './node-watch.js';
import type { Watching } from './protocol-servers.js';
import { SessionTransport } from './session-transport.js';

export type ProtocolServer = Server | McpServer;

export interface SessionOptions {
  /** False: replies are streams, so that notifications about a call can precede its result. */
  readonly jsonReplies: boolean;
  readonly keepAliveMs: number;
  readonly maxWatched: number;
  /** Takes what goes wrong behind the client's back. */
  readonly report: (error: unknown) => void;
}

/** One session of a handshake protocol. It belongs to the credential that opened it. */
export class Session implements Watching, Watcher {
  readonly id = randomUUID();
  readonly holder: string;
  lastUsedMs = performance.now();
  /** Why it ends, once it does. */
  endReason: SuspendReason = 'disconnect';
  /** Whether its client has ever listened. */
  private hasListened = false;
  private readonly transport: SessionTransport;
  private readonly watched = new Map<string, () => void>();
  private server: Server | undefined;
  private streams = 0;
  private scope: Scope;

  constructor(
    public connection: Connection,
    private readonly options: SessionOptions,
    private readonly nodes: NodeWatch,
  ) {
    this.holder = holderOf(connection.caller);
    this.scope = connection.caller.scope;
    this.transport = new SessionTransport({
      sessionId: () => this.id,
      jsonReplies: options.jsonReplies,
      keepAliveMs: options.keepAliveMs,
    });
  }

  /** The handshake was accepted: the client knows this session's id. */
  get opened(): boolean {
    return this.transport.sessionId !== undefined;
  }

  get busy(): boolean {
    return this.streams > 0 || this.transport.busy;
  }

  /** Whether its client, which listened, has been gone since before that time. */
  isDropped(sinceMs: number): boolean {
    return this.hasListened && !this.busy && this.lastUsedMs < sinceMs;
  }

  get listening(): boolean {
    return this.streams > 0;
  }

  async connect(product: ProtocolServer, onClose: () => void): Promise<void> {
    this.server = product instanceof McpServer ? product.server : product;
    this.server.onclose = () => {
      for (const uri of this.watched.keys()) this.unwatch(uri);
      onClose();
    };
    await product.connect(this.transport);
  }

  /** Serves one HTTP request. `connection` is the authenticated one of that request. */
  async handle(connection: Connection, request: Request, parsedBody?: unknown): Promise<Response> {
    this.connection = connection;
    this.lastUsedMs = performance.now();
    await this.noteScope(connection.caller.scope);
    return this.transport.handleRequest(request, { parsedBody });
  }

  /**
   * Keeps the session from counting as idle while a stream is open, which hears of what has changed while there was none.
   * Returns the function that ends this.
   */
  keepOpen(): () => void {
    this.streams += 1;
    this.hasListened = true;
    this.nodes.lookAgain(this.watched.keys());
    return () => {
      this.streams -= 1;
      this.lastUsedMs = performance.now();
    };
  }

  /** Closes once the calls under way are answered, or after `timeoutMs`. */
  async closeWhenQuiet(timeoutMs: number): Promise<void> {
    await this.transport.quiet(timeoutMs);
    await this.close();
  }

  async close(): Promise<void> {
    await this.transport.close();
  }

  watch(node: WatchedNode): void {
    const { uri } = node;
    if (this.watched.size >= this.options.maxWatched && !this.watched.has(uri)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `A session watches at most ${this.options.maxWatched} resources`,
      );
    }
    this.unwatch(uri);
    this.watched.set(uri, this.nodes.watch(node, this));
  }

  unwatch(uri: string): void {
    this.watched.get(uri)?.();
    this.watched.delete(uri);
    this.transport.forget(uri);
  }

  changed(uri: string): void {
    this.server?.sendResourceUpdated({ uri }).catch(this.options.report);
  }

  private async noteScope(scope: Scope): Promise<void> {
    if (scope === this.scope) return;
    this.scope = scope;
    await this.server?.sendToolListChanged();
    await this.server?.sendPromptListChanged();
  }
}
