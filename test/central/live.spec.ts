import { randomUUID } from 'node:crypto';
import { NatsBus, whenReady } from '@workspace-graph/bus';
import {
  answerQuestion,
  appendSessionEvents,
  type Caller,
  connectSession,
  createNode,
  getSession,
  type InputOf,
  listSessionEvents,
  type Operation,
  type OutputOf,
  type Question,
  RawJson,
  revokeToken,
  setAccess,
  updateNode,
  updateUser,
} from '@workspace-graph/contracts';
import { createLogger } from '@workspace-graph/platform';
import { Follower } from '../live/follower.js';
import { LiveClient } from '../live/live-client.js';
import { Balancer } from './balancer.js';
import { type CentralWorld, startWorld, until } from './central-world.js';
import { RestClient } from './rest-client.js';
import { joinedFolder, startWorkstation } from './workstation.js';

/** Appends while the workspace is broken and mended around it. */
const PER_FAULT = 40;

type Newcomer = Awaited<ReturnType<CentralWorld['newcomer']>>;

let world: CentralWorld;
let bus: NatsBus;
/** Who is asked, and who looks on. */
let olga: Newcomer;
let rita: Newcomer;
let home: string;
beforeAll(async () => {
  // What is acknowledged must outlive the kill of the database.
  world = await startWorld({ durable: true, variables: { SVC_ALLOWED_HOSTS: '127.0.0.1' } });
  const { url, user, password } = world.central.brokerAccess('gateway');
  bus = NatsBus.connect({
    servers: url,
    name: user,
    user,
    password,
    logger: createLogger({ process: 'test', level: 'fatal' }),
  });
  await whenReady(bus, AbortSignal.timeout(60_000));
  home = (await world.ada.call(createNode, { type: 'organization', name: 'Asked' })).id;
  [olga, rita] = [await world.newcomer('Olga', 'write'), await world.newcomer('Rita', 'read')];
});
afterAll(async () => {
  await bus.close();
  await world[Symbol.asyncDispose]();
});

async function call<Op extends Operation>(
  operation: Op,
  input: InputOf<Op>,
  caller: Caller,
  id: string = randomUUID(),
): Promise<OutputOf<Op>> {
  const reply = await bus.call(operation, input, { callId: id, requestId: id, caller });
  return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
}

async function restart(store: 'nats' | 'postgres'): Promise<void> {
  await world.central[store].kill('SIGKILL');
  await world.central[store].restart();
}

async function replace(service: string): Promise<void> {
  await world.central.instances(service)[0]?.kill();
  await world.central.add(service);
}

/** For a moment nobody serves. */
async function replaceAll(service: string): Promise<void> {
  const all = world.central.instances(service);
  await Promise.all(all.map((instance) => instance.kill()));
  for (const _instance of all) await world.central.add(service);
}

/** As the holder of a run does: again and again under the same ids, until it is acknowledged. */
async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + 120_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function isWhole(): Promise<void> {
  for (const url of world.central.urls)
    await until('the workspace is whole', async () => (await fetch(`${url}/health/ready`)).ok);
}

it('watchers at different gateways are told what they see, and to look again after the bus was away [ws.watch.made-good, ws.scale-out]', async () => {
  const shown = await world.ada.call(createNode, { type: 'organization', name: 'Watched' });
  const clients = await Promise.all(world.central.urls.map((url) => LiveClient.open(url, rita.token)));
  const told = (client: LiveClient): string[] =>
    client
      .of('graph_changed')
      .flatMap(({ payload }) => (payload['everything'] ? ['*'] : (payload['node_ids'] as string[])));
  const all = async (what: string, condition: (client: LiveClient) => boolean): Promise<void> => {
    for (const client of clients) await client.until(() => condition(client), what);
  };
  for (const client of clients) await client.ask('watch', { graph: true, files: true });
  const hidden = await world.ada.call(createNode, { type: 'organization', name: 'Unwatched', visibility: 'private' });
  await world.ada.call(setAccess, { node_id: shown.id, visibility: 'private', confirmed: true });
  await all('the loss', (client) => told(client).includes('*'));
  await world.ada.call(setAccess, { node_id: shown.id, visibility: null, confirmed: true });
  await all('the gain', (client) => told(client).filter((id) => id === '*').length >= 2);
  await world.ada.call(updateNode, { node_id: hidden.id, goal: 'Unheard' });
  await world.ada.call(updateNode, { node_id: shown.id, goal: 'Heard' });
  await all('the node', (client) => told(client).includes(shown.id));
  for (const client of clients) client.frames.splice(0, client.frames.length, ...client.of('graph_changed'));
  await restart('nats');
  await all('to look again', (client) => client.of('files_changed').some(({ payload }) => payload['everything']));
  const seen = new Set(clients.flatMap(told));
  expect([seen.has(hidden.id), seen.has(shown.id)]).toEqual([false, true]);
  for (const client of clients) await client[Symbol.asyncDispose]();
  await Promise.all([whenReady(bus, AbortSignal.timeout(60_000)), isWhole()]);
});

