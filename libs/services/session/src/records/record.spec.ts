import { randomUUID } from 'node:crypto';
import {
  closeSession,
  connectSession,
  getResumeInfo,
  getSession,
  getSessionSignals,
  LIMITS,
  renameSession,
  resumeSession,
  type Session,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected, Reported } from '../testing/session-calls.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.runs.handoff = { title: 'Draft is ready', text: 'The draft lies in wip/draft.md.' };
  world.runs.failToStart = null;
  world.runs.canContinue = false;
});

const handoff = (title: string): Reported => ({ kind: 'handoff', payload: { title, text: 'x', written_by: 'agent' } });
const rename = ({ session }: Pick<Connected, 'session'>, name: string, expected_version?: number): Promise<Session> =>
  world.harness.call(
    renameSession,
    { session_id: session.id, name, ...(expected_version === undefined ? {} : { expected_version }) },
    world.owner,
  );

describe('a name', () => {
  it('that the owner gives stays, whatever is handed over later [sessions.rename, sessions.record.name-from-handoff]', async () => {
    const task = await world.task();
    await world.report(task, [handoff('First')]);
    expect((await world.get(task.session.id)).name).toBe('Home · First');
    expect(await rename(task, '  My own  ')).toMatchObject({ name: 'My own' });
    await world.report(task, [handoff('Second')]);
    await world.harness.call(suspendSession, { session_id: task.session.id }, world.owner);
    expect(await world.get(task.session.id)).toMatchObject({ name: 'My own', handoff: { title: 'Draft is ready' } });
    const closed = await world.harness.call(closeSession, { session_id: task.session.id }, world.owner);
    expect(await rename({ session: closed }, 'Of a closed one')).toMatchObject({
      name: 'Of a closed one',
      state: 'closed',
    });
  });

  it('is changed on the version that it is based on alone, by one of several at once [sessions.record.version]', async () => {
    const connected = await world.connect();
    const { version } = connected.session;
    const attempts = await Promise.allSettled(
      [1, 2, 3, 4].map((number) => rename(connected, `Name ${number}`, version)),
    );
    const lost = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
    expect(lost).toHaveLength(3);
    const current = await world.get(connected.session.id);
    for (const error of lost) expect(error).toMatchObject({ code: 'CONFLICT', details: { current } });
    expect(current.version).toBe(version + 1);
    expect(await rename(connected, 'Later', current.version)).toMatchObject({ version: version + 2 });
    // The same name again changes nothing.
    expect(await rename(connected, 'Later')).toMatchObject({ version: version + 2 });
  });

  it('of a session of an unnamed program is one all the same', async () => {
    for (const [title, name, starts] of [
      ['', 'tool', 'tool · '],
      [' \n ', '', 'Session · '],
      ['Two\nlines', 'tool', 'Two lines · '],
    ] as const) {
      const { session } = await world.connect({ node_id: undefined, client: { name, title, version: '1' } });
      expect(session.name.startsWith(starts)).toBe(true);
      expect(session.name.length).toBeLessThanOrEqual(LIMITS.nameLength);
    }
  });
});

describe('what speaks for handing over', () => {
  it('is the age of the run, and how many nodes are in reach and came to it since [sessions.signals]', async () => {
    const task = await world.task();
    const input = { session_id: task.session.id };
    const signals = () => world.harness.call(getSessionSignals, input, world.reader);
    await world.sql(`UPDATE session.run SET started_at = now() - interval '90 seconds' WHERE id = $1`, [task.run_id]);
    expect(await signals()).toMatchObject({ read_count: 1, write_count: 1, expansions: 0 });
    const { run } = await signals();
    expect(run).toMatchObject({ run_id: task.run_id, mode: 'fresh' });
    expect(run?.age_seconds).toBeGreaterThanOrEqual(90);
    const further = await world.node('Further');
    await world.sql(
      `INSERT INTO session.scope (session_id, node_id, access, added_via) VALUES ($1, $2, 'write', 'expand')`,
      [task.session.id, further],
    );
    expect(await signals()).toMatchObject({ read_count: 2, write_count: 2, expansions: 1 });
    await world.harness.call(suspendSession, input, world.owner);
    expect(await signals()).toEqual({ run: null, read_count: 2, write_count: 2, expansions: 0 });
    await world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner);
    expect(await signals()).toMatchObject({ run: { mode: 'handoff' }, read_count: 2, expansions: 0 });
  });
});

describe('the ways in which a session can go on', () => {
  it('are the handoff always and the conversation while it can be picked up, for the owner of a suspended one [sessions.resume-info]', async () => {
    const task = await world.task();
    const input = { session_id: task.session.id };
    const info = (caller = world.owner) => world.harness.call(getResumeInfo, input, caller);
    expect(await info()).toEqual({ modes: [], handoff: null, handoff_file: null });
    world.runs.canContinue = true;
    const long = { title: 'Long', text: 'ž🦊'.repeat(600) };
    world.runs.handoff = long;
    const suspended = await world.harness.call(suspendSession, input, world.owner);
    expect(suspended.handoff?.excerpt).toBe('ž🦊'.repeat(250));
    expect(await info()).toMatchObject({
      modes: ['conversation', 'handoff'],
      handoff: { ...long, written_by: 'agent' },
    });
    for (const caller of [world.reader, world.manager]) expect((await info(caller)).modes).toEqual([]);
    world.runs.canContinue = false;
    await world.harness.call(resumeSession, { ...input, mode: 'conversation' }, world.owner);
    await world.harness.call(suspendSession, input, world.owner);
    expect((await info()).modes).toEqual(['handoff']);
    await world.harness.call(closeSession, input, world.owner);
    expect((await info()).modes).toEqual([]);
  });

  it('are none for an agent that connects by itself, which could not be resumed [sessions.resume-info]', async () => {
    const connected = await world.connect();
    const input = { session_id: connected.session.id };
    const handoff = { title: 'Half done', text: 'The rest tomorrow.', written_by: 'agent' as const };
    await world.report(connected, [{ kind: 'handoff', payload: handoff }]);
    await world.end(connected, { outcome: 'suspended', reason: 'disconnect' });
    expect(await world.harness.call(getResumeInfo, input, world.owner)).toMatchObject({
      modes: [],
      handoff: { title: 'Half done' },
    });
    const resumed = world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner);
    await expect(resumed).rejects.toMatchObject({ code: 'NO_LIVE_RUN' });
  });
});

