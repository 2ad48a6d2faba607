import type { CallToolResult, Client, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { getNode, LIMITS, OPERATIONS } from '@workspace-graph/contracts';
import { estimateTokens } from '@workspace-graph/domain';
import { type McpHarness, startMcp } from '../../test/mcp/harness.js';
import { ABSENT_ID, NETWORK_ID, ORG_ID, SECRET_ID } from '../../test/mcp/small-graph.js';
import { until } from '../../test/mcp/until.js';

const MODERN: VersionNegotiationMode = { pin: '2026-07-28' };

function errorOf(result: CallToolResult): Record<string, unknown> {
  const [first] = result.content;
  if (!result.isError || first?.type !== 'text') throw new Error('The call was expected to be refused');
  return JSON.parse(first.text) as Record<string, unknown>;
}

function textOf(result: CallToolResult): string {
  const [first] = result.content;
  return first?.type === 'text' ? first.text : '';
}

describe.each([
  ['handshake', 'legacy'],
  ['newest', MODERN],
] as const)('a client of the %s protocol [mcp.both-eras, mcp.streamable-http]', (_era, mode) => {
  let mcp: McpHarness;
  let client: Client;

  beforeAll(async () => {
    mcp = await startMcp();
    client = await mcp.connect('writer', mode);
  });
  afterAll(() => mcp.close());

  it('is told how to work with the graph in under 2 KB [mcp.instructions.size]', () => {
    const instructions = client.getInstructions() ?? '';
    expect(instructions).toContain('svc_get_context');
    expect(Buffer.byteLength(instructions)).toBeLessThan(2_048);
  });

  it('is told where files are, and to call svc_status at the end of a session that touched some [mcp.instructions.status-at-end]', () => {
    const instructions = client.getInstructions() ?? '';
    expect(instructions).toContain('local_path');
    expect(instructions).toMatch(/Before you end a session in which you changed files, call svc_status\./);
  });

  it('finds every operation meant for agents as a tool that says what it does and what it takes [mcp.tools.graph-complete, mcp.tools.schemas]', async () => {
    const manager = await mcp.connect('manager', mode);
    const { tools } = await manager.listTools();
    const bound = [...OPERATIONS.values()].flatMap(({ mcp }) => (mcp ? [mcp.tool] : []));
    expect(tools.map((tool) => tool.name).sort()).toEqual(bound.sort());
    for (const tool of tools) {
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.description).not.toBe('');
    }
  });

  it('sees only the tools that its scope may call', async () => {
    const reader = await mcp.connect('reader', mode);
    const names = (await reader.listTools()).tools.map((tool) => tool.name);
    expect(names).toContain('svc_get_node');
    expect(names).not.toContain('svc_log');
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('svc_log');
  });

  it('is refused a tool above its scope, which names the scope it needs [mcp.tools.filtered-by-scope, errors.mcp.is-error, errors.object.shape]', async () => {
    const before = mcp.graph.called.length;
    const result = await client.callTool({
      name: 'svc_create_node',
      arguments: { type: 'organization', name: 'Mine' },
    });
    expect(errorOf(result)).toEqual({
      code: 'FORBIDDEN',
      message: expect.any(String),
      details: { required_scope: 'manage' },
      request_id: expect.any(String),
    });
    expect(mcp.graph.called).toHaveLength(before);
  });

  it('gets a result as structured content that is what its operation answers, and as compact JSON [mcp.tools.schemas]', async () => {
    const result = await client.callTool({ name: 'svc_get_node', arguments: { node_id: NETWORK_ID } });
    expect(getNode.output.parse(result.structuredContent)).toMatchObject({ id: NETWORK_ID, name: 'SIG Network' });
    expect(textOf(result)).toBe(JSON.stringify(result.structuredContent));
  });

  it('reads a refusal as the error object with the field that is wrong [errors.mcp.is-error]', async () => {
    await client.listTools();
    const result = await client.callTool({ name: 'svc_get_node', arguments: { node_id: 7, deep: true } });
    const error = errorOf(result);
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', details: { issues: expect.any(Array) } });
    expect(JSON.stringify(error['details'])).toContain('node_id');
  });

  it('may name a node instead of giving its id [graph.node.named-by-reference]', async () => {
    const result = await client.callTool({ name: 'svc_get_node', arguments: { node_id: 'SIG Network' } });
    expect(result.structuredContent).toMatchObject({ id: NETWORK_ID });
    const hidden = await client.callTool({ name: 'svc_get_node', arguments: { node_id: 'Network secrets' } });
    expect(errorOf(hidden)).toMatchObject({ code: 'NODE_NOT_FOUND' });
    const { contents } = await client.readResource({ uri: 'svc://node/SIG%20Network' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ id: NETWORK_ID });
    for (const uri of ['svc://node/Network%20secrets', 'svc://node/%', 'svc://node/'])
      await expect(client.readResource({ uri })).rejects.toThrow(`Resource not found: ${uri}`);
  });

  it('gets a protocol error for a tool that does not exist', async () => {
    await expect(client.callTool({ name: 'svc_conquer', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('cannot tell a hidden node from an absent one, in any answer', async () => {
    const ask = async (id: string): Promise<string> => {
      const call = await client.callTool({ name: 'svc_get_node', arguments: { node_id: id } });
      const read = await client.readResource({ uri: `svc://node/${id}` }).catch((error: unknown) => error);
      const error = { ...errorOf(call), request_id: '' };
      return JSON.stringify([error, read, String(read)]).replaceAll(id, 'ID');
    };
    expect(await ask(SECRET_ID)).toBe(await ask(ABSENT_ID));
  });

  it('reads around its home node, which the URL names [mcp.session.home-node]', async () => {
    for (const named of [NETWORK_ID, 'SIG%20Network']) {
      const home = await mcp.connect('writer', mode, `?home_node_id=${named}`);
      const at = await home.callTool({ name: 'svc_get_context', arguments: {} });
      expect(at.structuredContent).toMatchObject({ node: { id: NETWORK_ID } });
    }
    const without = await client.callTool({ name: 'svc_get_context', arguments: {} });
    expect(errorOf(without)).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('finds resources that explain the model, the rules and the vocabulary [mcp.resources.model]', async () => {
    const { resources } = await client.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual([
      'svc://guide/model',
      'svc://guide/rules',
      'svc://guide/vocabulary',
    ]);
    const texts = await Promise.all(resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0]));
    for (const content of texts) {
      const text = content && 'text' in content ? content.text : '';
      expect(text).toMatch(/^# The /);
      expect(text).not.toMatch(/undefined|\[object/);
    }
  });

  it('reads a node as a resource', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map((template) => template.uriTemplate)).toEqual(['svc://node/{node_id}']);
    const { contents } = await client.readResource({ uri: `svc://node/${ORG_ID}` });
    expect(contents).toEqual([
      { uri: `svc://node/${ORG_ID}`, mimeType: 'application/json', text: expect.stringContaining('Kubernetes') },
    ]);
  });

  it('reads a node with much around it as a resource in part, and learns where the rest is', async () => {
    mcp.graph.eventCount = 2_000;
    const { contents } = await client.readResource({ uri: `svc://node/${ORG_ID}` });
    mcp.graph.eventCount = 1;
    const { text } = contents[0] as { text: string };
    expect(estimateTokens(text)).toBeLessThanOrEqual(LIMITS.tokensDefault);
    expect(JSON.parse(text)).toMatchObject({
      id: ORG_ID,
      left_out: {
        shortened: [expect.stringMatching(/^recent_events: at most /)],
        how_to_get:
          'svc_list_edges, svc_list_events and svc_list_files of the node; svc_get_node with a larger max_tokens',
      },
    });
  });

  it('completes ids by name, of visible nodes only [mcp.completions]', async () => {
    const ref = { type: 'ref/resource', uri: 'svc://node/{node_id}' } as const;
    const ask = async (from: Client) =>
      (await from.complete({ ref, argument: { name: 'node_id', value: 'network' } })).completion;
    expect(await ask(client)).toEqual({ values: [NETWORK_ID], total: 1, hasMore: false });
    expect((await ask(await mcp.connect('boss', mode))).values).toEqual([NETWORK_ID, SECRET_ID]);
    const unknown = client.complete({
      ref: { type: 'ref/prompt', name: 'sing' },
      argument: { name: 'song', value: '' },
    });
    await expect(unknown).rejects.toMatchObject({ code: -32602 });
  });

  it('is offered prompts, whose arguments complete as well', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map((prompt) => prompt.name)).toEqual(['orient', 'log_decision']);
    const orient = await client.getPrompt({ name: 'orient', arguments: { node_id: ORG_ID } });
    expect(JSON.stringify(orient.messages)).toContain(ORG_ID);
    await expect(client.getPrompt({ name: 'log_decision', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'orient' },
      argument: { name: 'node_id', value: 'kube' },
    });
    expect(completed.completion.values).toEqual([ORG_ID]);
  });

  it('is offered no prompt that leads to tools which its scope does not have', async () => {
    const reader = await mcp.connect('reader', mode);
    expect((await reader.listPrompts()).prompts.map(({ name }) => name)).toEqual(['orient']);
    const refused = reader.getPrompt({ name: 'log_decision', arguments: { node_id: ORG_ID, decision: 'Rye' } });
    await expect(refused).rejects.toMatchObject({
      code: -32602,
      data: { code: 'FORBIDDEN', details: { required_scope: 'write' } },
    });
  });

  it('gives a call up, and the operation behind it stops', async () => {
    mcp.graph.hanging.add('list_nodes');
    const controller = new AbortController();
    const call = client.callTool({ name: 'svc_list_nodes', arguments: {} }, { signal: controller.signal });
    await until(() => mcp.graph.called.includes('list_nodes'));
    controller.abort('enough');
    await expect(call).rejects.toThrow();
    await until(() => mcp.graph.aborted.includes('list_nodes'));
    await until(() => mcp.service.counts.calls === 0);
    mcp.graph.hanging.clear();
  });

  it('hears that a node it watches has changed, and nothing of nodes it may not see', async () => {
    const watcher = await mcp.connect('writer', mode);
    const heard: string[] = [];
    watcher.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const uris = [`svc://node/${NETWORK_ID}`, `svc://node/${SECRET_ID}`];
    if (mode === 'legacy') {
      await watcher.subscribeResource({ uri: uris[0] ?? '' });
      await expect(watcher.subscribeResource({ uri: uris[1] ?? '' })).rejects.toMatchObject({ code: -32602 });
    } else {
      await watcher.listen({ resourceSubscriptions: uris });
    }
    const unseen = { node_ids: [NETWORK_ID, SECRET_ID], action: 'connect' };
    await mcp.bus.publish({ type: 'graph.changed', id: '1', payload: unseen });
    const looks = mcp.graph.called.length;
    await until(() => mcp.graph.called.length > looks);
    for (const id of [NETWORK_ID, SECRET_ID, ORG_ID]) mcp.graph.edit(id);
    const seen = { node_ids: [NETWORK_ID, SECRET_ID, ORG_ID], action: 'update_node' };
    await mcp.bus.publish({ type: 'graph.changed', id: '2', payload: seen });
    await until(() => heard.length > 0);
    mcp.graph.edit(NETWORK_ID);
    await mcp.bus.publish({ type: 'graph.changed', id: '3', payload: { node_ids: [], action: 'run_import' } });
    await until(() => heard.length > 1);
    mcp.graph.edit(NETWORK_ID);
    await mcp.bus.publish({ type: 'access.changed', id: '4', payload: { node_ids: [ORG_ID] } });
    await until(() => heard.length > 2);
    expect(heard).toEqual([uris[0], uris[0], uris[0]]);
  });
});