describe('what ends through one gateway ends at the other one, also where nothing is said', () => {
  const tookMs: Record<string, number> = {};
  afterAll(() =>
    console.info(
      Object.entries(tookMs)
        .map(([what, ms]) => `${what}: ${ms.toFixed(0)} ms`)
        .join('\n'),
    ),
  );

  /** Somebody who follows a silent session at the second gateway; what is done is done through the first. */
  async function follower(): Promise<{ client: LiveClient; session_id: string; nodeId: string; who: Newcomer }> {
    const who = await world.newcomer('Rita', 'read');
    const { id: nodeId } = await world.ada.call(createNode, { type: 'organization', name: `Silent ${randomUUID()}` });
    const caller: Caller = { user_id: who.userId, scope: 'write', credential_id: who.tokenId, via: 'mcp' };
    const agent = { name: 'agent', title: null, version: '1' };
    const { session } = await call(
      connectSession,
      { run_id: randomUUID(), holder: 'test', node_id: nodeId, client: agent },
      caller,
    );
    const client = await LiveClient.open(world.central.urls[1] ?? '', who.token);
    await client.ask('subscribe', { session_id: session.id });
    await client.until(() => client.seqs(session.id).length > 0, 'the replay');
    return { client, session_id: session.id, nodeId, who };
  }

  /** From the acknowledged change until it is there. */
  async function measured(what: string, change: () => Promise<unknown>, isThere: () => boolean): Promise<void> {
    await change();
    const sinceMs = performance.now();
    await until(what, isThere);
    tookMs[what] = performance.now() - sinceMs;
  }

  it('a subscription, with the sight of the node [access.revoke.open-sockets]', async () => {
    const { client, session_id, nodeId } = await follower();
    const hide = () => world.ada.call(setAccess, { node_id: nodeId, visibility: 'private', confirmed: true });
    await measured('a subscription, after the loss of the node', hide, () => client.of('error').length > 0);
    expect(client.of('error')[0]?.payload).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { session_id } });
    expect(client.closed).toBeUndefined();
    await client[Symbol.asyncDispose]();
  });

  it.each([
    ['its token', ({ tokenId }: Newcomer) => world.ada.call(revokeToken, { token_id: tokenId })],
    ['its user', ({ userId }: Newcomer) => world.ada.call(updateUser, { user_id: userId, disabled: true })],
  ])('a socket, with %s', async (what, end) => {
    const { client, who } = await follower();
    await measured(
      `a socket, after the end of ${what}`,
      () => end(who),
      () => client.closed !== undefined,
    );
    expect(client.closed?.code).toBe(4401);
  });
});

it('clients at different gateways and at a workstation see every event once and in order, whatever is killed and comes back [ws.scale-out, ws.reconnect, ws.subscribe.no-gap-no-duplicate, sessions.log.dense-seq]', async () => {
  const node = await world.ada.call(createNode, { type: 'organization', name: 'Followed' });
  const caller: Caller = { user_id: olga.userId, scope: 'write', credential_id: olga.tokenId, via: 'mcp' };
  const run_id = randomUUID();
  const client = { name: 'agent', title: null, version: '1' };
  const { session } = await call(connectSession, { run_id, holder: 'test', node_id: node.id, client }, caller);
  const session_id = session.id;
  const urls = (): readonly string[] => world.central.urls;
  await using first = new Follower(urls, olga.token, session_id);
  await using second = new Follower(() => urls().toReversed(), olga.token, session_id);
  await using balancer = await Balancer.listen(urls);
  await using folder = await joinedFolder(olga.at(balancer.url));
  let station = await startWorkstation(folder);
  await using third = new Follower(() => [station.running.url], folder.token, session_id);
  const restartWorkstation = async (): Promise<void> => {
    await station.running.kill();
    station = await startWorkstation(folder);
  };

  const followers = [first, second, third];

  let acknowledged = session.last_seq;
  const append = async (): Promise<void> => {
    const events = [{ id: randomUUID(), kind: 'assistant_message', payload: { text: 'said' } }] as never;
    const { last_seq } = await persist(() => call(appendSessionEvents, { session_id, run_id, events }, caller));
    acknowledged = last_seq;
  };
  const during = async (fault: () => Promise<unknown>): Promise<void> => {
    const broken = fault();
    for (let count = 0; count < PER_FAULT; count++) await append();
    await broken;
    await Promise.all(followers.map((follower) => follower.until(acknowledged)));
  };
  const faults = [
    () => Promise.resolve(),
    () => replace('session-svc'),
    () => replaceAll('session-svc'),
    () => replace('gateway'),
    () => restart('nats'),
    () => restart('postgres'),
    restartWorkstation,
  ];
  for (const fault of faults) await during(fault);
  await isWhole();

  const all = Array.from({ length: acknowledged }, (_item, index) => index + 1);
  expect(acknowledged).toBe(session.last_seq + faults.length * PER_FAULT);
  for (const { seqs } of followers) expect(seqs).toEqual(all);
}, 600_000);

