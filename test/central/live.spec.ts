import { randomUUID } from 'node:crypto';
import { NatsBus, whenReady } from '@workspace-graph/bus';
import {
  appendSessionEvents,
  type Caller,
  connectSession,
  createNode,
  type InputOf,
  type Operation,
  type OutputOf,
  RawJson,
  setAccess,
  updateNode,
} from '@workspace-graph/contracts';
import { createLogger } from '@workspace-graph/platform';
import { Follower } from '../live/follower.js';
import { LiveClient } from '../live/live-client.js';
import { type CentralWorld, startWorld, until } from './central-world.js';

/** Appends while the workspace is broken and mended around it. */
const PER_FAULT = 40;

let world: CentralWorld;
let bus: NatsBus;
beforeAll(async () => {
  // What is acknowledged must outlive the kill of the database.
  world = await startWorld({ durable: true });
  const { url, user, password } = world.central.brokerAccess('gateway');
  bus = NatsBus.connect({
    servers: url,
    name: user,
    user,
    password,
    logger: createLogger({ process: 'test', level: 'fatal' }),
  });
  await whenReady(bus, AbortSignal.timeout(60_000));
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
  const home = await world.ada.call(createNode, { type: 'organization', name: 'Watched' });
  const rita = await world.newcomer('Rita', 'read');
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
  await world.ada.call(setAccess, { node_id: home.id, visibility: 'private', confirmed: true });
  await all('the loss', (client) => told(client).includes('*'));
  await world.ada.call(setAccess, { node_id: home.id, visibility: null, confirmed: true });
  await all('the gain', (client) => told(client).filter((id) => id === '*').length >= 2);
  await world.ada.call(updateNode, { node_id: hidden.id, goal: 'Unheard' });
  await world.ada.call(updateNode, { node_id: home.id, goal: 'Heard' });
  await all('the node', (client) => told(client).includes(home.id));
  for (const client of clients) client.frames.splice(0, client.frames.length, ...client.of('graph_changed'));
  await restart('nats');
  await all('to look again', (client) => client.of('files_changed').some(({ payload }) => payload['everything']));
  const seen = new Set(clients.flatMap(told));
  expect([seen.has(hidden.id), seen.has(home.id)]).toEqual([false, true]);
  for (const client of clients) await client[Symbol.asyncDispose]();
  await Promise.all([whenReady(bus, AbortSignal.timeout(60_000)), isWhole()]);
});

it('two clients at different gateways see every event once and in order, whatever is killed and comes back [ws.scale-out, ws.reconnect, ws.subscribe.no-gap-no-duplicate, sessions.log.dense-seq]', async () => {
  const node = await world.ada.call(createNode, { type: 'organization', name: 'Followed' });
  const olga = await world.newcomer('Olga', 'write');
  const caller: Caller = { user_id: olga.userId, scope: 'write', credential_id: olga.tokenId, via: 'mcp' };
  const run_id = randomUUID();
  const client = { name: 'agent', title: null, version: '1' };
  const { session } = await call(connectSession, { run_id, holder: 'test', node_id: node.id, client }, caller);
  const session_id = session.id;
  const urls = (): readonly string[] => world.central.urls;
  await using first = new Follower(urls, olga.token, session_id);
  await using second = new Follower(() => urls().toReversed(), olga.token, session_id);

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
    await Promise.all([first.until(acknowledged), second.until(acknowledged)]);
  };
  const replace = async (service: string): Promise<void> => {
    await world.central.instances(service)[0]?.kill();
    await world.central.add(service);
  };

  await during(() => Promise.resolve());
  await during(() => replace('session-svc'));
  await during(() => replace('gateway'));
  await during(() => restart('nats'));
  await during(() => restart('postgres'));
  await isWhole();

  const all = Array.from({ length: acknowledged }, (_item, index) => index + 1);
  expect(acknowledged).toBe(session.last_seq + 5 * PER_FAULT);
  expect(first.seqs).toEqual(all);
  expect(second.seqs).toEqual(all);
});
