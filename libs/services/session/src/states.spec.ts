import { randomUUID } from 'node:crypto';
import {
  closeSession,
  connectSession,
  interruptSession,
  renewRuns,
  resumeSession,
  type SessionEvent,
  sendMessage,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import { HANDOFF_MS } from './driving/driven-runs.js';
import { SessionSweeps } from './sweeps/session-sweeps.js';
import type { ScriptedRuns } from './testing/scripted-runs.js';
import { SessionWorld } from './testing/session.fixture.js';

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

const last = <K extends SessionEvent['kind']>(log: readonly SessionEvent[], kind: K) =>
  log.findLast((event): event is SessionEvent & { kind: K } => event.kind === kind)?.payload;

describe('an agent connects', () => {
  it('and its session is born running, on its home node, with its client and its own write scope [sessions.states, sessions.record.owner, sessions.record.anchor-optional, sessions.record.cli-from-handshake, sessions.record.write-count, sessions.scope.seed]', async () => {
    const { session } = await world.connect();
    expect(session).toMatchObject({
      state: 'running',
      origin: 'connection',
      node: { id: world.nodeId, name: 'Home' },
      owner: { id: world.owner.user_id, name: 'Olga' },
      is_own: true,
      is_live: true,
      client: { name: 'test-agent', title: 'Test Agent', version: '1.0' },
      read_count: 1,
      write_count: 1,
      last_seq: 1,
    });
    expect(await world.kinds(session.id)).toEqual(['run_started']);
    const { session: nodeless } = await world.connect({ node_id: undefined });
    expect(nodeless).toMatchObject({ node: null, read_count: 0, write_count: 0 });
  });

  it('and its session is called after the node, with date and time; without a node after the client [sessions.record.default-name]', async () => {
    const when = / · \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/;
    const { session } = await world.connect();
    expect(session.name).toMatch(when);
    expect(session.name.replace(when, '')).toBe('Home');
    const { session: nodeless } = await world.connect({ node_id: undefined });
    expect(nodeless.name.replace(when, '')).toBe('Test Agent');
  });

  it('to a node that its person does not see, and is told that there is none', async () => {
    const client = { name: 'a', title: null, version: '1' };
    const input = { run_id: randomUUID(), holder: 'edge', client, node_id: randomUUID() };
    await world.harness.refusal(connectSession, input, world.owner, 'NODE_NOT_FOUND');
  });
});

describe('a run ends', () => {
  it.each(['disconnect', 'idle', 'terminal_exit'] as const)(
    'by %s: the session is suspended for that reason, with a handoff of the server [sessions.suspend.on-disconnect, sessions.suspend.on-idle, sessions.handoff.server-minimal, sessions.reasons.codes, sessions.never-dropped]',
    async (reason) => {
      const connected = await world.connect();
      expect(await world.end(connected, { outcome: 'suspended', reason, can_continue: true })).toEqual({ ended: true });
      const session = await world.get(connected.session.id);
      expect(session).toMatchObject({
        id: connected.session.id,
        state: 'suspended',
        is_live: false,
        can_continue: true,
        suspended: { reason, by_server: true },
        handoff: { written_by: 'server', title: session.name },
      });
      const log = await world.log(session.id);
      expect(log.map(({ kind }) => kind)).toEqual(['run_started', 'handoff', 'run_ended', 'state_changed']);
      expect(last(log, 'state_changed')).toEqual({
        from: 'running',
        to: 'suspended',
        reason,
        by: { role: 'server', name: null },
      });
      expect(last(log, 'run_ended')).toEqual({ run_id: connected.run_id, outcome: 'suspended' });
      // Reported again, by a holder that has not heard the answer.
      expect(await world.end(connected, { outcome: 'suspended', reason })).toEqual({ ended: false });
      expect((await world.log(session.id)).length).toBe(log.length);
    },
  );

  it('after the agent has handed over: its handoff stays, and names a session that its owner has not named [sessions.record.name-from-handoff]', async () => {
    const connected = await world.connect();
    const handoff = { title: 'Budget agreed', text: 'See wip/budget.md.', written_by: 'agent' as const };
    await world.report(connected, [{ kind: 'handoff', payload: handoff }]);
    await world.end(connected, { outcome: 'suspended', reason: 'disconnect' });
    const session = await world.get(connected.session.id);
    expect(session).toMatchObject({
      name: 'Home · Budget agreed',
      suspended: { reason: 'disconnect', by_server: false },
      handoff: { title: 'Budget agreed', excerpt: 'See wip/budget.md.', written_by: 'agent' },
    });
    expect((await world.kinds(session.id)).filter((kind) => kind === 'handoff')).toHaveLength(1);
  });

  it('and what the server writes has what the log knows: task, messages, files, questions', async () => {
    const task = await world.task();
    await world.report(task, [
      { kind: 'assistant_message', payload: { text: 'I have begun.' } },
      { kind: 'file_change', payload: { path: 'wip/a.md', change: 'created' } },
      { kind: 'file_change', payload: { path: 'wip/a.md', change: 'modified' } },
      { kind: 'question', payload: { request_id: 'q', type: 'input', title: 'Which year?' } },
    ]);
    await world.end(task, { outcome: 'failed', error: 'The program ended with 1.' });
    const log = await world.log(task.session.id);
    expect(last(log, 'handoff')).toMatchObject({ written_by: 'server' });
    expect((last(log, 'handoff') as { text: string }).text.split('\n\n')).toEqual([
      'Written by the server: the run ended.',
      'Task:\nWrite the draft.',
      'Last message to the agent:\nWrite the draft.',
      'Last message of the agent:\nI have begun.',
      'Open questions:\n- Which year?',
      'Files changed:\n- wip/a.md',
    ]);
    expect(last(log, 'run_ended')).toMatchObject({ outcome: 'failed', error: 'The program ended with 1.' });
  });
});

describe('a process is gone', () => {
  it('and at the start of the next one its sessions are suspended: the service restarted [sessions.suspend.on-restart, sessions.never-dropped]', async () => {
    const [lost, kept] = [await world.connect({ holder: 'before' }), await world.connect({ holder: 'now' })];
    const sweeps = world.harness.module.get(SessionSweeps);
    await sweeps.suspendRunsOfOthers(['now', 'edge-1', 'scripted']);
    expect(await world.get(lost.session.id)).toMatchObject({
      state: 'suspended',
      suspended: { reason: 'server_restart', by_server: true },
    });
    expect(last(await world.log(lost.session.id), 'run_ended')).toMatchObject({ outcome: 'lost' });
    expect(await world.get(kept.session.id)).toMatchObject({ state: 'running', is_live: true });
  });

  it('and its sessions are suspended once it has not renewed their runs for a while, by one sweep of several', async () => {
    const [lost, kept] = [await world.connect({ holder: 'gone' }), await world.connect({ holder: 'there' })];
    await world.harness.database.pool.query(
      `UPDATE session.run SET lease_until = now() - interval '1 second' WHERE id = ANY ($1)`,
      [[lost.run_id, kept.run_id]],
    );
    const renewed = await world.harness.call(
      renewRuns,
      { holder: 'there', runs: [{ run_id: kept.run_id }, { run_id: lost.run_id }] },
      world.owner,
    );
    expect(renewed).toEqual({ ended: [lost.run_id] });
    const sweeps = world.harness.module.get(SessionSweeps);
    const counts = await Promise.all([1, 2, 3].map(() => sweeps.sweep({ archiveAfterDays: 30 })));
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect((await world.get(lost.session.id)).suspended?.reason).toBe('server_restart');
    expect((await world.kinds(lost.session.id)).filter((kind) => kind === 'run_ended')).toHaveLength(1);
    expect((await world.get(kept.session.id)).state).toBe('running');
    const again = await world.harness.call(renewRuns, { holder: 'gone', runs: [{ run_id: lost.run_id }] }, world.owner);
    expect(again).toEqual({ ended: [lost.run_id] });
  });
});

describe('an agent connects again', () => {
  it('and the same record goes on [sessions.record.durable-id, sessions.resume.same-record]', async () => {
    const first = await world.connect();
    await world.end(first, { outcome: 'suspended', reason: 'idle', can_continue: true });
    const second = await world.connect({ session_id: first.session.id });
    expect(second.session).toMatchObject({ id: first.session.id, state: 'running', is_live: true, suspended: null });
    const log = await world.log(first.session.id);
    expect(last(log, 'state_changed')).toMatchObject({ from: 'suspended', to: 'running', reason: 'reconnect' });
    expect(last(log, 'run_started')).toMatchObject({ run_id: second.run_id, mode: 'conversation' });
  });

  it('is refused while it is connected, and when it is closed, and to somebody else', async () => {
    const { session } = await world.connect();
    const input = {
      run_id: randomUUID(),
      holder: 'e',
      client: { name: 'a', title: null, version: '1' },
      session_id: session.id,
    };
    await world.harness.refusal(connectSession, input, world.owner, 'CONFLICT');
    await world.harness.refusal(connectSession, input, world.manager, 'SESSION_FORBIDDEN');
    await world.harness.call(closeSession, { session_id: session.id }, world.owner);
    await world.harness.refusal(connectSession, { ...input, run_id: randomUUID() }, world.owner, 'CONFLICT');
  });

  it('belongs, as the agent of a task, to the run that drives it, and makes no second one', async () => {
    const task = await world.task();
    const client = { name: 'agent-of-task', title: null, version: '2' };
    const input = { run_id: randomUUID(), holder: 'edge', client, session_id: task.session.id };
    const answer = await world.harness.call(connectSession, input, world.owner);
    expect(answer).toMatchObject({ run_id: null, session: { id: task.session.id, client, is_live: true } });
    expect((await world.kinds(task.session.id)).filter((kind) => kind === 'run_started')).toHaveLength(1);
  });
});

describe('a task', () => {
  it('starts a run with its brief', async () => {
    const { session, run_id } = await world.task();
    expect(session).toMatchObject({ origin: 'task', brief: 'Write the draft.', runner: 'scripted', is_live: true });
    expect(world.runs.orders.at(-1)).toMatchObject({ run_id, mode: 'fresh', brief: 'Write the draft.', handoff: null });
    expect(await world.kinds(session.id)).toEqual(['user_message', 'run_started']);
  });

  it('is refused for a runner that cannot be chosen, with those that can', async () => {
    const input = { node_id: world.nodeId, brief: 'x' };
    for (const [runner, why] of [
      ['absent', 'not installed'],
      ['logged-out', 'not logged in'],
      ['nobody', 'not known'],
    ]) {
      const error = await world.harness.refusal(startSession, { ...input, runner }, world.owner, 'VALIDATION_FAILED');
      expect(error.message).toMatch(new RegExp(`^runner: .*${why}.*scripted$`));
    }
  });

  it('whose run does not start is left suspended, and its log says why', async () => {
    world.runs.failToStart = 'The program is broken.';
    const input = { node_id: world.nodeId, brief: 'x', runner: 'scripted' };
    const session = await world.harness.call(startSession, input, world.owner);
    expect(session).toMatchObject({ state: 'suspended', is_live: false });
    expect(last(await world.log(session.id), 'run_ended')).toMatchObject({
      outcome: 'failed',
      error: 'The program is broken.',
    });
  });

  it('takes messages in order, and says when its run turns out to be gone', async () => {
    const { session, run_id } = await world.task();
    const input = { session_id: session.id, text: 'Go on.' };
    expect(await world.harness.call(sendMessage, input, world.owner)).toEqual({ seq: 3, delivered: true });
    expect(world.runs.messages.at(-1)).toEqual({ run_id, seq: 3, text: 'Go on.' });
    world.runs.live.clear();
    expect(await world.harness.call(sendMessage, input, world.owner)).toEqual({ seq: 4, delivered: false });
    expect(await world.get(session.id)).toMatchObject({ state: 'suspended', suspended: { reason: 'server_restart' } });
    await world.harness.refusal(sendMessage, input, world.owner, 'NO_LIVE_RUN');
  });

  it('is interrupted and stays running', async () => {
    const { session } = await world.task();
    const interrupted = await world.harness.call(interruptSession, { session_id: session.id }, world.owner);
    expect([interrupted.state, world.runs.asked.at(-1)]).toEqual(['running', 'interrupt']);
    expect(last(await world.log(session.id), 'state_changed')).toEqual({
      from: 'running',
      to: 'running',
      reason: 'interrupt',
      by: { role: 'owner', name: null },
    });
    expect(await world.harness.call(sendMessage, { session_id: session.id, text: 'Now?' }, world.owner)).toMatchObject({
      delivered: true,
    });
  });

  it('is suspended with the handoff of its agent, and its run is stopped', async () => {
    const { session } = await world.task();
    const suspended = await world.harness.call(suspendSession, { session_id: session.id }, world.owner);
    expect(suspended).toMatchObject({
      state: 'suspended',
      name: 'Home · Draft is ready',
      suspended: { reason: 'user', by_server: false },
      handoff: { title: 'Draft is ready', written_by: 'agent' },
    });
    expect(world.runs.asked.slice(-2)).toEqual(['handOver', 'stop suspended']);
  });

  it.each([
    ['is silent until its time is over', (runs: ScriptedRuns) => (runs.handoff = null)],
    [
      'does not even hear that its time is over',
      (runs: ScriptedRuns) => (runs.handOver = () => new Promise(() => undefined)),
    ],
  ])(
    'whose agent %s is suspended all the same: with the handoff of the server, and its run is stopped [sessions.suspend.missed-handoff] [sessions.suspend.runner-driven] [sessions.suspend.ends-the-run] [limits.suspend-30-seconds]',
    async (_words, keepSilent) => {
      expect(HANDOFF_MS).toBe(30_000);
      await using hasty = await SessionWorld.start({ handoffMs: 50 });
      const { session } = await hasty.task();
      keepSilent(hasty.runs);
      expect(await hasty.harness.call(suspendSession, { session_id: session.id }, hasty.owner)).toMatchObject({
        state: 'suspended',
        suspended: { reason: 'agent_missed_handoff' },
        handoff: { written_by: 'server' },
      });
      expect(hasty.runs.asked.at(-1)).toBe('stop suspended');
    },
  );

  it('goes on from its handoff, and with its conversation while that can be picked up', async () => {
    const { session, run_id } = await world.task();
    const [id, input] = [session.id, { session_id: session.id }];
    await world.harness.call(suspendSession, input, world.owner);
    await world.harness.refusal(resumeSession, { ...input, mode: 'conversation' }, world.owner, 'CONFLICT');
    const resumed = await world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner);
    expect(resumed).toMatchObject({ id, state: 'running', is_live: true, suspended: null });
    const order = world.runs.orders.at(-1);
    expect(order).toMatchObject({ mode: 'handoff', brief: 'Write the draft.', handoff: { title: 'Draft is ready' } });
    expect(order?.run_id).not.toBe(run_id);
    world.runs.canContinue = true;
    await world.harness.call(suspendSession, input, world.owner);
    await world.harness.call(resumeSession, { ...input, mode: 'conversation' }, world.owner);
    expect(world.runs.orders.at(-1)?.mode).toBe('conversation');
  });
});

