import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import {
  createGroup,
  createToken,
  createUser,
  LIMITS,
  listNodes,
  OPERATIONS,
  revokeToken,
  type Scope,
} from '@workspace-graph/contracts';
import { inPackage, runProgram } from '@workspace-graph/surfaces/testing';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { LOOKS_OF_A_SECOND, looksUntilSettled } from '../central/looks.js';
import { callTool, connectMcp, ERAS, openListenStream, openSessionStream } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { factsOf } from './document-facts.js';
import {
  type CallTool,
  remoteTools,
  useAccessTools,
  useFileTools,
  useNodeTools,
  usePartTools,
  usePeopleTools,
  useReadingTools,
  useSessionTools,
} from './every-tool.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const DEMO = join(import.meta.dirname, '../../apps/device-agent/demo/linden-bakery.json');
const SAMPLE = process.env['SVC_TEST_SAMPLE'];
const DOCUMENTS = [
  { document: DEMO, node: 'Bakehouse' },
  ...(SAMPLE ? [{ document: SAMPLE, node: 'SIG Network' }] : []),
];
const INSPECTOR = inPackage('@modelcontextprotocol/inspector', 'clients', 'launcher', 'build', 'index.js');

const folder = new WorkspaceFolder({ isStarted: true });
let owner: RestClient;

