import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  closeSession,
  getSession,
  LIMITS,
  resumeSession,
  revokeToken,
  setAccess,
  startSession,
  streamDelta,
} from '@workspace-graph/contracts';
import type { LiveClient } from './live-client.js';
import { LiveWorld, type Person } from './live-world.js';

let world: LiveWorld;
let owner: Person;
let reader: Person;
let nodeId: string;
beforeAll(async () => {
  world = await LiveWorld.start();
  owner = await world.person('Olga', 'write');
  reader = await world.person('Rita', 'read');
  nodeId = (await world.node('Home')).id;
});
afterAll(() => world[Symbol.asyncDispose]());

const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_item, index) => first + index);

describe('the upgrade', () => {
  it('without a valid credential is refused with 401 [ws.auth.refused-401]', async () => {
    for (const token of ['', 'svc_pat_0123456789012345678901234567890123', 'nonsense'])
      await expect(world.client(token)).rejects.toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
  });

  it('of a foreign host or page is refused like any other request', async () => {
    await expect(world.client(owner, { host: 'evil.example' })).rejects.toMatchObject({ status: 403 });
    await expect(world.client(owner, { origin: 'https://evil.example' })).rejects.toMatchObject({ status: 403 });
  });

  it('is asked for where it is missing [errors.upgrade-required]', async () => {
    const headers = { authorization: `Bearer ${owner.token}` };
    const plain = await fetch(`${world.url}/sessions/ws`, { headers });
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(await plain.json()).toMatchObject({ code: 'UPGRADE_REQUIRED' });
    const other = await fetch(`${world.url}/sessions/ws`);
    expect(other.status).toBe(401);
  });

  it('needs the scope read alone [ws.auth.read-scope]', async () => {
    expect((await world.client(reader)).socket.readyState).toBe(1);
  });

  it('is refused to a user who has as many sockets as one may have; others go on, and one that is closed makes room', async () => {
    const crowd = await world.person('Karel', 'read');
    const clients = await Promise.all(Array.from({ length: LIMITS.socketsPerUser }, () => world.client(crowd)));
    await expect(world.client(crowd)).rejects.toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await world.client(reader)).socket.readyState).toBe(1);
    for (const { socket } of clients) socket.close();
    // The server notices the end of a socket a moment after its client.
    let next = null;
    while (next === null) next = await world.client(crowd).catch(() => null);
    expect(next.socket.readyState).toBe(1);
  });
});

describe('the document of the channel', () => {
  it('is served like that of REST, with every frame', async () => {
    const headers = { authorization: `Bearer ${reader.token}` };
    const response = await fetch(`${world.url}/asyncapi.json`, { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('application/json'),
    ]);
    const document = (await response.json()) as { asyncapi: string; channels: object };
    expect(document).toMatchObject({ asyncapi: '3.1.0' });
    expect(JSON.stringify(document)).toContain('session_state');
  });
});

