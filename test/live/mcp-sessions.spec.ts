import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import {
  closeSession,
  createToken,
  endTerminal,
  getSession,
  listNodeSessions,
  listSessions,
  revokeToken,
  type Session,
  suspendSession,
} from '@workspace-graph/contracts';
import { SessionSweeps } from '@workspace-graph/service-session';
import { ERAS, statusOfSession } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import { describeConnections } from './connections.suite.js';
import { LiveWorld, type LiveWorldOptions, type Person } from './live-world.js';

let world: LiveWorld;
let owner: Person;
beforeAll(async () => {
  world = await LiveWorld.start();
});
beforeEach(async () => {
  owner = await world.person(`Olga ${Math.random()}`, 'write');
});
afterEach(() => Promise.allSettled(agents.splice(0).map(({ client }) => client.close())));
afterAll(() => world[Symbol.asyncDispose]());

interface Agent {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

const agents: Agent[] = [];

/** A real client of the protocol. */
async function agent(mode: VersionNegotiationMode, query = '', name = 'spec-agent'): Promise<Agent> {
  const client = new Client({ name, title: 'Spec Agent', version: '1.2.3' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${world.url}/mcp${query}`), { requestInit });
  await client.connect(transport);
  const made = { client, transport };
  agents.push(made);
  return made;
}

const sessions = async (): Promise<Session[]> =>
  (await world.call(listSessions, { own: true, state: ['running', 'suspended', 'closed'] }, owner.caller)).items;

async function eventually<T>(look: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const deadlineMs = Date.now() + 60_000;
  for (;;) {
    const value = await look();
    if (isSo(value)) return value;
    if (Date.now() > deadlineMs) throw new Error(`It did not come true: ${JSON.stringify(value)}`);
    await sleep(20);
  }
}

const whoami = { name: 'svc_whoami', arguments: {} };

describe.each(ERAS)('an agent of the %s protocol', (_words, mode) => {
  it('has one session from its first words on, with its client as it names itself and its home node [sessions.create.after-handshake, sessions.create.modern-era, sessions.record.cli-from-handshake, mcp.session.home-node]', async () => {
    const node = await world.node('Home');
    const { client } = await agent(mode, `?home_node_id=${node.id}`);
    await client.callTool(whoami);
    await Promise.all([client.listTools(), client.callTool(whoami), client.listTools()]);
    const [session, ...more] = await sessions();
    expect(more).toEqual([]);
    expect(session).toMatchObject({
      state: 'running',
      is_live: true,
      origin: 'connection',
      node: { id: node.id },
      client: { name: 'spec-agent', title: 'Spec Agent', version: '1.2.3' },
    });
    const { items } = await world.call(listNodeSessions, { node_id: node.id }, owner.caller);
    expect(items.map(({ id }) => id)).toEqual([session?.id]);
  });

  it('has a session of its own beside other agents of the same person', async () => {
    const both = await Promise.all([agent(mode, '', 'first'), agent(mode, '', 'second')]);
    for (const { client } of both) await client.callTool(whoami);
    expect((await sessions()).map(({ client }) => client?.name).toSorted()).toEqual(['first', 'second']);
  });

  it('goes on with the session that its address names, and is refused one that is closed', async () => {
    const { client } = await agent(mode);
    await client.callTool(whoami);
    const [{ id } = { id: '' }] = await sessions();
    await world.call(suspendSession, { session_id: id }, owner.caller);
    const again = await agent(mode, `?session_id=${id}`, 'other-agent');
    await again.client.callTool(whoami);
    const resumed = await world.call(getSession, { session_id: id }, owner.caller);
    expect(resumed).toMatchObject({ state: 'running', is_live: true, client: { name: 'other-agent' } });
    await world.call(closeSession, { session_id: id }, owner.caller);
    const third = await agent(mode, `?session_id=${id}`, 'third-agent');
    const { isError, structuredContent } = await third.client.callTool(whoami);
    expect([isError, structuredContent]).toMatchObject([
      true,
      { code: 'CONFLICT', details: { current: { state: 'closed' } } },
    ]);
  });

  it('whose session somebody has suspended begins a new one', async () => {
    const first = await agent(mode);
    await first.client.callTool(whoami);
    const [{ id } = { id: '' }] = await sessions();
    await world.call(suspendSession, { session_id: id }, owner.caller);
    // The edge hears of it, and forgets the run.
    const second = await eventually(
      async () => {
        const { client } = await agent(mode);
        await client.callTool(whoami);
        return sessions();
      },
      (found) => found.some((session) => session.id !== id && session.is_live),
    );
    expect(second.find((session) => session.id === id)).toMatchObject({ state: 'suspended' });
  });

  it('is suspended when the terminal ends that its address names, by whoever runs it alone [sessions.suspend.on-terminal-exit]', async () => {
    const terminal_id = `terminal ${Math.random()}`;
    const query = `?terminal_id=${encodeURIComponent(terminal_id)}&instance_id=desk`;
    for (const address of [query, '']) await (await agent(mode, address)).client.callTool(whoami);
    const stranger = await world.person(`Stan ${Math.random()}`, 'write');
    expect(await world.call(endTerminal, { terminal_id }, stranger.caller)).toEqual({ suspended: [] });
    const { suspended } = await world.call(endTerminal, { terminal_id }, owner.caller);
    const found = await sessions();
    expect(found.map(({ state }) => state).toSorted()).toEqual(['running', 'suspended']);
    expect(found.find(({ id }) => id === suspended[0])).toMatchObject({
      instance_id: 'desk',
      can_continue: true,
      suspended: { reason: 'terminal_exit', by_server: true },
    });
    expect(await world.call(endTerminal, { terminal_id }, owner.caller)).toEqual({ suspended: [] });
  });
});

describe('an agent with a handshake whose session somebody suspends', () => {
  it('is told how the call ended that was under way, and can call nothing more', async () => {
    const node = await world.node('Home');
    const { client, transport } = await agent('legacy', `?home_node_id=${node.id}`);
    await client.callTool(whoami);
    const [{ id } = { id: '' }] = await sessions();
    const other = await world.database.pool.connect();
    const input = { node_id: node.id, kind: 'note', content: 'Under way' };
    await other.query('BEGIN');
    await other.query('LOCK TABLE graph.event IN SHARE MODE');
    const logged = client.callTool({ name: 'svc_log', arguments: input });
    const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO graph.event %'`;
    try {
      await eventually(
        async () => (await world.database.pool.query(waits)).rowCount,
        (count) => count === 1,
      );
      await world.call(suspendSession, { session_id: id }, owner.caller);
      const rest = new RestClient(world.url, owner.token);
      await eventually(
        () => statusOfSession(rest, transport.sessionId ?? ''),
        (status) => status === 404,
      );
    } finally {
      await other.query('COMMIT');
      other.release();
    }
    expect((await logged).structuredContent).toMatchObject({ content: 'Under way' });
    await expect(client.callTool(whoami)).rejects.toThrow('Session not found');
  });
});

