import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Operation } from '@workspace-graph/contracts';
import { followHints } from '../central/mcp-scope.js';
import type { RestClient } from '../central/rest-client.js';
import type { Told } from './surface.js';

const NODE_TEMPLATE = 'svc://node/{node_id}';

/** A real MCP client with the credential of a role; everything it gets is kept as text. */
export class McpSpeaker implements AsyncDisposable {
  /** URIs of the resources that were told to have changed, in their order. */
  readonly heard: string[] = [];

  /** What it was refused for want of scope, before it asked for that. */
  private readonly refused: string[] = [];

  private constructor(
    private readonly client: Client,
    private readonly era: 'legacy' | 'newest',
  ) {
    followHints(client, (refusal) => void this.refused.push(refusal));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void this.heard.push(params.uri));
  }

  static async connect(
    { url, token }: RestClient,
    mode: VersionNegotiationMode,
    query: Readonly<Record<string, string>> = {},
  ): Promise<McpSpeaker> {
    const client = new Client({ name: 'spec', version: '1.0.0' }, { versionNegotiation: { mode } });
    const speaker = new McpSpeaker(client, mode === 'legacy' ? 'legacy' : 'newest');
    const address = new URL(`/mcp?${new URLSearchParams(query)}`, url);
    const requestInit = { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'request' } };
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
    return speaker;
  }

  /** Calls the tool of an operation. The text content and the structured one must say the same. */
  async callTool(operation: Operation, input: Record<string, unknown>): Promise<Told> {
    const name = operation.mcp?.tool ?? '';
    const { content, ...result } = await this.client.callTool({ name, arguments: input });
    const said = content.map((item): unknown => (item.type === 'text' ? JSON.parse(item.text) : item));
    if (result.structuredContent) expect(said).toEqual([result.structuredContent]);
    const refused = this.refused.splice(0);
    return {
      text: JSON.stringify({ ...result, said, refused }),
      value: result.isError ? undefined : result.structuredContent,
    };
  }

  listTools(): Promise<string> {
    return asText(this.client.listTools());
  }

  listResources(): Promise<string> {
    return asText(Promise.all([this.client.listResources(), this.client.listResourceTemplates()]));
  }

  read(nodeId: string): Promise<string> {
    return asText(this.client.readResource({ uri: uriOf(nodeId) }));
  }

  /** Ids offered for the beginning of a name, for the resource of a node and for a prompt. */
  complete(value: string): Promise<string> {
    const argument = { name: 'node_id', value };
    return asText(
      Promise.all([
        this.client.complete({ ref: { type: 'ref/resource', uri: NODE_TEMPLATE }, argument }),
        this.client.complete({ ref: { type: 'ref/prompt', name: 'orient' }, argument }),
      ]),
    );
  }

  /** Watches nodes, in the way of the era. Answers what was said to it. */
  async watch(nodeIds: readonly string[]): Promise<string> {
    const uris = nodeIds.map(uriOf);
    if (this.era === 'newest')
      return asText(this.client.listen({ resourceSubscriptions: uris }).then(({ honoredFilter }) => honoredFilter));
    return (await Promise.all(uris.map((uri) => asText(this.client.subscribeResource({ uri }))))).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

export function uriOf(nodeId: string): string {
  return NODE_TEMPLATE.replace('{node_id}', nodeId);
}

/** A refusal is an answer like any other. */
async function asText(answer: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await answer);
  } catch (error) {
    const { message, code, data } = error as Error & { code?: unknown; data?: unknown };
    return JSON.stringify({ message, code, data });
  }
}