describe('a question', () => {
  const FAULTS = {
    'every session service': () => replaceAll('session-svc'),
    'a gateway': () => replace('gateway'),
    'the broker': () => restart('nats'),
    'the database': () => restart('postgres'),
  };
  /** Somebody at one of the gateways that are there now. */
  const at = ({ token }: RestClient, gateway = 0): RestClient =>
    new RestClient(world.central.urls[gateway] ?? '', token);

  /** A session whose agent has asked. */
  async function asked(question: Partial<Question> = {}): Promise<string> {
    const caller: Caller = { user_id: olga.userId, scope: 'write', credential_id: olga.tokenId, via: 'mcp' };
    const client = { name: 'agent', title: null, version: '1' };
    const run_id = randomUUID();
    const { session } = await call(connectSession, { run_id, holder: 'test', node_id: home, client }, caller);
    const payload = { request_id: 'which', type: 'input', title: 'Which year?', ...question };
    const events = [{ id: randomUUID(), kind: 'question', payload }] as never;
    await persist(() => call(appendSessionEvents, { session_id: session.id, run_id, events }, caller));
    return session.id;
  }
  const answers = async (session_id: string): Promise<unknown[]> =>
    (await at(olga).call(listSessionEvents, { session_id })).items.flatMap(({ kind, payload }) =>
      kind === 'answer' ? [payload] : [],
    );

  it.each(Object.entries(FAULTS))(
    'outlives the kill of %s: it is shown at each attach, and answered once, at whichever gateway [sessions.question.persisted] [sessions.log.answers-once] [sessions.waiting-since]',
    async (_name, fault) => {
      const session_id = await asked();
      await fault();
      await isWhole();
      for (const url of world.central.urls) {
        await using client = await LiveClient.open(url, rita.token);
        const isShown = (): boolean =>
          client
            .of('session_state')
            .some(({ payload }) => payload.session_id === session_id && payload.waiting_since !== null);
        await client.until(isShown, 'the session that waits');
        const session = await new RestClient(url, rita.token).call(getSession, { session_id });
        expect(session.open_questions).toMatchObject([{ request_id: 'which', title: 'Which year?' }]);
      }
      const input = { session_id, request_id: 'which', decision: { text: '2026' } };
      expect(await at(rita).refusal(answerQuestion, input)).toMatchObject({ status: 403 });
      await using watching = await LiveClient.open(world.central.urls[0] ?? '', olga.token);
      const both = await Promise.all(
        world.central.urls.map((_url, gateway) => at(olga, gateway).send(answerQuestion, input)),
      );
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const refused = both.find(({ status }) => status === 409);
      expect(await refused?.json()).toMatchObject({ code: 'CONFLICT' });
      const isSettled = (): boolean =>
        watching.of('session_state').findLast(({ payload }) => payload.session_id === session_id)?.payload
          .waiting_since === null;
      await watching.until(isSettled, 'the session that waits no more');
      expect(await answers(session_id)).toMatchObject([{ request_id: 'which', decision: { text: '2026' } }]);
    },
    180_000,
  );

  it('whose deadline passes while nobody is there is answered with its default when the service is back', async () => {
    const deadline_at = new Date(Date.now() + 2_000).toISOString();
    const session_id = await asked({ deadline_at, default: { text: '2025' } });
    await world.central.instances('session-svc')[0]?.kill();
    await until('the deadline has passed', () => Date.now() > Date.parse(deadline_at));
    await world.central.add('session-svc');
    await isWhole();
    await until('the default is the answer', async () => (await answers(session_id)).length > 0);
    expect(await answers(session_id)).toMatchObject([{ decision: { text: '2025' }, by: { role: 'server' } }]);
    const late = { session_id, request_id: 'which', decision: { text: '2026' } };
    expect(await at(olga).refusal(answerQuestion, late)).toMatchObject({ status: 409, code: 'CONFLICT' });
  }, 180_000);
});
