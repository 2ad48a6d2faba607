import { Agent, type IncomingMessage, request } from 'node:http';

/** Where an agent connects, and at which node. */
export interface McpAddress {
  readonly url: string;
  readonly token: string;
  readonly homeNodeId: string;
}

export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
}

const INITIALIZE = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'workspace-graph-bench', version: '1.0.0' },
  },
};

/** An agent of the handshake protocol that calls tools, one after the other. */
export class McpCaller {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly url: URL;
  private readonly token: string;
  private session: string | undefined;
  private sent = 0;

  constructor({ url, token, homeNodeId }: McpAddress) {
    this.url = new URL(`/mcp?home_node_id=${homeNodeId}`, url);
    this.token = token;
  }

  async open(): Promise<void> {
    const { incoming } = await this.send('POST', { jsonrpc: '2.0', id: this.sent++, ...INITIALIZE });
    const id = incoming.headers['mcp-session-id'];
    if (typeof id !== 'string') throw new Error('The handshake gave no session');
    this.session = id;
    await this.send('POST', { jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  /** @throws Error when the tool answers an error */
  async call({ name, input }: ToolCall): Promise<void> {
    const params = { name, arguments: input };
    const { text } = await this.send('POST', { jsonrpc: '2.0', id: this.sent++, method: 'tools/call', params });
    if (text.includes('"isError":true') || !text.includes('"result"')) throw new Error(`${name} answered ${text}`);
  }

  /** Ends the session; one that was idle for half an hour has ended already. */
  async close(): Promise<void> {
    await this.send('DELETE', undefined, [404]);
    this.agent.destroy();
  }

  private send(
    method: string,
    body?: object,
    accepted: readonly number[] = [],
  ): Promise<{ readonly incoming: IncomingMessage; readonly text: string }> {
    const headers = {
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.session !== undefined && { 'mcp-session-id': this.session }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(this.url, { method, agent: this.agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode = 0 } = incoming;
          if ((statusCode >= 200 && statusCode < 300) || accepted.includes(statusCode)) resolve({ incoming, text });
          else reject(new Error(`${method} /mcp answered ${statusCode}: ${text}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
  }
}
