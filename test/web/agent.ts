import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { listNodeSessions, type Session } from '@workspace-graph/contracts';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { until } from './site.js';

/** An agent that is connected at a node, with its session. */
export class Agent implements AsyncDisposable {
  private constructor(
    private readonly client: Client,
    readonly session: Session,
  ) {}

  /** `name` is no other agent's of the node, by which its session is found. */
  static async connect(
    workspace: RunningWorkspace,
    token: string,
    nodeId: string,
    name = `agent ${randomUUID()}`,
  ): Promise<Agent> {
    const client = new Client({ name, version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const address = new URL(`${workspace.url}/mcp?home_node_id=${nodeId}`);
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
    let session: Session | undefined;
    await until('its session is there', async () => {
      const { items } = await workspace.call(listNodeSessions, { node_id: nodeId });
      session = items.find((one) => one.client?.name === name);
      return session !== undefined;
    });
    return new Agent(client, session as Session);
  }

  /** Calls a tool. @throws Error when it is refused */
  async call(name: string, input: Record<string, unknown> = {}): Promise<unknown> {
    const answer = await this.client.callTool({ name, arguments: input });
    if (answer.isError) throw new Error(`${name}: ${JSON.stringify(answer.content)}`);
    return answer.structuredContent;
  }

  say(text: string): Promise<unknown> {
    return this.call('svc_session_log', { text });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
