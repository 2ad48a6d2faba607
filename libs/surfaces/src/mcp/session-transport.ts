import {
  type HandleRequestOptions,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { rpcError } from './answers.js';
import { inHandshakeTerms } from './protocol-errors.js';
import { SessionNotices } from './session-notices.js';

const LAST_EVENT = 'last-event-id';
const BEFORE_THE_FIRST = '0';

export interface SessionTransportOptions {
  readonly sessionId: () => string;
  /** False: replies are streams; then a stream that was lost is not made up for. */
  readonly jsonReplies: boolean;
  readonly keepAliveMs: number;
}

/**
 * Streamable HTTP of one session, with an answer for every request: also for one that is cancelled, whose id is
 * already in use, or whose session ends meanwhile. The library's own transport leaves those waiting forever. A client
 * that comes back for notifications is told what it may have missed.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  private readonly waiting = new Set<RequestId>();
  private readonly notices: SessionNotices;
  private onQuiet: (() => void) | undefined;

  constructor({ sessionId, jsonReplies, keepAliveMs }: SessionTransportOptions) {
    const notices = new SessionNotices();
    super({
      sessionIdGenerator: sessionId,
      enableJsonResponse: jsonReplies,
      keepAliveMs,
      ...(jsonReplies ? { eventStore: notices } : {}),
    });
    this.notices = notices;
  }

  get busy(): boolean {
    return this.waiting.size > 0;
  }

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    if (request.method === 'GET') return this.openStream(request);
    const messages: unknown[] = Array.isArray(options.parsedBody) ? options.parsedBody : [options.parsedBody];
    const ids = messages.filter((message) => isJSONRPCRequest(message)).map((message) => message.id);
    if (ids.some((id) => this.waiting.has(id)) || new Set(ids).size < ids.length) {
      return rpcError(400, { code: -32600, message: 'A request with this id is already running' });
    }
    for (const id of ids) this.waiting.add(id);
    const response = await super.handleRequest(request, options);
    if (!response.ok) for (const id of ids) this.waiting.delete(id);
    else await this.giveUpCancelled(messages);
    return response;
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      if (message.id === undefined || !this.waiting.delete(message.id)) return;
    }
    await super.send(inHandshakeTerms(message), options);
    if (!this.busy) this.onQuiet?.();
  }

  /** Resolves when no request waits for its answer, or after `timeoutMs`. */
  async quiet(timeoutMs: number): Promise<void> {
    if (!this.busy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onQuiet = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }

  /** Nothing more is told of this resource, not even what the client has missed. */
  forget(uri: string): void {
    this.notices.forget(uri);
  }

  override async close(): Promise<void> {
    for (const id of this.waiting)
      await this.giveUp(
        id,
        'The session has ended; a change that was under way may have been made, so look before you repeat it',
      );
    await super.close();
  }

  /** The newest stream takes the place of one before, which its client has lost even if nobody noticed that here. */
  private async openStream(request: Request): Promise<Response> {
    this.closeStandaloneSSEStream();
    const headers = new Headers(request.headers);
    if (this.notices.empty) headers.delete(LAST_EVENT);
    else if (!headers.has(LAST_EVENT)) headers.set(LAST_EVENT, BEFORE_THE_FIRST);
    return super.handleRequest(new Request(request, { headers }));
  }

  private async giveUpCancelled(messages: readonly unknown[]): Promise<void> {
    for (const message of messages) {
      if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') continue;
      const id = message.params?.['requestId'];
      if (typeof id === 'string' || typeof id === 'number') await this.giveUp(id, 'The request was cancelled');
    }
  }

  private async giveUp(id: RequestId, message: string): Promise<void> {
    await this.send({ jsonrpc: '2.0', id, error: { code: -32000, message } });
  }
}