describe('a run that cannot be reached', () => {
  it('keeps what is recorded: a message waits, a suspend and a close are carried out, an interrupt is refused for now', async () => {
    const [task, other] = [await world.task(), await world.task()];
    world.runs.isAway = true;
    try {
      const input = { session_id: task.session.id };
      const sent = await world.harness.call(sendMessage, { ...input, text: 'Hello?' }, world.owner);
      expect(sent).toEqual({ seq: 3, delivered: false });
      await world.harness.refusal(interruptSession, input, world.owner, 'SERVICE_UNAVAILABLE');
      expect((await world.get(task.session.id)).state).toBe('running');
      const suspended = await world.harness.call(suspendSession, input, world.owner);
      expect(suspended.suspended).toMatchObject({ reason: 'agent_missed_handoff', by_server: true });
      const closed = await world.harness.call(closeSession, { session_id: other.session.id }, world.owner);
      expect(closed.state).toBe('closed');
    } finally {
      world.runs.isAway = false;
    }
  });
});

describe('a suspend', () => {
  it('of a connected agent, which nobody can ask, is carried out at once [sessions.transition.illegal-refused]', async () => {
    const { session } = await world.connect();
    const input = { session_id: session.id };
    const suspended = await world.harness.call(suspendSession, input, world.owner);
    expect(suspended).toMatchObject({ state: 'suspended', suspended: { reason: 'user', by_server: true } });
    const seq = suspended.last_seq;
    await world.harness.refusal(suspendSession, input, world.owner, 'CONFLICT');
    await world.harness.refusal(interruptSession, input, world.owner, 'NO_LIVE_RUN');
    await world.harness.refusal(sendMessage, { ...input, text: 'x' }, world.owner, 'NO_LIVE_RUN');
    await world.harness.refusal(resumeSession, { ...input, mode: 'handoff' }, world.owner, 'NO_LIVE_RUN');
    expect((await world.get(session.id)).last_seq).toBe(seq);
  });
});