beforeAll(async () => {
  const { url } = await folder.start();
  owner = new RestClient(url, folder.token);
  for (const { document } of DOCUMENTS) {
    const imported = await folder.svc(['import', document, '--json']);
    expect(imported).toMatchObject({ code: 0 });
  }
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** Somebody new, with a token of this scope. */
async function newcomer(name: string, scope: Scope): Promise<RestClient & { readonly tokenId: string }> {
  const user = await owner.call(createUser, { name, max_scope: scope });
  const made = await owner.call(createToken, { label: name, scope, user_id: user.id });
  return Object.assign(new RestClient(owner.url, made.secret), { tokenId: made.token.id });
}

/** A result, held against what its operation declares; `left_out` is the surface's own. */
function asDeclared(tool: string, result: Record<string, unknown>): Record<string, unknown> {
  const output = [...OPERATIONS.values()].find(({ mcp }) => mcp?.tool === tool)?.output;
  const { left_out: _ofTheSurface, ...answer } = result;
  const error = output?.safeParse(result).error && output.safeParse(answer).error;
  expect([tool, error?.issues ?? []]).toEqual([tool, []]);
  return result;
}

async function idOfNode(name: string): Promise<string> {
  const { items } = await owner.call(listNodes, { scope: 'global', query: name });
  return items.find((node) => node.name === name)?.id ?? '';
}

/** A node with long texts and events, every other one long. */
async function longNode(agent: Client, name: string): Promise<{ node_id: string; logged: readonly unknown[] }> {
  const { id: organization_id } = await callTool(agent, 'svc_create_node', { type: 'organization', name });
  const long = 'Feed the sourdough at five in the morning. '.repeat(LIMITS.textLength / 43);
  const input = { type: 'area', name: `${name}: area`, organization_id, description: long, goal: long };
  const node_id = String((await callTool(agent, 'svc_create_node', input))['id']);
  const logged: unknown[] = [];
  for (let place = 0; place < 12; place += 1) {
    const content = `${place} ${'Feed the sourdough. '.repeat(place % 2 === 0 ? LIMITS.textLength / 20 - 2 : 1)}`;
    logged.push((await callTool(agent, 'svc_log', { node_id, kind: 'note', content }))['id']);
  }
  return { node_id, logged };
}

async function tokensIn(agent: Client, tool: string, input: Record<string, unknown>): Promise<number> {
  return countTokens(JSON.stringify(await callTool(agent, tool, input)));
}

/** Ids of events, page by page. */
async function pagedIds(agent: Client, input: Record<string, unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let cursor: unknown = undefined; cursor !== null; ) {
    const page = await callTool(agent, 'svc_list_events', { ...input, ...(cursor ? { cursor } : {}) });
    seen.push(...(page['items'] as { id: string }[]).map(({ id }) => id));
    cursor = page['next_cursor'];
  }
  return seen;
}

const atMost = (most: number): unknown => ({
  asymmetricMatch: (tokens: unknown) => typeof tokens === 'number' && tokens <= most,
  toString: () => `at most ${most}`,
});

describe.each(ERAS)('an agent of the %s protocol', (era, mode) => {
  let agent: Client;
  beforeAll(async () => {
    agent = await connectMcp(owner, mode);
  });
  afterAll(() => agent.close());

  it('calls every tool, and none takes an input that does not fit [mcp.tools.schemas, mcp.tools.graph-complete, mcp.tools.cost, mcp.tools.useful-only, errors.mcp.is-error, mcp.streamable-http]', async () => {
    const { tools } = await agent.listTools();
    const used = new Set<string>();
    const call: CallTool = async (name, input) =>
      asDeclared(name, await callTool(agent, used.add(name) && name, input));
    const asker = await connectMcp(await newcomer(`Asker ${era}`, 'write'), mode);
    const area = await useNodeTools(call, `Tools of the ${era} protocol`);
    await useSessionTools(call, area);
    await usePartTools(call, area);
    await useReadingTools(call, area);
    await owner.call(createGroup, { name: `Readers of the ${era} protocol` });
    await usePeopleTools(call, `Readers of the ${era} protocol`);
    await useFileTools(call, area);
    for (const [name, input] of remoteTools(area)) {
      const refused = await agent.callTool({ name, arguments: input });
      expect([used.add(name) && name, errorIn(refused)]).toMatchObject([name, { code: 'LOCAL_MODE_NO_REMOTE' }]);
    }
    await useAccessTools(call, area, (name, input) => callTool(asker, used.add(name) && name, input));
    await asker.close();
    expect(tools.map((tool) => tool.name).filter((name) => !used.has(name))).toEqual([]);
    expect(tools.map((tool) => tool.name)).not.toContain('svc_setup_remote');
    expect(countTokens(JSON.stringify(tools))).toBeLessThan(15_000);
    for (const { name } of tools) {
      const refused = await agent.callTool({ name, arguments: { nope: true } });
      expect([name, refused.isError, errorIn(refused)]).toMatchObject([name, true, { code: 'VALIDATION_FAILED' }]);
    }
  });

  it('completes the ids of nodes from parts of their names [mcp.completions]', async () => {
    const complete = async (value: string) =>
      (
        await agent.complete({
          ref: { type: 'ref/resource', uri: 'svc://node/{node_id}' },
          argument: { name: 'node_id', value },
        })
      ).completion;
    expect((await complete('bakeh')).values).toEqual([await idOfNode('Bakehouse')]);
    expect((await complete('ÖVEN')).values).toContain(await idOfNode('Second oven'));
    expect(await complete('no such name')).toMatchObject({ values: [], total: 0 });
  });

  it('reads within max_tokens, and pages on to all that there is [mcp.tools.max-tokens, graph.context.says-what-is-left-out]', async () => {
    const { node_id, logged } = await longNode(agent, `Long ${era}`);
    for (const [tool, input] of [
      ['svc_get_node', { node_id }],
      ['svc_get_overview', {}],
      ['svc_list_events', { node_id }],
      ['svc_list_nodes', { scope: 'global', limit: 500 }],
      ['svc_search', { query: 'long' }],
    ] as const) {
      expect([tool, await tokensIn(agent, tool, input)]).toEqual([tool, atMost(LIMITS.tokensDefault * 1.1)]);
      expect([tool, await tokensIn(agent, tool, { ...input, max_tokens: 2_000 })]).toEqual([tool, atMost(2_200)]);
    }
    const written = { kind: 'handoff', title: 'Long', text: 'Feed the sourdough at five. '.repeat(3_500) };
    await callTool(agent, 'svc_session_log', written);
    const { session } = (await callTool(agent, 'svc_session_init', {})) as { session: { id: string } };
    const log = { session_id: session.id, newest: true };
    expect(await tokensIn(agent, 'svc_session_init', {})).toEqual(atMost(LIMITS.tokensDefault * 1.1));
    expect(await tokensIn(agent, 'svc_list_session_events', log)).toEqual(atMost(LIMITS.tokensDefault * 1.1));
    expect(await tokensIn(agent, 'svc_archive_node', { node_id })).toEqual(atMost(LIMITS.tokensDefault * 1.1));
    expect(await callTool(agent, 'svc_restore_node', { node_id })).toMatchObject({
      left_out: { how_to_get: 'svc_get_node' },
    });
    expect(await callTool(agent, 'svc_get_node', { node_id })).toMatchObject({
      left_out: { shortened: expect.arrayContaining([expect.stringContaining('description')]) },
    });
    const whole = await callTool(agent, 'svc_get_node', { node_id, max_tokens: LIMITS.tokensMax });
    expect(whole).not.toHaveProperty('left_out');
    expect(await pagedIds(agent, { node_id, max_tokens: 9_000 })).toEqual(logged.toReversed());
    const refused = await agent.callTool({ name: 'svc_get_node', arguments: { node_id, max_tokens: 10 } });
    expect(errorIn(refused)).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { issues: [{ path: 'max_tokens' }] },
    });
  });

  it('starts from the home node that its URL names [mcp.session.home-node]', async () => {
    const home = await idOfNode('Bakehouse');
    const atHome = await connectMcp(owner, mode, { home_node_id: home });
    expect(await callTool(atHome, 'svc_get_context', {})).toMatchObject({ node: { id: home } });
    const near = (await callTool(atHome, 'svc_list_nodes', {})) as { items: { name: string }[] };
    expect(near.items.map((node) => node.name)).toContain('Second oven');
    expect(near.items.map((node) => node.name)).not.toContain('Shop');
    const all = (await callTool(atHome, 'svc_list_nodes', { scope: 'global', limit: 500 })) as { items: object[] };
    expect(all.items.length).toBeGreaterThan(near.items.length);
    await atHome.close();
    const homeless = await connectMcp(await newcomer(`Homeless ${era}`, 'read'), mode);
    const refused = await homeless.callTool({ name: 'svc_get_context', arguments: {} });
    expect(errorIn(refused)).toMatchObject({ code: 'VALIDATION_FAILED' });
    await homeless.close();
  });

  it('is offered and allowed what its credential allows [mcp.tools.filtered-by-scope, access.scope.ladder]', async () => {
    const reader = await connectMcp(await newcomer(`Reader ${era}`, 'read'), mode);
    const offered = (await reader.listTools()).tools;
    const all = (await agent.listTools()).tools;
    const names = offered.map((tool) => tool.name);
    expect(names).toContain('svc_get_context');
    expect(names.filter((name) => /create_node|update_node|purge|set_access|_log$/.test(name))).toEqual([]);
    expect(all.length).toBeGreaterThan(offered.length);
    const refused = await reader.callTool({
      name: 'svc_create_node',
      arguments: { type: 'organization', name: 'Not mine to make' },
    });
    expect(errorIn(refused)).toMatchObject({ code: 'FORBIDDEN', details: { required_scope: 'manage' } });
    await reader.close();
  });

  it('reads what explains the graph [mcp.resources.model]', async () => {
    const { resources } = await agent.listResources();
    const read = resources.map(async ({ uri }) => JSON.stringify(await agent.readResource({ uri })));
    for (const text of await Promise.all(read)) expect(text.length).toBeGreaterThan(500);
    expect(Buffer.byteLength(agent.getInstructions() ?? '')).toBeLessThan(2_048);
  });
});

