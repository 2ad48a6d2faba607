import type { McpHarness } from './harness.js';

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'spec', version: '1.0.0' } },
} as const;

export const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;

/** Opens a session by hand. Answers its id. */
export async function openSession(mcp: McpHarness, as: string, query = ''): Promise<string> {
  const response = await mcp.fetch({ as, body: INITIALIZE, query });
  const id = response.headers.get('mcp-session-id');
  await response.text();
  if (!response.ok || !id) throw new Error(`The handshake was answered with ${response.status}`);
  const done = await mcp.fetch({
    as,
    headers: { 'mcp-session-id': id },
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  });
  await done.text();
  return id;
}

/** A request of the newest protocol, with the envelope and the headers that it asks for. */
export function modern(method: string, params: Record<string, unknown> = {}, name?: string) {
  const revision = '2026-07-28';
  return {
    headers: { 'mcp-protocol-version': revision, 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) },
    body: {
      jsonrpc: '2.0',
      id: 7,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': revision,
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'spec', version: '1.0.0' },
        },
      },
    },
  };
}

/** Reads a stream to its end. `text` is what has come so far; `ended` resolves at the end, however it comes. */
export function follow(response: Response): { readonly text: () => string; readonly ended: Promise<void> } {
  let text = '';
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    if (!response.body) return;
    const chunks: AsyncIterable<Uint8Array> = response.body;
    for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  };
  const ended = read().catch((error: unknown) => {
    text += String(error);
  });
  return { text: () => text, ended };
}