describe('a new socket', () => {
  it('is told at most 500 states, the newest [limits.session-state-500]', async () => {
    const newcomer = await world.person('Nora', 'read');
    await world.database.pool.query(
      `INSERT INTO session.session (id, owner_id, origin, name, last_activity_at)
       SELECT gen_random_uuid(), $1, 'connection', 'Session ' || n, now() - n * interval '1 minute' FROM generate_series(1, 520) n`,
      [newcomer.id],
    );
    const client = await world.client(newcomer);
    await client.until(() => client.of('session_state').length >= LIMITS.statesOnConnect, 'the states');
    await client.ask('unsubscribe', { session_id: randomUUID() });
    const told = new Set(client.of('session_state').map(({ payload }) => payload.session_id));
    const { rows } = await world.database.pool.query<{ id: string }>(
      `DELETE FROM session.session WHERE owner_id = $1 AND last_activity_at < now() - interval '500 minutes 30 seconds' RETURNING id`,
      [newcomer.id],
    );
    expect([told.size, rows.length, rows.filter(({ id }) => told.has(id))]).toEqual([500, 20, []]);
    await world.database.pool.query('DELETE FROM session.session WHERE owner_id = $1', [newcomer.id]);
  });

  it('is told the open sessions that its person sees, the last active first [ws.session-state.on-connect, ws.session-state.visible-only, sessions.access.node-less]', async () => {
    const hidden = await world.node('Hidden', 'private');
    const earlier = await world.client(owner);
    const [first, second] = [await world.connect(nodeId, owner), await world.connect(nodeId, owner)];
    const [secret, nodeless] = [await world.connect(hidden.id, world.admin), await world.connect(undefined, owner)];
    // What they changed is told by now: the order is that of the greeting.
    await earlier.until(() => earlier.states(nodeless.id).length > 0, 'the newest one');
    const [asOwner, asReader] = [await world.client(owner), await world.client(reader)];
    await asOwner.until(() => asOwner.states(first.id).length > 0, 'the states');
    const ids = asOwner.of('session_state').map(({ payload }) => payload.session_id);
    expect(ids.indexOf(second.id)).toBeLessThan(ids.indexOf(first.id));
    expect(ids).toContain(nodeless.id);
    expect(ids).not.toContain(secret.id);
    expect(asOwner.of('session_state')[0]?.payload).toEqual({
      session_id: nodeless.id,
      state: 'running',
      waiting_since: null,
      node_id: null,
    });
    await asReader.until(() => asReader.states(first.id).length > 0, 'the states');
    expect(asReader.states(nodeless.id)).toEqual([]);
    // A later change tells the same people, and nobody else.
    await world.call(closeSession, { session_id: secret.id }, world.admin.caller);
    await world.call(closeSession, { session_id: nodeless.id }, owner.caller);
    await world.call(closeSession, { session_id: first.id }, owner.caller);
    await asReader.until(() => asReader.states(first.id).includes('closed'), 'the change');
    await asOwner.until(() => asOwner.states(nodeless.id).includes('closed'), 'the change');
    expect([...asOwner.states(secret.id), ...asReader.states(secret.id), ...asReader.states(nodeless.id)]).toEqual([]);
  });
});

describe('a change of access', () => {
  it('tells the states of sessions that its users come to see, and of no others [ws.session-state.visible-only]', async () => {
    const [shown, hidden] = [await world.node('Soon shown'), await world.node('Hidden for good')];
    const show = (node_id: string, visibility: 'private' | 'everyone') =>
      world.call(setAccess, { node_id, visibility, confirmed: true }, world.admin.caller);
    for (const { id } of [shown, hidden]) await show(id, 'private');
    const [seen, unseen] = [await world.connect(shown.id, world.admin), await world.connect(hidden.id, world.admin)];
    const client = await world.client(reader);
    const marker = await world.connect(nodeId, owner);
    await client.until(() => client.states(marker.id).length > 0, 'the states');
    expect([client.states(seen.id), client.states(unseen.id)]).toEqual([[], []]);
    await show(shown.id, 'everyone');
    await client.until(() => client.states(seen.id).length > 0, 'the state of what it sees now');
    expect([client.states(seen.id), client.states(unseen.id)]).toEqual([['running'], []]);
  });
});