describe('an agent with a handshake', () => {
  it('that has done nothing but the handshake has its session', async () => {
    await agent('legacy');
    expect(await eventually(sessions, (found) => found.length > 0)).toHaveLength(1);
  });
});

describe('an agent without one', () => {
  it('that does nothing for half an hour is suspended: idle, and goes on with the same session afterwards [sessions.suspend.on-idle, limits.idle-30-minutes]', async () => {
    const { client } = await agent('auto');
    await client.callTool(whoami);
    const [{ id } = { id: '' }] = await sessions();
    const sweeps = world.app.get(SessionSweeps);
    const age = (minutes: number) =>
      world.database.pool.query(
        `UPDATE session.run SET last_used_at = now() - $2 * interval '1 minute' WHERE session_id = $1`,
        [id, minutes],
      );
    await age(29.9);
    await sweeps.sweep({ archiveAfterDays: 30 });
    expect((await world.call(getSession, { session_id: id }, owner.caller)).state).toBe('running');
    await age(30.1);
    await sweeps.sweep({ archiveAfterDays: 30 });
    expect(await world.call(getSession, { session_id: id }, owner.caller)).toMatchObject({
      state: 'suspended',
      suspended: { reason: 'idle', by_server: true },
    });
    await eventually(
      async () => {
        await client.callTool(whoami);
        return world.call(getSession, { session_id: id }, owner.caller);
      },
      ({ state }) => state === 'running',
    );
    expect(await sessions()).toHaveLength(1);
  });
});

