import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { McpModuleOptions, McpSettings } from '../../src/mcp/index.js';
import { tokenOf } from './fake-identity.js';
import { type McpHost, startHost } from './host.js';

/** The MCP surface with clients to ask it. Credentials go by their names. */
export interface McpHarness extends McpHost {
  connect(name: string, mode: VersionNegotiationMode, query?: string): Promise<Client>;
  /** A plain request with the headers that the protocol asks for; `headers` come on top, null takes one away. */
  fetch(init: PlainRequest): Promise<Response>;
}

export interface PlainRequest {
  /** Name of the credential; without it the request carries none. */
  readonly as?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  readonly query?: string;
  readonly signal?: AbortSignal;
}

export async function startMcp(
  settings: Partial<McpSettings> = {},
  options: McpModuleOptions = {},
): Promise<McpHarness> {
  const host = await startHost({ ...options, settings });
  const clients: Client[] = [];
  return {
    ...host,
    connect: async (name, mode, query = '') => {
      const client = new Client({ name: 'spec', version: '1.0.0' }, { versionNegotiation: { mode } });
      clients.push(client);
      const requestInit = { headers: { authorization: `Bearer ${tokenOf(name)}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(host.url.href + query), { requestInit }));
      return client;
    },
    fetch: (init) => plainFetch(host.url, init),
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      await host.close();
    },
  };
}

function plainFetch(
  url: URL,
  { as, method = 'POST', headers = {}, body, query = '', signal }: PlainRequest,
): Promise<Response> {
  const all: Record<string, string | null> = {
    accept: 'application/json, text/event-stream',
    ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    ...(as ? { authorization: `Bearer ${tokenOf(as)}` } : {}),
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return fetch(url.href + query, {
    method,
    headers: sent,
    ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