describe('a task', () => {
  it('goes on by a resume alone: an agent that connects to it while it is suspended sets nothing going', async () => {
    const task = await world.task();
    const input = { session_id: task.session.id };
    await world.harness.call(suspendSession, input, world.owner);
    const before = await world.get(task.session.id);
    const client = { name: 'agent', title: null, version: '1' };
    const error = await world.harness.refusal(
      connectSession,
      { ...input, run_id: randomUUID(), holder: 'edge', client },
      world.owner,
      'CONFLICT',
    );
    expect(error.details).toEqual({ current: before });
    expect(await world.get(task.session.id)).toEqual(before);
  });

  it('keeps what its program says in a form that fits a log, whatever it is', async () => {
    world.runs.failToStart = `broken \u0000 \ud83e ${'x'.repeat(5_000)}`;
    const input = { node_id: world.nodeId, brief: 'x', runner: 'scripted' };
    const session = await world.harness.call(startSession, input, world.owner);
    const ended = (await world.log(session.id)).find(({ kind }) => kind === 'run_ended');
    expect(ended?.payload).toMatchObject({ error: expect.stringMatching(/^broken {3}\ufffd x+$/) });
    world.runs.failToStart = null;
    const task = await world.task();
    world.runs.handoff = { title: `\n a\u0000b\n${'t'.repeat(500)}`, text: 'a\u0000b\ud83e' };
    const suspended = await world.harness.call(suspendSession, { session_id: task.session.id }, world.owner);
    expect(suspended.handoff).toMatchObject({ excerpt: 'a b\ufffd', written_by: 'agent' });
    expect(suspended.handoff?.title).toMatch(/^a b t+$/);
    expect(suspended.handoff?.title.length).toBeLessThanOrEqual(LIMITS.nameLength);
  });

  it('keeps its policy as it was given, and refuses one that no text can hold [sessions.create.policy-optional]', async () => {
    const input = { node_id: world.nodeId, brief: 'x', runner: 'scripted', instance_id: 'second' };
    const policy = { allow: ['read', { z: 1, a: null }], žluť: true };
    const session = await world.harness.call(startSession, { ...input, policy }, world.owner);
    expect(session).toMatchObject({ policy, instance_id: 'second' });
    expect(world.runs.orders.at(-1)).toMatchObject({ policy, instance_id: 'second' });
    for (const wrong of [{ a: 'a\u0000' }, { a: '\ud83e' }, { '\udc00': 1 }, { a: 'x'.repeat(10_001) }, [], 'x'])
      await world.harness.refusal(startSession, { ...input, policy: wrong }, world.owner, 'VALIDATION_FAILED');
  });
});

it('a node that is purged takes its sessions with it, with all that is theirs', async () => {
  const node = await world.node('To be purged');
  const connected = await world.connect({ node_id: node });
  const nodeless = await world.connect({ node_id: undefined });
  await world.report(connected, [
    { kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } },
    { kind: 'tool_call', payload: { call_id: 'c', phase: 'completed', title: 't' }, output: 'x' },
  ]);
  const count = async () => (await world.sql('SELECT session.count_of_node($1) AS n', [node]))[0]?.['n'];
  expect(await count()).toBe(1);
  await world.sql('DELETE FROM graph.node WHERE id = $1', [node]);
  expect(await count()).toBe(0);
  for (const table of ['run', 'event', 'output', 'question', 'scope'])
    expect(await world.sql(`SELECT FROM session.${table} WHERE session_id = $1`, [connected.session.id])).toEqual([]);
  for (const caller of [world.owner, world.manager])
    await world.harness.refusal(getSession, { session_id: connected.session.id }, caller, 'SESSION_NOT_FOUND');
  expect(await world.end(connected, { outcome: 'lost', reason: 'disconnect' })).toEqual({ ended: false });
  expect((await world.get(nodeless.session.id)).state).toBe('running');
});

it('a session begins on its node or is told that there is none, while the node is being purged', async () => {
  for (let round = 0; round < 8; round += 1) {
    const node = await world.node(`Purged ${round}`);
    const attempts = await Promise.allSettled([
      world.connect({ node_id: node }),
      world.sql('DELETE FROM graph.node WHERE id = $1', [node]),
      world.connect({ node_id: node }),
    ]);
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'NODE_NOT_FOUND' });
    expect(await world.sql('SELECT FROM session.session WHERE node_id = $1', [node])).toEqual([]);
  }
});

it('a run that has begun already is no other one: nothing begins under its id twice', async () => {
  const connected = await world.connect();
  const client = { name: 'agent', title: null, version: '1' };
  const input = { run_id: connected.run_id, holder: 'edge', client, node_id: world.nodeId };
  await world.harness.refusal(connectSession, input, world.owner, 'CONFLICT');
});