describe('a close', () => {
  it('is the only way to be closed, from running and from suspended, and is final [sessions.close.explicit-only, sessions.close.from-running-and-suspended]', async () => {
    for (const suspendFirst of [false, true]) {
      const { session } = await world.connect();
      const input = { session_id: session.id };
      if (suspendFirst) await world.harness.call(suspendSession, input, world.owner);
      const closed = await world.harness.call(closeSession, input, world.owner);
      expect(closed).toMatchObject({ state: 'closed', is_live: false, suspended: null });
      expect(closed.closed_at).not.toBeNull();
      for (const operation of [closeSession, suspendSession])
        await world.harness.refusal(operation, input, world.owner, 'CONFLICT');
    }
  });

  it('by somebody who manages is in the log and in the audit trail, with who it was [sessions.actor-recorded, sessions.access.stop-tier]', async () => {
    const { session } = await world.task();
    await world.harness.call(closeSession, { session_id: session.id }, world.manager);
    expect(world.runs.asked.at(-1)).toBe('stop closed');
    expect(last(await world.log(session.id), 'state_changed')).toMatchObject({ by: { role: 'manager', name: 'Mara' } });
    const [entry] = await world.sql(
      'SELECT action, user_id, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at DESC, id DESC LIMIT 1',
      [session.id],
    );
    expect(entry).toEqual({
      action: 'close_session',
      user_id: world.manager.user_id,
      before: { state: 'running' },
      after: { state: 'closed' },
    });
  });

  it('is followed by the archive after thirty days without activity [sessions.archive.after-30-days]', async () => {
    const { session } = await world.connect();
    await world.harness.call(closeSession, { session_id: session.id }, world.owner);
    const sweeps = world.harness.module.get(SessionSweeps);
    const age = (days: number) =>
      world.harness.database.pool.query(
        `UPDATE session.session SET last_activity_at = now() - $2 * interval '1 day' WHERE id = $1`,
        [session.id, days],
      );
    await age(29.9);
    await sweeps.sweep({ archiveAfterDays: 30 });
    expect((await world.get(session.id)).state).toBe('closed');
    await age(30.1);
    await sweeps.sweep({ archiveAfterDays: 30 });
    expect(await world.get(session.id)).toMatchObject({ state: 'archived' });
  });
});

it('of two resumes at the same moment one succeeds [sessions.resume.one-winner]', async () => {
  const { session } = await world.task();
  await world.harness.call(suspendSession, { session_id: session.id }, world.owner);
  const resume = () => world.harness.call(resumeSession, { session_id: session.id, mode: 'handoff' }, world.owner);
  const results = await Promise.allSettled([resume(), resume(), resume()]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
  expect(refusals).toEqual(['CONFLICT', 'CONFLICT']);
});

it('a resume is refused to everybody but the owner, and for another node than that of the session [sessions.resume.owner-only, sessions.resume.anchor-and-state, sessions.resume.reauthorised]', async () => {
  const { session } = await world.task();
  const input = { session_id: session.id, mode: 'handoff' as const };
  await world.harness.refusal(resumeSession, input, world.owner, 'CONFLICT');
  await world.harness.call(suspendSession, { session_id: session.id }, world.owner);
  await world.harness.refusal(resumeSession, input, world.manager, 'SESSION_FORBIDDEN');
  await world.harness.refusal(resumeSession, { ...input, node_id: randomUUID() }, world.owner, 'CONFLICT');
  expect((await world.harness.call(resumeSession, { ...input, node_id: world.nodeId }, world.owner)).state).toBe(
    'running',
  );
});