describe('streams of a credential that is revoked', () => {
  it('end within a second, in both eras [access.revoke.within-a-second, identity.token.revoked-refused]', async () => {
    const leaver = await newcomer('Leaver', 'read');
    const uri = `svc://node/${await idOfNode('Bakehouse')}`;
    const streams = [await openSessionStream(leaver, uri), await openListenStream(leaver, uri)];
    const ends = streams.map((stream) => stream.ended);
    const looks = looksUntilSettled('both streams end', ends);
    await owner.call(revokeToken, { token_id: leaver.tokenId });
    expect(await looks).toBeLessThan(LOOKS_OF_A_SECOND);
    expect((await leaver.fetch('/overview')).status).toBe(401);
  });
});

describe.each(['legacy', 'modern'])("the inspector's command line, speaking the %s protocol", (era) => {
  const inspect = async (query: string, ...args: readonly string[]): Promise<unknown> => {
    const connection = ['--cli', `${owner.url}/mcp${query}`, '--transport', 'http', '--protocol-era', era];
    const credential = ['--header', `Authorization: Bearer ${owner.token}`, '--format', 'json'];
    const { exitCode, stdout, stderr } = await runProgram(INSPECTOR, [...connection, ...credential, ...args]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return (JSON.parse(stdout) as { result: unknown }).result;
  };

  it.each(DOCUMENTS)('shows what the document says of $node [mcp.both-eras]', async ({ document, node }) => {
    const facts = factsOf(document, node);
    const home = `?home_node_id=${await idOfNode(node)}`;
    const result = await inspect(home, '--method', 'tools/call', '--tool-name', 'svc_get_context');
    const context = (result as { structuredContent: SeenContext }).structuredContent;
    expect(context.node.responsibilities.map(({ title }) => title)).toEqual(facts.responsibilities);
    const parts = context.node.edges.items.filter(
      ({ direction, relation }) => direction === 'incoming' && relation === 'belongs_to',
    );
    expect(parts.map((edge) => edge.node.name).sort()).toEqual(facts.parts);
    const events = [context.node, ...context.details].flatMap(({ recent_events }) => recent_events);
    const milestones = events.filter(({ kind }) => kind === 'milestone').map(({ content }) => content);
    expect(milestones).toEqual(expect.arrayContaining([...facts.milestones]));
    expect(facts.milestones.length).toBeGreaterThan(0);
  });

  it('has nothing to object to in the tools', async () => {
    const { tools } = (await inspect('', '--method', 'tools/list', '--strict')) as { tools: unknown[] };
    expect(tools.length).toBeGreaterThan(30);
  });
});

interface SeenNode {
  readonly recent_events: readonly { readonly kind: string; readonly content: string }[];
}

interface SeenContext {
  readonly node: SeenNode & {
    readonly responsibilities: readonly { readonly title: string }[];
    readonly edges: {
      readonly items: readonly {
        readonly direction: string;
        readonly relation: string;
        readonly node: { name: string };
      }[];
    };
  };
  readonly details: readonly SeenNode[];
}

/** The error object of a refused call. */
function errorIn({ content }: { readonly content: readonly { readonly type: string }[] }): unknown {
  const [first] = content as readonly { readonly text?: string }[];
  return JSON.parse(first?.text ?? 'null');
}
