import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import {
  closeSession,
  createNode,
  createToken,
  endTerminal,
  listSessionEvents,
  listSessions,
  revokeToken,
  type Session,
  suspendSession,
} from '@workspace-graph/contracts';
import { type CentralWorld, startWorld, until } from './central-world.js';
import { ERAS } from './mcp-streams.js';
import { RestClient } from './rest-client.js';

let world: CentralWorld;
let owner: Awaited<ReturnType<CentralWorld['newcomer']>>;
/** Another credential of the same person, to look with. */
let looking: string;
const clients: Client[] = [];
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  owner = await world.newcomer(`Olga ${Math.random()}`, 'write');
  const other = { label: 'to look with', scope: 'write', user_id: owner.userId } as const;
  looking = (await world.ada.call(createToken, other)).secret;
});
afterEach(() => Promise.allSettled(clients.splice(0).map((client) => client.close())));
afterAll(() => world[Symbol.asyncDispose]());

/** The same person at a gateway. */
const at = (url: string): RestClient => new RestClient(url, looking);

/** A real client of the protocol at a gateway, which has called a tool. */
async function agent(url: string, mode: VersionNegotiationMode, query = ''): Promise<StreamableHTTPClientTransport> {
  const client = new Client({ name: 'spec-agent', version: '1.2.3' }, { versionNegotiation: { mode } });
  clients.push(client);
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit });
  await client.connect(transport);
  const { isError } = await client.callTool({ name: 'svc_whoami', arguments: {} });
  expect(isError).toBeFalsy();
  return transport;
}

const sessions = async (): Promise<Session[]> =>
  (await at(world.urls[0]).call(listSessions, { own: true, state: ['running', 'suspended', 'closed'] })).items;
const only = async (): Promise<Session> => {
  const [session, ...more] = await sessions();
  expect(more).toEqual([]);
  if (!session) throw new Error('There is no session');
  return session;
};
const suspendedFor = (reason: string) =>
  until(`suspended: ${reason}`, async () => (await only()).suspended?.reason === reason, 120_000);
const kinds = async (): Promise<string[]> =>
  (await at(world.urls[1]).call(listSessionEvents, { session_id: (await only()).id })).items.map(({ kind }) => kind);

describe.each(ERAS)('an agent of the %s protocol at one of several gateways', (_era, mode) => {
  it('is born once, is suspended at another gateway, goes on there by its session, and is closed [sessions.create.after-handshake] [sessions.create.modern-era] [sessions.resume.same-record]', async () => {
    const [first, second] = world.urls;
    const home = await world.ada.call(createNode, { type: 'organization', name: `Home ${Math.random()}` });
    await agent(first, mode, `?home_node_id=${home.id}`);
    const { id } = await only();
    await at(second).call(suspendSession, { session_id: id });
    await suspendedFor('user');
    await agent(second, mode, `?session_id=${id}`);
    expect(await only()).toMatchObject({ id, state: 'running', is_live: true, node: { id: home.id } });
    await at(first).call(closeSession, { session_id: id });
    expect(await only()).toMatchObject({ state: 'closed', is_live: false });
    expect(await kinds()).toEqual([
      'run_started',
      ...['handoff', 'run_ended', 'state_changed'],
      ...['state_changed', 'run_started'],
      ...['run_ended', 'state_changed'],
    ]);
  });

  it('is suspended when its terminal ends, told at another gateway, and with its credential [sessions.suspend.on-terminal-exit] [sessions.suspend.on-disconnect]', async () => {
    const [first, second] = world.urls;
    const terminal_id = `terminal ${Math.random()}`;
    await agent(first, mode, `?terminal_id=${encodeURIComponent(terminal_id)}`);
    const { id } = await only();
    expect(await at(second).call(endTerminal, { terminal_id })).toEqual({ suspended: [id] });
    await suspendedFor('terminal_exit');
    await agent(second, mode, `?session_id=${id}`);
    expect((await only()).state).toBe('running');
    await world.ada.call(revokeToken, { token_id: owner.tokenId });
    await suspendedFor('disconnect');
  });
});

it('an agent whose gateway is killed is suspended when the lease has run out, and goes on at another one [sessions.never-dropped]', async () => {
  const third = await world.central.add('gateway');
  await agent(world.central.opsUrl(third), 'legacy');
  const { id } = await only();
  await third.kill();
  await suspendedFor('server_restart');
  await agent(world.urls[0], 'legacy', `?session_id=${id}`);
  expect(await only()).toMatchObject({ id, state: 'running', is_live: true });
}, 180_000);