describe('a subscription', () => {
  it('replays what is there and goes on live, each event once and in order [ws.subscribe.replay-then-live, ws.subscribe.no-gap-no-duplicate]', async () => {
    const session = await world.connect(nodeId, owner);
    await world.say(session, owner, 'one', 'two');
    const client = await world.client(reader);
    const reply = await client.ask('subscribe', { session_id: session.id, after: 1 });
    expect(reply).toMatchObject({ type: 'reply', payload: { session_id: session.id, last_seq: 3 } });
    await world.say(session, owner, 'three');
    await client.until(() => client.seqs(session.id).length === 3, 'three events');
    expect(client.seqs(session.id)).toEqual([2, 3, 4]);
    expect(client.events(session.id).at(-1)).toMatchObject({ kind: 'assistant_message', payload: { text: 'three' } });
    const place = client.frames.findIndex(({ type }) => type === 'event');
    expect(client.frames.indexOf(reply)).toBeLessThan(place);
  });

  it('made while others write loses and doubles nothing, for many at once', async () => {
    const session = await world.connect(nodeId, owner);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) await world.say(session, owner, 'a', 'b', 'c');
    })();
    const clients = await Promise.all(upTo(8).map(() => world.client(owner)));
    for (const client of clients) await client.ask('subscribe', { session_id: session.id, after: 0 });
    isWriting = false;
    await writing;
    const last = await world.say(session, owner, 'end');
    for (const client of clients) {
      await client.until(() => client.seqs(session.id).at(-1) === last, 'the end');
      expect(client.seqs(session.id)).toEqual(upTo(last));
    }
  });

  it('goes on after a drop where it was [ws.reconnect]', async () => {
    const session = await world.connect(nodeId, owner);
    const before = await world.client(owner);
    await before.ask('subscribe', { session_id: session.id, after: 0 });
    await world.say(session, owner, 'one');
    await before.until(() => before.seqs(session.id).length === 2, 'the events');
    await before[Symbol.asyncDispose]();
    await world.say(session, owner, 'two', 'three');
    const after = await world.client(owner);
    await after.ask('subscribe', { session_id: session.id, after: 2 });
    await after.until(() => after.seqs(session.id).length === 2, 'the rest');
    expect(after.seqs(session.id)).toEqual([3, 4]);
  });

  it('ends with unsubscribe [ws.unsubscribe]', async () => {
    const [session, other] = [await world.connect(nodeId, owner), await world.connect(nodeId, owner)];
    const client = await world.client(owner);
    for (const { id } of [session, other]) await client.ask('subscribe', { session_id: id, after: 1 });
    expect(await client.ask('unsubscribe', { session_id: session.id })).toMatchObject({ type: 'reply' });
    await world.say(session, owner, 'unheard');
    await world.call(streamDelta, { session_id: session.id, run_id: session.runId, text: 'unheard' }, owner.caller);
    await world.say(other, owner, 'heard');
    await client.until(() => client.seqs(other.id).length === 1, 'the other one');
    expect([client.seqs(session.id), client.of('delta')]).toEqual([[], []]);
  });

  it('gets deltas while they are made, and never afterwards [ws.delta.live-only, sessions.log.deltas-not-persisted]', async () => {
    const session = await world.connect(nodeId, owner);
    const [client, late] = [await world.client(reader), await world.client(reader)];
    await client.ask('subscribe', { session_id: session.id });
    await client.until(() => client.seqs(session.id).length === 1, 'the replay');
    const delta = { session_id: session.id, run_id: session.runId, text: 'Wri' };
    await client.until(() => {
      void world.call(streamDelta, delta, owner.caller);
      return client.of('delta').length > 0;
    }, 'a delta');
    expect(client.of('delta')[0]?.payload).toEqual(delta);
    await late.ask('subscribe', { session_id: session.id });
    await world.say(session, owner, 'Written.');
    await late.until(() => late.seqs(session.id).length === 2, 'the log');
    expect(late.of('delta')).toEqual([]);
  });

  it("of a session that is hidden, absent or somebody else's without a node is refused alike [errors.session-not-found, errors.object.ws]", async () => {
    const hidden = await world.node('Hidden too', 'private');
    const ids = [
      (await world.connect(hidden.id, world.admin)).id,
      (await world.connect(undefined, owner)).id,
      randomUUID(),
    ];
    const client = await world.client(reader);
    const answers = [];
    for (const session_id of ids) {
      const { type, payload } = await client.ask('subscribe', { session_id });
      answers.push(JSON.stringify({ type, ...payload, request_id: '' }).replaceAll(session_id, 'ID'));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('SESSION_NOT_FOUND');
  });

  it('ends within a second when its person loses sight, with an error that says so [access.revoke.open-sockets]', async () => {
    const node = await world.node('Soon hidden');
    const session = await world.connect(node.id, world.admin);
    const client = await world.client(reader);
    await client.ask('subscribe', { session_id: session.id });
    await client.until(() => client.seqs(session.id).length === 1, 'the replay');
    await world.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true }, world.admin.caller);
    await world.say(session, world.admin, 'secret');
    await client.until(() => client.of('error').length > 0, 'the end');
    expect(client.of('error')[0]?.payload).toMatchObject({
      code: 'SESSION_NOT_FOUND',
      details: { session_id: session.id },
    });
    expect(client.seqs(session.id)).toEqual([1]);
    expect(client.socket.readyState).toBe(1);
  });

  it('is one of a limited number', async () => {
    const session = await world.connect(nodeId, owner);
    const client = await world.client(owner);
    const others: { readonly id: string }[] = [];
    for (const _ of upTo(LIMITS.subscriptionsPerSocket)) others.push(await world.connect(nodeId, owner));
    for (const { id } of others) client.send({ type: 'subscribe', payload: { session_id: id } });
    await client.until(
      () => new Set(client.of('event').map(({ payload }) => payload.session_id)).size === others.length,
      'all',
    );
    expect(await client.ask('subscribe', { session_id: session.id })).toMatchObject({
      type: 'error',
      payload: { code: 'VALIDATION_FAILED' },
    });
    await client.ask('unsubscribe', { session_id: others[0]?.id });
    expect(await client.ask('subscribe', { session_id: session.id })).toMatchObject({ type: 'reply' });
  });
});

