import { randomUUID } from 'node:crypto';
import {
  answerQuestion,
  appendSessionEvents,
  type Caller,
  closeSession,
  connectSession,
  getResumeInfo,
  getSession,
  getSessionOutput,
  getSessionSignals,
  interruptSession,
  listNodeSessions,
  listSessionEvents,
  listSessionStates,
  listSessions,
  type Operation,
  renameSession,
  resumeSession,
  type ServiceError,
  SessionState,
  sendMessage,
  suspendSession,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected } from '../testing/session-calls.js';

let world: SessionWorld;
let stranger: Caller;
beforeAll(async () => {
  world = await SessionWorld.start();
  stranger = await world.harness.user('Sven', 'write');
});
afterAll(() => world[Symbol.asyncDispose]());

/** Every operation that names a session, with what it needs beside the id. */
const NAMING: readonly (readonly [Operation, Readonly<Record<string, unknown>>])[] = [
  [getSession, {}],
  [listSessionEvents, {}],
  [getSessionOutput, { event_id: randomUUID() }],
  [getSessionSignals, {}],
  [getResumeInfo, {}],
  [renameSession, { name: 'Mine' }],
  [sendMessage, { text: 'Hello' }],
  [answerQuestion, { request_id: 'r', decision: { text: 'x' } }],
  [interruptSession, {}],
  [suspendSession, {}],
  [resumeSession, { mode: 'handoff' }],
  [closeSession, {}],
  [
    appendSessionEvents,
    { run_id: randomUUID(), events: [{ id: randomUUID(), kind: 'reasoning', payload: { text: 'x' } }] },
  ],
  [connectSession, { run_id: randomUUID(), holder: 'e', client: { name: 'a', title: null, version: '1' } }],
];

/** What a caller is told of every operation on the session, with its id under a name. */
async function refusalsOf(sessionId: string, caller: Caller): Promise<string[]> {
  const told: string[] = [];
  for (const [operation, rest] of NAMING) {
    const input = { session_id: sessionId, ...rest };
    const error: ServiceError = await world.harness.refusal(operation, input, caller, 'SESSION_NOT_FOUND');
    told.push(`${operation.name} ${JSON.stringify(error.toBody('r')).replaceAll(sessionId, '<id>')}`);
  }
  return told;
}

/** All that lists tell of the session to a caller. */
async function listed(connected: Connected, nodeId: string | null, caller: Caller): Promise<boolean> {
  const every = { state: SessionState.options, limit: 500 };
  const lists = [
    (await world.harness.call(listSessions, every, caller)).items,
    (await world.harness.call(listSessionStates, { limit: 2_000 }, caller)).items,
    ...(nodeId ? [(await world.harness.call(listNodeSessions, { node_id: nodeId, ...every }, caller)).items] : []),
  ];
  const found = lists.map((items) => JSON.stringify(items).includes(connected.session.id));
  expect(new Set(found).size).toBe(1);
  return found[0] ?? false;
}

