import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { followHints } from './mcp-scope.js';
import type { RestClient } from './rest-client.js';

export const NEWEST = '2026-07-28';
export const ERAS: readonly (readonly [string, VersionNegotiationMode])[] = [
  ['handshake', 'legacy'],
  ['newest', { pin: NEWEST }],
];

/** A real MCP client with this credential, of one of the two eras of the protocol, which brings into its scope what it asks for. */
export async function connectMcp(
  { url, token }: RestClient,
  mode: VersionNegotiationMode,
  query: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = new Client({ name: 'spec', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`/mcp?${new URLSearchParams(query)}`, url), { requestInit }),
  );
  return followHints(client);
}

/** Calls a tool. Answers its structured result. @throws Error when it was refused */
export async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: input });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent as Record<string, unknown>;
}

/** What an open stream has told so far, and when it ended. */
export interface Stream {
  readonly text: () => string;
  /** Resolves with the time of the end, in milliseconds of `performance.now()`. */
  readonly ended: Promise<number>;
}

/** The address of the endpoint for an agent whose home node is that of a resource. */
const atHomeOf = (uri: string): string => `/mcp?home_node_id=${uri.replace('svc://node/', '')}`;

/** A stream of a session of the handshake protocol that watches the resource of its home node. */
export async function openSessionStream(
  client: RestClient,
  uri: string,
): Promise<Stream & { readonly sessionId: string }> {
  const path = atHomeOf(uri);
  const opened = await post(client, {
    path,
    body: request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'spec', version: '1' },
    }),
  });
  const sessionId = opened.headers.get('mcp-session-id') ?? '';
  await opened.text();
  const headers = { 'mcp-session-id': sessionId };
  await (await post(client, { path, headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })).text();
  const subscribed = await post(client, { path, headers, body: request('resources/subscribe', { uri }) });
  if (!subscribed.ok) throw new Error(`resources/subscribe: ${subscribed.status} ${await subscribed.text()}`);
  await subscribed.text();
  const stream = await client.fetch(path, { headers: { ...headers, accept: 'text/event-stream' } });
  return { ...follow(stream), sessionId };
}

/** The one stream of the newest protocol, watching the resource of its home node. */
export async function openListenStream(client: RestClient, uri: string): Promise<Stream> {
  const params = {
    notifications: { resourceSubscriptions: [uri], toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': NEWEST,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'spec', version: '1' },
    },
  };
  const headers = { 'mcp-protocol-version': NEWEST, 'mcp-method': 'subscriptions/listen' };
  const response = await post(client, {
    path: atHomeOf(uri),
    headers,
    body: request('subscriptions/listen', params),
  });
  if (!response.ok) throw new Error(`subscriptions/listen: ${response.status} ${await response.text()}`);
  return follow(response);
}

/** Asks a session for its tools. Answers the status. */
export async function statusOfSession(client: RestClient, sessionId: string): Promise<number> {
  const response = await post(client, { headers: { 'mcp-session-id': sessionId }, body: request('tools/list', {}) });
  await response.text();
  return response.status;
}

function request(method: string, params: Record<string, unknown>): Record<string, unknown> {
  return { jsonrpc: '2.0', id: 1, method, params };
}

function post(
  client: RestClient,
  { path = '/mcp', headers = {}, body }: { path?: string; headers?: Record<string, string>; body: unknown },
): Promise<Response> {
  const accept = 'application/json, text/event-stream';
  return client.fetch(path, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function follow(response: Response): Stream {
  let text = '';
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    const chunks: AsyncIterable<Uint8Array> | null = response.body;
    for await (const chunk of chunks ?? []) text += decoder.decode(chunk, { stream: true });
  };
  // However it ends, it has ended.
  const ended = read().then(
    () => performance.now(),
    () => performance.now(),
  );
  return { text: () => text, ended };
}