describe('a frame', () => {
  it('drives a session as its REST route does [ws.frame.same-as-rest, ws.session-state.pushed]', async () => {
    const input = { node_id: nodeId, brief: 'Do it.', runner: 'scripted' };
    const { id: session_id } = await world.call(startSession, input, owner.caller);
    const order = world.runs.orders.at(-1);
    const client = await world.client(owner);
    expect(await client.ask('message', { session_id, text: 'More.' })).toMatchObject({
      payload: { seq: 3, delivered: true },
    });
    const question = { request_id: 'q1', type: 'input', title: 'Which?' };
    const events = [{ id: randomUUID(), kind: 'question', payload: question }] as never;
    await world.call(appendSessionEvents, { session_id, run_id: order?.run_id ?? '', events }, owner.caller);
    await client.until(
      () => client.of('session_state').some(({ payload }) => payload.waiting_since !== null),
      'waiting',
    );
    expect(await client.ask('answer', { session_id, request_id: 'q1', decision: { text: 'This.' } })).toMatchObject({
      payload: { waiting_since: null },
    });
    expect(await client.ask('answer', { session_id, request_id: 'q1', decision: { text: 'That.' } })).toMatchObject({
      type: 'error',
      payload: { code: 'CONFLICT' },
    });
    expect(await client.ask('answer', { session_id, request_id: 'q2', decision: { text: 'x' } })).toMatchObject({
      payload: { code: 'NO_PENDING_QUESTION' },
    });
    expect(await client.ask('interrupt', { session_id })).toMatchObject({ payload: { state: 'running' } });
    expect(await client.ask('suspend', { session_id })).toMatchObject({ payload: { state: 'suspended' } });
    expect(await client.ask('message', { session_id, text: 'x' })).toMatchObject({ payload: { code: 'NO_LIVE_RUN' } });
    expect(await client.ask('close', { session_id })).toMatchObject({ payload: { state: 'closed' } });
    await client.until(() => client.states(session_id).at(-1) === 'closed', 'the last state');
    const closed = await world.call(getSession, { session_id }, owner.caller);
    expect(closed.state).toBe('closed');
  });

  it('that changes something needs the scope write, and the session of the caller [ws.auth.write-frames, errors.session-forbidden]', async () => {
    const { id: session_id } = await world.connect(nodeId, owner);
    const writer = await world.person('Wil', 'write');
    const [asReader, asWriter] = [await world.client(reader), await world.client(writer)];
    for (const type of ['interrupt', 'suspend', 'close'] as const) {
      const { payload } = await asReader.ask(type, { session_id });
      expect(payload).toMatchObject({ code: 'FORBIDDEN', details: { required_scope: 'write' } });
      expect((await asWriter.ask(type, { session_id })).payload.code).toBe('SESSION_FORBIDDEN');
    }
    expect((await asReader.ask('message', { session_id, text: 'x' })).payload.code).toBe('FORBIDDEN');
    expect((await asReader.ask('answer', { session_id, request_id: 'q', decision: { text: 'x' } })).payload.code).toBe(
      'FORBIDDEN',
    );
  });

  it('with an id is answered once, whatever is wrong with it, and the socket stays open [ws.frame.reply-with-id, ws.frame.refusal-keeps-socket]', async () => {
    const client = await world.client(owner);
    const frames: unknown[] = [
      { id: 'a', type: 'dance', payload: {} },
      { id: 'b', type: 'subscribe', payload: { session_id: 'x' } },
      { id: 'c', type: 'subscribe', payload: { session_id: randomUUID(), more: 1 } },
      { id: 'd', type: 'subscribe', payload: 'x' },
      { id: 'e', type: 'message', payload: { session_id: randomUUID(), text: '' } },
      { id: 'f', type: 'constructor', payload: {} },
      { id: 'g' },
    ];
    for (const frame of frames) client.send(frame);
    client.send('{"id":"h",');
    client.send('[]');
    client.send(Buffer.from([1, 2, 3]));
    await client.until(() => client.of('error').length === frames.length + 3, 'the errors');
    for (const frame of frames) {
      const answers = client.frames.filter(({ id }) => id === (frame as { id: string }).id);
      expect(answers).toMatchObject([
        { type: 'error', payload: { code: 'VALIDATION_FAILED', request_id: expect.any(String) } },
      ]);
    }
    expect(client.socket.readyState).toBe(1);
    expect(await client.ask('unsubscribe', { session_id: randomUUID() })).toMatchObject({ type: 'reply' });
  });

  it('too many of them are refused, and not carried out', async () => {
    const client = await world.client(owner);
    for (let count = 0; count < 600; count++)
      client.send({ id: count, type: 'unsubscribe', payload: { session_id: randomUUID() } });
    await client.until(() => client.frames.filter(({ id }) => id !== undefined).length === 600, 'all answers');
    const limited = client.of('error').filter(({ payload }) => payload.code === 'RATE_LIMITED');
    expect(limited.length).toBeGreaterThan(0);
    expect(client.of('reply').length).toBeGreaterThanOrEqual(200);
  });

  it('that is larger than the limit closes the socket', async () => {
    const client = await world.client(owner);
    client.send({ type: 'message', payload: { text: 'x'.repeat(LIMITS.frameBytes) } });
    await client.until(() => client.closed !== undefined, 'the close');
    expect(client.closed?.code).toBe(1009);
  });
});

