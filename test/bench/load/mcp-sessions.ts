import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'workspace-graph-bench', version: '1.0.0' },
  },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

export interface OpenedSessions {
  /** Of each handshake: both requests of it. */
  readonly tookMs: Float64Array;
  readonly elapsedMs: number;
}

/** Many sessions of the handshake protocol at one endpoint. */
export class McpSessions {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly url: URL;
  private readonly token: string;
  private ids: string[] = [];
  private streams: ClientRequest[] = [];

  constructor(url: string, token: string) {
    this.url = new URL('/mcp', url);
    this.token = token;
  }

  /** Opens sessions, so many handshakes at a time. */
  async open(count: number, connections: number): Promise<OpenedSessions> {
    const tookMs: number[] = [];
    const startedMs = performance.now();
    let left = count;
    const openOneByOne = async (): Promise<void> => {
      while (left-- > 0) {
        const beganMs = performance.now();
        this.ids.push(await this.handshake());
        tookMs.push(performance.now() - beganMs);
      }
    };
    await Promise.all(Array.from({ length: connections }, openOneByOne));
    return { tookMs: Float64Array.from(tookMs), elapsedMs: performance.now() - startedMs };
  }

  /** Opens the stream on which each session hears from the server, as agents do. */
  async listen(): Promise<void> {
    for (const id of this.ids) this.streams.push(await this.openStream(id));
  }

  /** Ends every session. */
  async end(): Promise<void> {
    for (const stream of this.streams) stream.destroy();
    this.streams = [];
    for (const id of this.ids) await this.send('DELETE', { 'mcp-session-id': id });
    this.ids = [];
  }

  close(): void {
    for (const stream of this.streams) stream.destroy();
    this.agent.destroy();
  }

  private async handshake(): Promise<string> {
    const { headers } = await this.send('POST', {}, INITIALIZE);
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') throw new Error('The handshake gave no session');
    await this.send('POST', { 'mcp-session-id': id }, INITIALIZED);
    return id;
  }

  private send(method: string, headers: Record<string, string>, body?: object): Promise<IncomingMessage> {
    const text = body && JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = this.request(method, headers, this.agent);
      outgoing.on('response', (incoming) => {
        incoming.resume();
        incoming.on('end', () => (isSuccess(incoming) ? resolve(incoming) : reject(refusal(method, incoming))));
      });
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  private openStream(id: string): Promise<ClientRequest> {
    return new Promise((resolve, reject) => {
      const outgoing = this.request('GET', { 'mcp-session-id': id }, false);
      outgoing.on('response', (incoming) => {
        incoming.resume();
        // Destroying the request is how a stream ends here.
        incoming.on('error', () => undefined);
        if (isSuccess(incoming)) resolve(outgoing);
        else reject(refusal('GET', incoming));
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  private request(method: string, headers: Record<string, string>, agent: Agent | false): ClientRequest {
    return request(this.url, {
      method,
      agent,
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...headers,
      },
    });
  }
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function refusal(method: string, { statusCode }: IncomingMessage): Error {
  return new Error(`${method} /mcp answered ${statusCode}`);
}
