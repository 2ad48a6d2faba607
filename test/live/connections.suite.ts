import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import {
  closeSession,
  createNode,
  endTerminal,
  getSession,
  listSessionEvents,
  listSessions,
  resumeSession,
  type Session,
  type SuspendReason,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import { until } from '../central/central-world.js';
import { ERAS } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';

interface Credential {
  readonly id: string;
  readonly token: string;
}

/** A workspace at which real agents connect. */
export interface ConnectionsWorld {
  /** Manages. */
  readonly ada: RestClient;
  /** Where agents connect: two processes where there are several. */
  readonly urls: () => readonly [string, string];
  /** Somebody new with two credentials: one for agents, and one to look with. */
  person(): Promise<{ readonly agents: Credential; readonly looking: string }>;
  revoke(tokenId: string): Promise<unknown>;
  sql(text: string, values: readonly unknown[]): Promise<unknown>;
  /** Sees to it that time has its effects soon. */
  sweep(): Promise<unknown>;
  /** An address whose process is about to be killed; another one serves afterwards. */
  doomed(): Promise<{ readonly url: string; kill(): Promise<void> }>;
}

interface Agent {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** The rows of the state table that agents bring about by their connections, in whatever workspace they happen. */
export function describeConnections(given: () => ConnectionsWorld): void {
  let agents: Credential;
  let looking: string;
  const clients: Client[] = [];
  beforeEach(async () => {
    ({ agents, looking } = await given().person());
  });
  afterEach(() => Promise.allSettled(clients.splice(0).map((client) => client.close())));

  /** The same person at an address. */
  const at = (url: string): RestClient => new RestClient(url, looking);
  const here = (): RestClient => at(given().urls()[0]);

  /** A real client of the protocol, which has called a tool. */
  async function connected(url: string, mode: VersionNegotiationMode, query = ''): Promise<Agent> {
    const client = new Client({ name: 'spec-agent', version: '1.2.3' }, { versionNegotiation: { mode } });
    clients.push(client);
    const requestInit = { headers: { authorization: `Bearer ${agents.token}` } };
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit });
    await client.connect(transport);
    const { isError } = await client.callTool({ name: 'svc_whoami', arguments: {} });
    expect(isError).toBeFalsy();
    return { client, transport };
  }

  const sessions = async (): Promise<Session[]> =>
    (await here().call(listSessions, { own: true, state: ['running', 'suspended', 'closed'] })).items;
  const only = async (): Promise<Session> => {
    const [session, ...more] = await sessions();
    expect(more).toEqual([]);
    if (!session) throw new Error('There is no session');
    return session;
  };
  const suspended = (reason: SuspendReason, id?: string) =>
    until(
      `suspended: ${reason}`,
      async () => (id ? await here().call(getSession, { session_id: id }) : await only()).suspended?.reason === reason,
      180_000,
    );
  const kinds = async (): Promise<string[]> =>
    (await at(given().urls()[1]).call(listSessionEvents, { session_id: (await only()).id })).items.map(
      ({ kind }) => kind,
    );
  const homeNode = async (): Promise<string> =>
    (await given().ada.call(createNode, { type: 'organization', name: `Home ${Math.random()}` })).id;

  describe.each(ERAS)('an agent of the %s protocol', (_words, mode) => {
    it('is born once, is suspended at another address, goes on there by its session, and is closed [sessions.create.after-handshake] [sessions.create.modern-era] [sessions.resume.same-record]', async () => {
      const [first, second] = given().urls();
      const home = await homeNode();
      await connected(first, mode, `?home_node_id=${home}`);
      const { id } = await only();
      await at(second).call(suspendSession, { session_id: id });
      await suspended('user');
      await connected(second, mode, `?session_id=${id}`);
      expect(await only()).toMatchObject({ id, state: 'running', is_live: true, node: { id: home } });
      await at(first).call(closeSession, { session_id: id });
      expect(await only()).toMatchObject({ state: 'closed', is_live: false });
      expect(await kinds()).toEqual([
        'run_started',
        ...['handoff', 'run_ended', 'state_changed'],
        ...['state_changed', 'run_started'],
        ...['run_ended', 'state_changed'],
      ]);
    });

    it('of a task belongs to the row of the task and to its run, changes what the task holds, and ends with it [sessions.create.task-binds-same-row] [sessions.states]', async () => {
      const [first, second] = given().urls();
      const node_id = await homeNode();
      const task = { node_id, brief: 'Write the draft.', runner: 'scripted', instance_id: 'desk' };
      const { id } = await at(first).call(startSession, task);
      const { client, transport } = await connected(second, mode, `?session_id=${id}`);
      const write = () =>
        client.callTool({ name: 'svc_log', arguments: { node_id, kind: 'note', content: `Said ${Math.random()}` } });
      expect((await write()).isError).toBeFalsy();
      expect(await only()).toMatchObject({
        ...{ id, origin: 'task', state: 'running', is_live: true, runner: 'scripted', instance_id: 'desk' },
        client: { name: 'spec-agent', version: '1.2.3' },
      });
      // The connection is not the run: the task goes on without it.
      if (mode === 'legacy') await transport.terminateSession();
      else await client.close();
      await connected(first, mode, `?session_id=${id}`);
      expect((await only()).state).toBe('running');
      expect((await kinds()).filter((kind) => kind === 'run_started' || kind === 'run_ended')).toEqual(['run_started']);
      await here().call(closeSession, { session_id: id });
      expect(await kinds()).toContain('run_ended');
    });

    it('can do nothing in a task that does not run, until it runs again [sessions.suspend.ends-the-run]', async () => {
      const [first, second] = given().urls();
      const node_id = await homeNode();
      const { id: session_id } = await at(first).call(startSession, { node_id, brief: 'Go.', runner: 'scripted' });
      const { client } = await connected(second, mode, `?session_id=${session_id}`);
      const tried = async (name: string, input: Record<string, unknown>): Promise<unknown> =>
        (await client.callTool({ name, arguments: input })).structuredContent;
      const read = () => tried('svc_get_node', { node_id });
      const write = () => tried('svc_log', { node_id, kind: 'note', content: 'Said' });
      expect(await read()).toMatchObject({ id: node_id });
      await at(first).call(suspendSession, { session_id });
      for (const call of [read, write])
        expect(await call()).toMatchObject({ code: 'NO_LIVE_RUN', details: { session_id, state: 'suspended' } });
      await at(first).call(resumeSession, { session_id, mode: 'handoff' });
      expect(await read()).toMatchObject({ id: node_id });
      await at(first).call(closeSession, { session_id });
      for (const call of [read, write])
        expect(await call()).toMatchObject({ code: 'NO_LIVE_RUN', details: { state: 'closed' } });
    });

    it('is suspended when its terminal ends, told at another address, and with its credential [sessions.suspend.on-terminal-exit] [sessions.suspend.on-disconnect]', async () => {
      const [first, second] = given().urls();
      const terminal_id = `terminal ${Math.random()}`;
      await connected(first, mode, `?terminal_id=${encodeURIComponent(terminal_id)}`);
      const { id } = await only();
      expect(await at(second).call(endTerminal, { terminal_id })).toEqual({ suspended: [id] });
      await suspended('terminal_exit');
      await connected(second, mode, `?session_id=${id}`);
      expect((await only()).state).toBe('running');
      await given().revoke(agents.id);
      await suspended('disconnect');
    });

    it('that does nothing for half an hour is suspended: idle; and goes on with the same session [sessions.suspend.on-idle] [limits.idle-30-minutes] [sessions.resume.same-record]', async () => {
      const [first, second] = given().urls();
      await connected(first, mode);
      const { id } = await only();
      await until(
        'it is idle',
        async () => {
          await given().sql(
            `UPDATE session.run SET last_used_at = now() - interval '31 minutes' WHERE session_id = $1`,
            [id],
          );
          await given().sweep();
          return (await only()).suspended?.reason === 'idle';
        },
        120_000,
      );
      expect(await only()).toMatchObject({ suspended: { by_server: true }, can_continue: true });
      await connected(second, mode, `?session_id=${id}`);
      expect(await only()).toMatchObject({ id, state: 'running', is_live: true });
    });
  });

  it('an agent with a handshake that ends its connection is suspended: disconnect [sessions.suspend.on-disconnect]', async () => {
    const { transport } = await connected(given().urls()[0], 'legacy');
    await transport.terminateSession();
    await suspended('disconnect');
    expect(await only()).toMatchObject({ suspended: { by_server: true }, can_continue: true });
  });

  it('without a word: a client that is gone is a disconnect, a process that is gone a restart; all go on elsewhere [sessions.suspend.on-disconnect] [sessions.suspend.on-restart] [sessions.never-dropped]', async () => {
    const { url, kill } = await given().doomed();
    const ids: string[] = [];
    for (const [, mode] of ERAS) {
      await connected(url, mode);
      ids.push(...(await sessions()).map(({ id }) => id).filter((id) => !ids.includes(id)));
    }
    await kill();
    const { client } = await connected(given().urls()[0], 'legacy', `?instance_id=other`);
    const [dropped = ''] = (await sessions()).map(({ id }) => id).filter((id) => !ids.includes(id));
    await client.close();
    await Promise.all([suspended('disconnect', dropped), ...ids.map((id) => suspended('server_restart', id))]);
    for (const [place, [, mode]] of ERAS.entries()) {
      const id = ids[place] ?? '';
      await connected(given().urls()[1], mode, `?session_id=${id}`);
      expect(await here().call(getSession, { session_id: id })).toMatchObject({ state: 'running', is_live: true });
    }
  }, 300_000);
}