describe('a session on a node that the caller does not see', () => {
  it('is answered as one that never was by every operation, and is in no list [sessions.access.invisible-anchor, errors.session-not-found]', async () => {
    const node = await world.node('Secret', [world.owner]);
    const connected = await world.connect({ node_id: node });
    const { id } = connected.session;
    await world.report(connected, [{ kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } }]);
    const before = await world.get(id);
    const absent = await refusalsOf(newId(), stranger);
    expect(await refusalsOf(id, stranger)).toEqual(absent);
    expect(await listed(connected, null, stranger)).toBe(false);
    expect(await listed(connected, node, world.manager)).toBe(true);
    await world.harness.refusal(listNodeSessions, { node_id: node }, stranger, 'NODE_NOT_FOUND');
    expect(await world.get(id)).toEqual(before);
  });

  it('is lost to its owner with the sight of the node and comes back with it, in every state', async () => {
    const node = await world.node('Now and then', [world.owner]);
    const connected = await world.connect({ node_id: node });
    const { id } = connected.session;
    const absent = await refusalsOf(newId(), world.owner);
    for (const operation of [null, suspendSession, closeSession]) {
      if (operation) await world.harness.call(operation, { session_id: id }, world.owner);
      const seen = await world.get(id);
      await world.share(node, [stranger]);
      expect(await refusalsOf(id, world.owner)).toEqual(absent);
      expect(await listed(connected, null, world.owner)).toBe(false);
      await world.share(node, [world.owner]);
      expect(await world.get(id)).toEqual(seen);
    }
  });

  it('is still suspended when its run ends, whatever its owner sees by then [sessions.never-dropped]', async () => {
    const node = await world.node('Lost', [world.owner]);
    const connected = await world.connect({ node_id: node });
    await world.share(node, []);
    expect(await world.end(connected, { outcome: 'suspended', reason: 'disconnect' })).toEqual({ ended: true });
    expect(await world.get(connected.session.id, world.manager)).toMatchObject({ state: 'suspended' });
  });

  it('is not told again in the kept reply of a call that comes a second time', async () => {
    const node = await world.node('Repeated', [world.owner]);
    const { session } = await world.connect({ node_id: node });
    const callId = randomUUID();
    const input = { session_id: session.id, name: 'Renamed' };
    await world.harness.call(renameSession, input, world.owner, callId);
    await world.share(node, []);
    await expect(world.harness.call(renameSession, input, world.owner, callId)).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });
});

it('a session without a node is there for its owner alone, not for manage either [sessions.access.node-less]', async () => {
  const connected = await world.connect({ node_id: undefined });
  const { id } = connected.session;
  const absent = await refusalsOf(newId(), stranger);
  for (const caller of [stranger, world.manager]) {
    expect(await refusalsOf(id, caller)).toEqual(absent);
    expect(await listed(connected, null, caller)).toBe(false);
  }
  expect(await listed(connected, null, world.owner)).toBe(true);
  expect(await world.get(id)).toMatchObject({ node: null, is_own: true });
});

describe('whose session it is', () => {
  it('is told to the owner and to manage, and to nobody else, not in its events either [sessions.record.owner-name-below-manage]', async () => {
    const task = await world.task();
    const { id } = task.session;
    await world.report(task, [{ kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } }]);
    const call = <Op extends Operation>(operation: Op, rest: object) =>
      world.harness.call(operation, { session_id: id, ...rest } as never, world.owner);
    await call(answerQuestion, { request_id: 'r', decision: { text: '2026' } });
    await call(sendMessage, { text: 'Go on' });
    await call(interruptSession, {});
    await call(suspendSession, {});
    await call(resumeSession, { mode: 'handoff' });
    await call(closeSession, {});
    const owner = { id: world.owner.user_id, name: 'Olga' };
    for (const caller of [world.owner, world.manager]) expect((await world.get(id, caller)).owner).toEqual(owner);
    const told = [
      await world.get(id, world.reader),
      await world.log(id, world.reader),
      (await world.harness.call(listSessions, { limit: 500 }, world.reader)).items.filter((item) => item.id === id),
    ];
    expect(told[0]).toMatchObject({ owner: null, is_own: false });
    expect(JSON.stringify(told)).not.toContain(owner.id);
    expect(JSON.stringify(told)).not.toContain(owner.name);
    expect(JSON.stringify(await world.log(id, world.manager))).not.toContain(owner.id);
  });

  it('decides who may do what: the owner everything, manage to stop it, others nothing [sessions.access.message-tier, sessions.access.stop-tier, errors.session-forbidden]', async () => {
    const task = await world.task();
    const tiers: readonly (readonly [Operation, Readonly<Record<string, unknown>>, readonly Caller[]])[] = [
      [renameSession, { name: 'Mine' }, [stranger, world.manager]],
      [sendMessage, { text: 'Hello' }, [stranger, world.manager]],
      [resumeSession, { mode: 'handoff' }, [stranger, world.manager]],
      [answerQuestion, { request_id: 'r', decision: { text: 'x' } }, [stranger, world.manager]],
      [interruptSession, {}, [stranger]],
      [suspendSession, {}, [stranger]],
      [closeSession, {}, [stranger]],
    ];
    const before = await world.get(task.session.id);
    const asked = world.runs.asked.length;
    for (const [operation, rest, callers] of tiers)
      for (const caller of callers)
        await world.harness.refusal(operation, { session_id: task.session.id, ...rest }, caller, 'SESSION_FORBIDDEN');
    for (const [operation, rest] of tiers)
      await world.harness.refusal(operation, { session_id: task.session.id, ...rest }, world.reader, 'FORBIDDEN');
    expect(await world.get(task.session.id)).toEqual(before);
    // Whoever may not stop it has not reached its run either.
    expect(world.runs.asked).toHaveLength(asked);
    for (const operation of [interruptSession, suspendSession, closeSession])
      await world.harness.call(operation, { session_id: task.session.id }, world.manager);
    const actors = (await world.log(task.session.id)).flatMap((event) =>
      event.kind === 'state_changed' ? [event.payload.by] : [],
    );
    expect(actors).toEqual(Array(3).fill({ role: 'manager', name: 'Mara' }));
  });
});