describe('an agent with a handshake whose client', () => {
  let hasty: LiveWorld;
  let person: Person;
  const PROTOCOL = '2025-06-18';
  const clientInfo = { name: 'spec-agent', version: '1' };
  const own = async (): Promise<Session[]> =>
    (await hasty.call(listSessions, { own: true, state: ['running', 'suspended'] }, person.caller)).items;
  const ask = (method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${hasty.url}/mcp`, {
      method,
      headers: {
        authorization: `Bearer ${person.token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': PROTOCOL,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    });
  const callWhoami = { id: 2, method: 'tools/call', params: whoami };

  /** Answers the header that names its connection. */
  async function shakeHands(): Promise<Record<string, string>> {
    const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo };
    const answer = await ask('POST', { id: 1, method: 'initialize', params });
    await answer.text();
    const named = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' };
    await ask('POST', { method: 'notifications/initialized' }, named);
    return named;
  }

  const begin = async (mcp: NonNullable<LiveWorldOptions['mcp']>): Promise<void> => {
    hasty = await LiveWorld.start({ mcp });
    person = await hasty.person('Olga', 'write');
  };
  afterEach(() => hasty[Symbol.asyncDispose]());

  it('is gone without a word is suspended: disconnect; and it goes on in the same connection when it is back [sessions.suspend.on-disconnect] [sessions.resume.same-record]', async () => {
    await begin({ droppedMs: 100 });
    const named = await shakeHands();
    const cut = new AbortController();
    const stream = await fetch(`${hasty.url}/mcp`, {
      headers: { authorization: `Bearer ${person.token}`, accept: 'text/event-stream', ...named },
      signal: cut.signal,
    });
    expect(stream.status).toBe(200);
    const [{ id } = { id: '' }] = await eventually(own, ([first]) => first?.state === 'running');
    cut.abort();
    const [left] = await eventually(own, ([first]) => first?.state === 'suspended');
    expect(left).toMatchObject({ id, suspended: { reason: 'disconnect', by_server: true }, can_continue: true });
    expect((await ask('POST', callWhoami, named)).status).toBe(200);
    expect(await own()).toMatchObject([{ id, state: 'running', is_live: true }]);
  });

  it('does nothing for as long as the limit says is suspended: idle, and its connection is over; the next one goes on with the session by its name [sessions.suspend.on-idle]', async () => {
    await begin({ idleMs: 3_000 });
    const named = await shakeHands();
    const [first] = await eventually(own, ([found]) => found?.state === 'suspended');
    expect(first).toMatchObject({ suspended: { reason: 'idle', by_server: true }, can_continue: true });
    expect((await ask('POST', callWhoami, named)).status).toBe(404);
    const transport = new StreamableHTTPClientTransport(new URL(`${hasty.url}/mcp?session_id=${first?.id}`), {
      requestInit: { headers: { authorization: `Bearer ${person.token}` } },
    });
    const client = new Client(clientInfo, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    expect(await eventually(own, ([found]) => found?.state === 'running')).toMatchObject([{ id: first?.id }]);
    await client.close();
  });
});

describe('nothing is left of', () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${owner.token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'probe', version: '1' } },
  };

  it('a handshake that is not completed, a first request of another kind, and one without a credential [sessions.create.no-row-for-probe]', async () => {
    expect((await post(initialize)).status).toBe(200);
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })).status).toBe(400);
    expect((await post({ ...initialize, params: {} })).status).toBe(400);
    expect((await post(initialize, { authorization: 'Bearer svc_pat_0123456789012345678901234567890' })).status).toBe(
      401,
    );
    expect(await sessions()).toEqual([]);
  });

  it('a connection that is broken off in the middle of its handshake, or right after it was asked for [sessions.create.no-row-for-probe]', async () => {
    const body = JSON.stringify(initialize);
    const head = [
      'POST /mcp HTTP/1.1',
      `host: ${new URL(world.url).host}`,
      `authorization: Bearer ${owner.token}`,
      'accept: application/json, text/event-stream',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ].join('\r\n');
    const whole = `${head}\r\n\r\n${body}`;
    for (const sent of [head, whole.slice(0, -1), whole]) {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
      await new Promise<void>((resolve) => socket.write(sent, () => resolve()));
      socket.destroy();
      await once(socket, 'close');
    }
    // Whoever comes afterwards is served, and is the only one with a session.
    const { client } = await agent('legacy', '', 'later');
    await client.callTool(whoami);
    expect((await sessions()).map((session) => session.client?.name)).toEqual(['later']);
  });

  it('a client of the newest protocol that only looks what the server is', async () => {
    const { client } = await agent('auto');
    await client.close();
    expect(await sessions()).toEqual([]);
  });
});

describe('in one process', () => {
  const cleanup = new AsyncDisposableStack();
  let one: LiveWorld;
  beforeAll(async () => {
    one = cleanup.use(await LiveWorld.start({ mcp: { droppedMs: 100 } }));
  });
  afterAll(() => cleanup.disposeAsync());
  const person = async () => {
    const { id, token, tokenId } = await one.person(`Olga ${Math.random()}`, 'write');
    const other = { label: 'to look with', scope: 'write', user_id: id } as const;
    const { secret } = await one.call(createToken, other, one.admin.caller);
    return { agents: { token, id: tokenId }, looking: secret };
  };
  describeConnections(() => ({
    ada: new RestClient(one.url, one.admin.token),
    urls: () => [one.url, one.url],
    person,
    revoke: (token_id) => one.call(revokeToken, { token_id }, one.admin.caller),
    sql: (text, values) => one.database.pool.query(text, [...values]),
    sweep: () => one.app.get(SessionSweeps).sweep({ archiveAfterDays: 30 }),
    doomed: () => Promise.resolve({ url: one.url, kill: () => one.restart() }),
  }));
});
