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

/**
 * Streamable HTTP of one session, with an answer for every request: also for one that is cancelled, whose id is
 * already in use, or whose session ends meanwhile. The library's own transport leaves those waiting forever.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  private readonly waiting = new Set<RequestId>();

  get busy(): boolean {
    return this.waiting.size > 0;
  }

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    const messages: unknown[] = Array.isArray(options.parsedBody) ? options.parsedBody : [options.parsedBody];
    const ids = messages.filter((message) => isJSONRPCRequest(message)).map((message) => message.id);
    if (ids.some((id) => this.waiting.has(id)) || new Set(ids).size < ids.length) {
      return rpcError(400, { code: -32600, message: 'A request with this id is already under way' });
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
    await super.send(message, options);
  }

  override async close(): Promise<void> {
    for (const id of this.waiting) await this.giveUp(id, 'The session has ended');
    await super.close();
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