describe('the scope of a session', () => {
  it('is counted as far as the caller sees its nodes: it is its owner who sees them all', async () => {
    const [home, open, hidden] = [
      await world.node('Home of scope'),
      await world.node('Open beside'),
      await world.node('Hidden beside', [world.owner]),
    ];
    for (const id of [open, hidden])
      await world.sql(
        `INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), $1, $2, 'related_to')`,
        [home, id],
      );
    const { session } = await world.connect({ node_id: home });
    expect(session).toMatchObject({ read_count: 3, write_count: 1 });
    const counts = async (caller: Caller) => {
      const { read_count, write_count } = await world.get(session.id, caller);
      const signals = await world.harness.call(getSessionSignals, { session_id: session.id }, caller);
      expect(signals).toMatchObject({ read_count, write_count });
      return [read_count, write_count];
    };
    expect(await counts(world.owner)).toEqual([3, 1]);
    expect(await counts(world.manager)).toEqual([3, 1]);
    for (const caller of [world.reader, stranger]) expect(await counts(caller)).toEqual([2, 1]);
    await world.share(hidden, []);
    expect(await counts(world.owner)).toEqual([2, 1]);
  });

  it('is that of the session: it outlives its runs, and a new one adds nothing to it [sessions.scope.persisted]', async () => {
    const [home, expanded, later] = [
      await world.node('Home of reconnects'),
      await world.node('Expanded to'),
      await world.node('Joined later'),
    ];
    const connected = await world.connect({ node_id: home });
    const { id } = connected.session;
    await world.sql(
      `INSERT INTO session.scope (session_id, node_id, access, added_via, reason) VALUES ($1, $2, 'write', 'expand', 'Needed')`,
      [id, expanded],
    );
    const scope = () => world.sql('SELECT * FROM session.scope WHERE session_id = $1 ORDER BY node_id', [id]);
    const before = await scope();
    await world.end(connected, { outcome: 'lost', reason: 'disconnect' });
    await world.sql(
      `INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), $1, $2, 'related_to')`,
      [home, later],
    );
    const { session } = await world.connect({ session_id: id });
    expect(session).toMatchObject({ read_count: 2, write_count: 2 });
    expect(await scope()).toEqual(before);
  });

  it('begins with what the owner sees beside the home node, and no more', async () => {
    const [home, hidden] = [await world.node('Home of seed'), await world.node('Hidden from the owner', [stranger])];
    await world.sql(
      `INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES (gen_random_uuid(), $1, $2, 'related_to')`,
      [hidden, home],
    );
    const { session } = await world.connect({ node_id: home });
    expect(
      await world.sql('SELECT node_id, access, added_via FROM session.scope WHERE session_id = $1', [session.id]),
    ).toEqual([{ node_id: home, access: 'write', added_via: 'seed' }]);
  });
});
