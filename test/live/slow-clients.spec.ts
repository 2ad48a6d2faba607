import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendSessionEvents, closeSession } from '@workspace-graph/contracts';
import type { LiveClient } from './live-client.js';
import { LiveWorld, type Person } from './live-world.js';

let world: LiveWorld;
let owner: Person;
let nodeId: string;
/** For two clients: the bound of a socket, and one page beyond it. */
const MOST_UNSENT = 2 * (1_048_576 + 4_500_000);
/** From here on a socket is handed nothing more. */
const FULL_BYTES = 1_048_576;
const PROOF = 'only-the-window-knows';
beforeAll(async () => {
  world = await LiveWorld.start({ webviewProof: PROOF });
  owner = await world.person('Olga', 'write');
  nodeId = (await world.node('Home')).id;
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a client that takes nothing for a while', () => {
  // The metric is of all sockets: what one of another test has not taken would count.
  beforeEach(async () => {
    while ((await world.metric('live_unsent_bytes')) > 0) await sleep(20);
  });

  it('gets every event once and in order when it takes them again, and is not buffered for without bound [ws.slow-consumer]', async () => {
    const session = await world.connect(nodeId, owner);
    await using slow = await world.client(owner);
    await using quick = await world.client(owner);
    for (const client of [slow, quick]) await client.ask('subscribe', { session_id: session.id });
    slow.socket.pause();
    // 40 MB: far more than the buffers of a socket and the bound together.
    const text = 'x'.repeat(100_000);
    let last = 0;
    for (let count = 0; count < 80; count++) {
      const events = Array.from({ length: 5 }, () => ({
        id: randomUUID(),
        kind: 'assistant_message',
        payload: { text },
      }));
      const input = { session_id: session.id, run_id: session.runId, events: events as never };
      last = (await world.call(appendSessionEvents, input, owner.caller)).last_seq;
      expect(await world.metric('live_unsent_bytes')).toBeLessThan(MOST_UNSENT);
    }
    await quick.until(() => quick.seqs(session.id).at(-1) === last, 'the end, to the quick one');
    // What it has not been handed waits in the log; of what it has, the system may have taken a part meanwhile.
    expect(await world.metric('live_unsent_bytes')).toBeGreaterThan(0);
    expect(slow.seqs(session.id).length).toBeLessThan(last);
    slow.socket.resume();
    await slow.until(() => slow.seqs(session.id).at(-1) === last, 'the end, to the slow one');
    expect(slow.seqs(session.id)).toEqual(Array.from({ length: last }, (_item, index) => index + 1));
  });

  it('is told the state of sessions that holds then', async () => {
    const [session, other] = [await world.connect(nodeId, owner), await world.connect(nodeId, owner)];
    await using slow = await world.client(owner);
    await slow.ask('subscribe', { session_id: session.id });
    slow.socket.pause();
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 20; count++) {
      const events = Array.from({ length: 5 }, () => ({ id: randomUUID(), kind: 'reasoning', payload: { text } }));
      await world.call(appendSessionEvents, { session_id: session.id, run_id: session.runId, events }, owner.caller);
    }
    await world.call(closeSession, { session_id: other.id }, owner.caller);
    slow.socket.resume();
    await slow.until(() => slow.states(other.id).at(-1) === 'closed', 'the state');
  });

  it('is told to look at everything when nodes have changed meanwhile', async () => {
    const session = await world.connect(nodeId, owner);
    await using slow = await world.client(owner);
    await using quick = await world.client(owner);
    for (const client of [slow, quick]) {
      await client.ask('subscribe', { session_id: session.id });
      await client.ask('watch', { graph: true });
    }
    slow.socket.pause();
    await fill(session, quick);
    const { id } = await world.node('Unread');
    const told = (client: LiveClient): unknown[] => client.of('graph_changed').map(({ payload }) => payload);
    await quick.until(() => JSON.stringify(told(quick)).includes(id), 'the change, to the quick one');
    slow.socket.resume();
    const everything = JSON.stringify({ node_ids: [], everything: true });
    await slow.until(() => JSON.stringify(told(slow)).includes(everything), 'to look at everything');
    expect(JSON.stringify(told(slow))).not.toContain(id);
  });
});

/** Says so much that the slow client is handed nothing more: what it has not taken is a lot, or stays as it was. */
async function fill(session: { readonly id: string; readonly runId: string }, quick: LiveClient): Promise<void> {
  const text = 'x'.repeat(100_000);
  for (let before = 0; ; ) {
    const last = await world.say(session, owner, text, text, text);
    await quick.until(() => quick.seqs(session.id).at(-1) === last, 'what was said');
    const unsent = await world.metric('live_unsent_bytes');
    if (unsent > FULL_BYTES || (unsent > 0 && unsent === before)) return;
    before = unsent;
  }
}

it('a client that does not answer pings is cut off, and one that does is not [ws.ping]', async () => {
  await using strict = await LiveWorld.start({ pingMs: 100 });
  const [silent, alive] = [await strict.client(strict.admin), await strict.client(strict.admin)];
  // The library answers by itself: what it sends goes nowhere.
  Object.defineProperty(silent.socket, 'pong', { value: () => undefined });
  await silent.until(() => silent.closed !== undefined, 'the end');
  expect(alive.socket.readyState).toBe(1);
});

describe('a workspace that takes changes from its own window alone', () => {
  const refusedWith = async (client: LiveClient): Promise<unknown> => {
    const session = await world.connect(nodeId, owner);
    const { type, payload } = await client.ask('close', { session_id: session.id });
    expect((await client.ask('subscribe', { session_id: session.id })).type).toBe('reply');
    return type === 'error' ? payload.code : null;
  };

  it('refuses frames that change something to sockets without the proof, and lets them follow', async () => {
    expect(await refusedWith(await world.client(owner))).toBe('WEBVIEW_PROXY_REQUIRED');
    expect(await refusedWith(await world.client(owner, { 'x-svc-webview-proof': 'guessed' }))).toBe(
      'WEBVIEW_PROXY_REQUIRED',
    );
    expect(await refusedWith(await world.client(owner, { 'x-svc-webview-proof': PROOF }))).toBeNull();
  });
});