it('a question outlives the end of everything: it is told to whoever connects, and answered once, for the run that goes on [sessions.question.persisted, sessions.log.answers-once]', async () => {
  const { id: node_id } = await world.node('Asked');
  const task = { node_id, brief: 'Ask.', runner: 'scripted' };
  const { id: session_id } = await world.call(startSession, task, owner.caller);
  const payload = { request_id: 'which', type: 'input', title: 'Which year?' };
  const run_id = world.runs.orders.at(-1)?.run_id ?? '';
  const events = [{ id: randomUUID(), kind: 'question', payload }] as never;
  await world.call(appendSessionEvents, { session_id, run_id, events }, owner.caller);
  await world.restart();
  const both = [await world.client(owner), await world.client(owner)] as const;
  const waits = (client: LiveClient): boolean =>
    client.of('session_state').some(({ payload: of }) => of.session_id === session_id && of.waiting_since !== null);
  for (const client of both) await client.until(() => waits(client), 'the session that waits');
  const answer = { session_id, request_id: 'which', decision: { text: '2026' } };
  const replies = await Promise.all(both.map((client) => client.ask('answer', answer)));
  expect(replies.map(({ type, payload: { code } }) => code ?? type).toSorted()).toEqual(['CONFLICT', 'reply']);
  await world.call(resumeSession, { session_id, mode: 'handoff' }, owner.caller);
  expect(world.runs.orders.at(-1)?.answers).toEqual([{ request_id: 'which', decision: { text: '2026' } }]);
});

describe('a socket ends', () => {
  it('when its credential does', async () => {
    const leaver = await world.person('Lea', 'write');
    const client = await world.client(leaver);
    await world.call(revokeToken, { token_id: leaver.tokenId }, world.admin.caller);
    await client.until(() => client.closed !== undefined, 'the close');
    expect(client.closed?.code).toBe(4401);
  });
});
