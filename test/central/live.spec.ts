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
} from '@workspace-graph/contracts';
import { createLogger } from '@workspace-graph/platform';
import { Follower } from '../live/follower.js';
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
  const restart = async (store: 'nats' | 'postgres'): Promise<void> => {
    await world.central[store].kill('SIGKILL');
    await world.central[store].restart();
  };

  await during(() => Promise.resolve());
  await during(() => replace('session-svc'));
  await during(() => replace('gateway'));
  await during(() => restart('nats'));
  await during(() => restart('postgres'));
  await until('the workspace is whole', async () => (await fetch(`${urls()[0]}/health/ready`)).ok);

  const all = Array.from({ length: acknowledged }, (_item, index) => index + 1);
  expect(acknowledged).toBe(session.last_seq + 5 * PER_FAULT);
  expect(first.seqs).toEqual(all);
  expect(second.seqs).toEqual(all);
});
