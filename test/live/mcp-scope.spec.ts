import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import {
  addToSessionScope,
  connect,
  getSessionScope,
  listAudit,
  listSessionEvents,
  listSessions,
  reviewScope,
} from '@workspace-graph/contracts';
import { LiveWorld, type Person } from './live-world.js';

const ERAS = [
  ['with a handshake', 'legacy'],
  ['without one', 'auto'],
] as const satisfies (readonly [string, VersionNegotiationMode])[];

let world: LiveWorld;
let owner: Person;
const clients: Client[] = [];
beforeAll(async () => {
  world = await LiveWorld.start();
});
beforeEach(async () => {
  owner = await world.person(`Olga ${Math.random()}`, 'write');
});
afterEach(() => Promise.allSettled(clients.splice(0).map((client) => client.close())));
afterAll(() => world[Symbol.asyncDispose]());

interface Answer {
  readonly isError: boolean;
  /** The structured answer, or the body of the error. */
  readonly body: Record<string, unknown>;
}

/** A real client of the protocol that calls tools. */
async function agent(
  mode: VersionNegotiationMode,
  query = '',
): Promise<(tool: string, input?: Record<string, unknown>) => Promise<Answer>> {
  const client = new Client({ name: 'spec-agent', version: '1.2.3' }, { versionNegotiation: { mode } });
  clients.push(client);
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp${query}`), { requestInit }));
  return async (name, input = {}) => {
    const { isError, content } = await client.callTool({ name, arguments: input });
    const [first] = content;
    if (first?.type !== 'text') throw new Error(`${name} answered no text`);
    return { isError: isError ?? false, body: JSON.parse(first.text) as Record<string, unknown> };
  };
}

/** Home is joined to near, near to far, and nothing to the island. */
async function map(): Promise<Record<'home' | 'near' | 'far' | 'island', string>> {
  const [home, near, far, island] = await Promise.all(
    ['Home', 'Near', 'Far', 'Island'].map(async (name) => (await world.node(`${name} ${Math.random()}`)).id),
  );
  const nodes = { home: home ?? '', near: near ?? '', far: far ?? '', island: island ?? '' };
  for (const [source_id, target_id] of [
    [nodes.home, nodes.near],
    [nodes.near, nodes.far],
  ] as const)
    await world.call(connect, { source_id, target_id, relation: 'related_to' }, world.admin.caller);
  return nodes;
}

const sessionId = async (): Promise<string> => {
  const { items } = await world.call(listSessions, { own: true }, owner.caller);
  expect(items).toHaveLength(1);
  return items[0]?.id ?? '';
};
const waysIn = async (session_id: string): Promise<Record<string, string>> => {
  const { items } = await world.call(getSessionScope, { session_id }, owner.caller);
  return Object.fromEntries(items.map(({ node, access, added_via }) => [node.id, `${access} ${added_via}`]));
};
const codeOf = ({ isError, body }: Answer): unknown => (isError ? body.code : 'carried out');

describe.each(ERAS)('an agent %s', (_words, mode) => {
  it('reads its home node and the neighbours without asking, and goes further by the one call that the refusal names [sessions.scope.seed] [sessions.scope.node-read-gated] [sessions.scope.reading-never-widens]', async () => {
    const { home, near, far } = await map();
    const call = await agent(mode, `?home_node_id=${home}`);
    expect(codeOf(await call('svc_get_context'))).toBe('carried out');
    expect(codeOf(await call('svc_get_node', { node_id: near }))).toBe('carried out');
    expect(await waysIn(await sessionId())).toEqual({ [home]: 'write seed', [near]: 'read seed' });

    const refused = await call('svc_get_node', { node_id: far });
    expect(refused).toMatchObject({
      isError: true,
      body: { code: 'scope_expansion_required', details: { node_id: far, node_ids: [far], access: 'read' } },
    });
    const { hint } = refused.body.details as { hint: string };
    const said = /^Call (svc_\w+) with (\{.*\}), then repeat this call\.$/.exec(hint);
    const taken = await call(said?.[1] ?? '', JSON.parse(said?.[2] ?? '') as Record<string, unknown>);
    expect(taken.body).toMatchObject({ added: [{ id: far, access: 'read', added_via: 'expand' }], read_count: 3 });
    expect(codeOf(await call('svc_get_node', { node_id: far }))).toBe('carried out');
  });

  it('changes nothing outside its write scope, and asks for that in one call [sessions.scope.write-outside-refused]', async () => {
    const { home, near } = await map();
    const call = await agent(mode, `?home_node_id=${home}`);
    const decision = { node_id: near, kind: 'decision', content: 'We sail on Friday' };
    const refused = await call('svc_log', decision);
    expect(refused.body).toMatchObject({ code: 'scope_expansion_required', details: { access: 'write' } });
    const expansion = { node_ids: [near], access: 'write', reason: 'the decision is about it' };
    expect(codeOf(await call('svc_expand_scope', expansion))).toBe('carried out');
    expect(codeOf(await call('svc_log', decision))).toBe('carried out');
    expect(await waysIn(await sessionId())).toMatchObject({ [near]: 'write expand' });
  });

  it('with no home node has an empty scope, finds by permission alone, and is there with one call [sessions.scope.added-via]', async () => {
    const { home, near, far, island } = await map();
    const call = await agent(mode);
    expect(codeOf(await call('svc_search', { query: 'Island' }))).toBe('carried out');
    expect(codeOf(await call('svc_list_nodes', { scope: 'global' }))).toBe('carried out');
    expect(codeOf(await call('svc_get_node', { node_id: island }))).toBe('scope_expansion_required');
    const opened = await call('svc_session_init', { node_id: home });
    expect(opened.body).toMatchObject({ scope: { write: [{ id: home }], read: [{ id: near }] } });
    const taken = await call('svc_expand_scope', { node_ids: [island, far], reason: 'both are told of' });
    expect(taken.body.added).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: island, added_via: 'disconnected' }),
        expect.objectContaining({ id: far, added_via: 'expand' }),
      ]),
    );
  });

  it('holds what it makes, and loses with the next call what a person takes away, for good [sessions.scope.disconnected]', async () => {
    owner = await world.person(`Manfred ${Math.random()}`, 'manage');
    const { home, island } = await map();
    const call = await agent(mode, `?home_node_id=${home}`);
    const made = await call('svc_create_node', { type: 'project', name: 'A new pier', organization_id: home });
    const { id } = made.body as { id: string };
    expect(codeOf(await call('svc_update_node', { node_id: id, description: 'Of wood.', expected_version: 1 }))).toBe(
      'carried out',
    );
    const expansion = { node_ids: [island], reason: 'to compare' };
    await call('svc_expand_scope', expansion);
    const session_id = await sessionId();
    expect(await waysIn(session_id)).toMatchObject({ [id]: 'write write', [island]: 'read disconnected' });

    await world.call(reviewScope, { session_id, node_id: island, decision: 'reject' }, owner.caller);
    expect(codeOf(await call('svc_get_node', { node_id: island }))).toBe('scope_expansion_required');
    expect(codeOf(await call('svc_expand_scope', expansion))).toBe('FORBIDDEN');
    expect(codeOf(await call('svc_get_node', { node_id: island }))).toBe('scope_expansion_required');
    await world.call(addToSessionScope, { session_id, node_ids: [island] }, owner.caller);
    expect(codeOf(await call('svc_get_node', { node_id: island }))).toBe('carried out');
  });

  it('learns nothing of a hidden node from its scope: it is as absent as one that never was [sessions.scope.expansion-needs-access]', async () => {
    const { home } = await map();
    const hidden = await world.node(`Secret ${Math.random()}`, 'private');
    const call = await agent(mode, `?home_node_id=${home}`);
    const absent = '00000000-0000-7000-8000-00000000dead';
    for (const [tool, input] of [
      ['svc_get_node', (node_id: string) => ({ node_id })],
      ['svc_get_context', (node_id: string) => ({ node_id })],
      ['svc_log', (node_id: string) => ({ node_id, kind: 'decision', content: 'x' })],
      ['svc_expand_scope', (node_id: string) => ({ node_ids: [node_id], reason: 'x' })],
      ['svc_session_init', (node_id: string) => ({ node_id })],
    ] as const) {
      const [seen, unseen] = [await call(tool, input(hidden.id)), await call(tool, input(absent))];
      const masked = ({ body: { request_id: _, ...rest } }: Answer, id: string): string =>
        JSON.stringify(rest).replaceAll(id, 'ID');
      expect([tool, masked(seen, hidden.id)]).toEqual([tool, masked(unseen, absent)]);
    }
  });

  it('is found in the audit trail and in its log by each change that it made', async () => {
    const { home } = await map();
    const call = await agent(mode, `?home_node_id=${home}`);
    await call('svc_log', { node_id: home, kind: 'decision', content: 'We sail on Friday' });
    const session_id = await sessionId();
    const trail = await world.call(listAudit, { action: 'log' }, world.admin.caller);
    const { items } = await world.call(listSessionEvents, { session_id }, owner.caller);
    const told = items.find(({ kind }) => kind === 'tool_call');
    expect(told?.payload).toMatchObject({ tool_kind: 'log', phase: 'completed' });
    expect(trail.items[0]).toMatchObject({ via: 'mcp', session: { id: session_id, seq: told?.seq } });
  });
});
