import { randomUUID } from 'node:crypto';
import {
  closeSession,
  connectSession,
  type ErrorCode,
  type InputOf,
  interruptSession,
  type Operation,
  type OutputOf,
  resumeSession,
  ServiceError,
  type SessionEvent,
  type SessionState,
  sendMessage,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import type { ScriptedRuns } from './scripted-runs.js';
import { type Connected, SessionCalls } from './session-calls.js';

export type Role = 'owner' | 'manager' | 'reader';

/** A workspace with a node `Home`, its owner Olga, Mara who manages and Rita who reads, and runs that a test drives. */
export interface StatesWorld {
  readonly runs: ScriptedRuns;
  readonly nodeId: string;
  readonly userIds: Readonly<Record<Role, string>>;
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, who?: Role): Promise<OutputOf<Op>>;
  /** Rows of a statement, for looking behind the service. */
  sql(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Resolves once the sweeps of the service have made it so. @throws Error where they do not */
  swept(what: string, isSo: () => Promise<boolean>): Promise<void>;
}

const TRIGGERS = {
  interrupt: [interruptSession, {}],
  message: [sendMessage, { text: 'Go on.' }],
  suspend: [suspendSession, {}],
  resume: [resumeSession, { mode: 'handoff' }],
  close: [closeSession, {}],
} as const;
type Trigger = keyof typeof TRIGGERS;

/** The state that each trigger leads to, or its refusal. */
const OUTCOMES: Readonly<Record<SessionState, Readonly<Record<Trigger, SessionState | 'CONFLICT' | 'NO_LIVE_RUN'>>>> = {
  running: { interrupt: 'running', message: 'running', suspend: 'suspended', resume: 'CONFLICT', close: 'closed' },
  suspended: {
    interrupt: 'NO_LIVE_RUN',
    message: 'NO_LIVE_RUN',
    suspend: 'CONFLICT',
    resume: 'running',
    close: 'closed',
  },
  closed: {
    interrupt: 'NO_LIVE_RUN',
    message: 'NO_LIVE_RUN',
    suspend: 'CONFLICT',
    resume: 'CONFLICT',
    close: 'CONFLICT',
  },
  archived: {
    interrupt: 'NO_LIVE_RUN',
    message: 'NO_LIVE_RUN',
    suspend: 'CONFLICT',
    resume: 'CONFLICT',
    close: 'CONFLICT',
  },
};

const last = <K extends SessionEvent['kind']>(log: readonly SessionEvent[], kind: K) =>
  log.findLast((event): event is SessionEvent & { kind: K } => event.kind === kind)?.payload;

/** The owner, with what else the rows of the table need. */
class States extends SessionCalls {
  constructor(readonly given: StatesWorld) {
    super((operation, input) => given.call(operation, input), given.runs, given.nodeId);
  }

  /** Calls an operation that must be refused with this code. */
  async refusal<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    code: ErrorCode,
    who: Role = 'owner',
  ): Promise<ServiceError> {
    const error = await this.given.call(operation, input, who).catch((reason: unknown) => reason);
    if (error instanceof ServiceError && error.code === code) return error;
    throw new Error(`${operation.name}: ${code} was expected`, { cause: error });
  }
}

async function age({ given }: States, id: string, days: number): Promise<void> {
  await given.sql(`UPDATE session.session SET last_activity_at = now() - $2 * interval '1 day' WHERE id = $1`, [
    id,
    days,
  ]);
}

/** A task that has come to a state. */
async function bring(world: States, state: SessionState): Promise<string> {
  const { id: session_id } = (await world.task()).session;
  if (state === 'suspended') await world.call(suspendSession, { session_id });
  if (state === 'closed' || state === 'archived') await world.call(closeSession, { session_id });
  if (state !== 'archived') return session_id;
  await age(world, session_id, 31);
  await world.given.swept('it is archived', async () => (await world.get(session_id)).state === 'archived');
  return session_id;
}

/** The rows of the state table and every reason to be suspended, in whatever workspace they happen. */
export function describeStates(given: () => StatesWorld): void {
  let world: States;
  beforeAll(() => {
    world = new States(given());
  });
  beforeEach(() => {
    world.runs.handoff = { title: 'Draft is ready', text: 'The draft lies in wip/draft.md.' };
    world.runs.failToStart = null;
    world.runs.canContinue = false;
  });
  const kinds = async (id: string): Promise<string[]> => (await world.log(id)).map(({ kind }) => kind);

  describe('an agent connects', () => {
    it('and its session is born running, on its home node, with its client and its own write scope [sessions.states, sessions.record.owner, sessions.record.anchor-optional, sessions.record.cli-from-handshake, sessions.record.write-count, sessions.scope.seed]', async () => {
      const { session } = await world.connect();
      expect(session).toMatchObject({
        state: 'running',
        origin: 'connection',
        node: { id: world.nodeId, name: 'Home' },
        owner: { id: world.given.userIds.owner, name: 'Olga' },
        is_own: true,
        is_live: true,
        client: { name: 'test-agent', title: 'Test Agent', version: '1.0' },
        read_count: 1,
        write_count: 1,
        last_seq: 1,
      });
      expect(await kinds(session.id)).toEqual(['run_started']);
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
      await world.refusal(connectSession, input, 'NODE_NOT_FOUND');
    });
  });

  describe('a run ends', () => {
    it.each(['disconnect', 'idle', 'terminal_exit'] as const)(
      'by %s: the session is suspended for that reason, with a handoff of the server [sessions.suspend.on-disconnect, sessions.suspend.on-idle, sessions.handoff.server-minimal, sessions.reasons.codes, sessions.never-dropped]',
      async (reason) => {
        const connected = await world.connect();
        expect(await world.end(connected, { outcome: 'suspended', reason, can_continue: true })).toEqual({
          ended: true,
        });
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
      expect((await kinds(session.id)).filter((kind) => kind === 'handoff')).toHaveLength(1);
    });

    it('after the agent has handed over long ago: its handoff stays, and one of the run before does not count', async () => {
      const connected = await world.connect();
      const handoff = { title: 'Early', text: 'Before all the rest.', written_by: 'agent' as const };
      await world.report(connected, [{ kind: 'handoff', payload: handoff }]);
      const message = { kind: 'assistant_message', payload: { text: 'On it goes.' } } as const;
      for (let batch = 0; batch < 11; batch++)
        await world.report(
          connected,
          Array.from({ length: 100 }, () => message),
        );
      await world.end(connected, { outcome: 'suspended', reason: 'disconnect' });
      const suspended = await world.get(connected.session.id);
      expect(suspended).toMatchObject({ handoff: { title: 'Early', written_by: 'agent' } });
      const again = await world.connect({ session_id: connected.session.id });
      await world.end(again, { outcome: 'suspended', reason: 'disconnect' });
      expect(await world.get(connected.session.id)).toMatchObject({ handoff: { written_by: 'server' } });
    });

    it.each(['completed', 'failed'] as const)(
      'by itself, %s: the session is suspended for no reason of ours',
      async (outcome) => {
        const task = await world.task();
        await world.end(task, { outcome });
        expect(await world.get(task.session.id)).toMatchObject({
          state: 'suspended',
          is_live: false,
          suspended: { reason: null, by_server: true },
        });
        expect(last(await world.log(task.session.id), 'run_ended')).toMatchObject({ outcome });
      },
    );

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

  describe('a run that nobody keeps any more', () => {
    it('is lost with its lease, and its session is suspended: the process that held it is gone [sessions.suspend.on-restart, sessions.never-dropped]', async () => {
      const [lost, kept] = [await world.connect({ holder: 'gone' }), await world.connect()];
      await world.given.sql(`UPDATE session.run SET lease_until = now() - interval '1 second' WHERE id = $1`, [
        lost.run_id,
      ]);
      await world.given.swept('the run is lost', async () => (await world.get(lost.session.id)).state === 'suspended');
      expect((await world.get(lost.session.id)).suspended).toMatchObject({ reason: 'server_restart', by_server: true });
      const log = await world.log(lost.session.id);
      expect(log.map(({ kind }) => kind)).toEqual(['run_started', 'handoff', 'run_ended', 'state_changed']);
      expect(last(log, 'run_ended')).toMatchObject({ outcome: 'lost' });
      expect(await world.get(kept.session.id)).toMatchObject({ state: 'running', is_live: true });
    });

    it('and that asks for nothing for thirty minutes is idle [sessions.suspend.on-idle]', async () => {
      const [silent, busy] = [await world.connect(), await world.connect()];
      const rest = (run: Connected, minutes: number) =>
        world.given.sql(`UPDATE session.run SET last_used_at = now() - $2 * interval '1 minute' WHERE id = $1`, [
          run.run_id,
          minutes,
        ]);
      await rest(busy, 29);
      await rest(silent, 31);
      await world.given.swept(
        'the run is idle',
        async () => (await world.get(silent.session.id)).state === 'suspended',
      );
      expect(await world.get(silent.session.id)).toMatchObject({
        can_continue: true,
        suspended: { reason: 'idle', by_server: true },
      });
      expect((await world.get(busy.session.id)).state).toBe('running');
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
      await world.refusal(connectSession, input, 'CONFLICT');
      await world.refusal(connectSession, input, 'SESSION_FORBIDDEN', 'manager');
      await world.call(closeSession, { session_id: session.id });
      await world.refusal(connectSession, { ...input, run_id: randomUUID() }, 'CONFLICT');
    });

    it('belongs, as the agent of a task, to the run that drives it, and makes no second one', async () => {
      const task = await world.task();
      const client = { name: 'agent-of-task', title: null, version: '2' };
      const input = { run_id: randomUUID(), holder: 'edge', client, session_id: task.session.id };
      const answer = await world.call(connectSession, input);
      expect(answer).toMatchObject({ run_id: null, session: { id: task.session.id, client, is_live: true } });
      expect((await kinds(task.session.id)).filter((kind) => kind === 'run_started')).toHaveLength(1);
    });
  });

  describe('a task', () => {
    it('starts a run with its brief', async () => {
      const { session, run_id } = await world.task();
      expect(session).toMatchObject({ origin: 'task', brief: 'Write the draft.', runner: 'scripted', is_live: true });
      expect(world.runs.orders.at(-1)).toMatchObject({
        run_id,
        mode: 'fresh',
        brief: 'Write the draft.',
        handoff: null,
      });
      expect(await kinds(session.id)).toEqual(['user_message', 'run_started']);
    });

    it('is refused for a runner that cannot be chosen, with those that can', async () => {
      const input = { node_id: world.nodeId, brief: 'x' };
      for (const [runner, why] of [
        ['absent', 'not installed'],
        ['logged-out', 'not logged in'],
        ['nobody', 'not known'],
      ] as const) {
        const error = await world.refusal(startSession, { ...input, runner }, 'VALIDATION_FAILED');
        expect(error.message).toMatch(new RegExp(`^runner: .*${why}.*scripted$`));
      }
    });

    it('whose run does not start is left suspended, and its log says why', async () => {
      world.runs.failToStart = 'The program is broken.';
      const input = { node_id: world.nodeId, brief: 'x', runner: 'scripted' };
      const session = await world.call(startSession, input);
      expect(session).toMatchObject({ state: 'suspended', is_live: false });
      expect(last(await world.log(session.id), 'run_ended')).toMatchObject({
        outcome: 'failed',
        error: 'The program is broken.',
      });
    });

    it('takes messages in order, and says when its run turns out to be gone', async () => {
      const { session, run_id } = await world.task();
      const input = { session_id: session.id, text: 'Go on.' };
      expect(await world.call(sendMessage, input)).toEqual({ seq: 3, delivered: true });
      expect(world.runs.messages.at(-1)).toEqual({ run_id, seq: 3, text: 'Go on.' });
      world.runs.live.clear();
      expect(await world.call(sendMessage, input)).toEqual({ seq: 4, delivered: false });
      expect(await world.get(session.id)).toMatchObject({
        state: 'suspended',
        suspended: { reason: 'server_restart' },
      });
      await world.refusal(sendMessage, input, 'NO_LIVE_RUN');
    });

    it('is interrupted and stays running', async () => {
      const { session } = await world.task();
      const interrupted = await world.call(interruptSession, { session_id: session.id });
      expect([interrupted.state, world.runs.asked.at(-1)]).toEqual(['running', 'interrupt']);
      expect(last(await world.log(session.id), 'state_changed')).toEqual({
        from: 'running',
        to: 'running',
        reason: 'interrupt',
        by: { role: 'owner', name: null },
      });
      expect(await world.call(sendMessage, { session_id: session.id, text: 'Now?' })).toMatchObject({
        delivered: true,
      });
    });

    it('is suspended with the handoff of its agent, and its run is stopped', async () => {
      const { session } = await world.task();
      const suspended = await world.call(suspendSession, { session_id: session.id });
      expect(suspended).toMatchObject({
        state: 'suspended',
        name: 'Home · Draft is ready',
        suspended: { reason: 'user', by_server: false },
        handoff: { title: 'Draft is ready', written_by: 'agent' },
      });
      expect(world.runs.asked.slice(-2)).toEqual(['handOver', 'stop suspended']);
    });

    it('goes on from its handoff, and with its conversation while that can be picked up', async () => {
      const { session, run_id } = await world.task();
      const [id, input] = [session.id, { session_id: session.id }];
      await world.call(suspendSession, input);
      await world.refusal(resumeSession, { ...input, mode: 'conversation' }, 'CONFLICT');
      const resumed = await world.call(resumeSession, { ...input, mode: 'handoff' });
      expect(resumed).toMatchObject({ id, state: 'running', is_live: true, suspended: null });
      const order = world.runs.orders.at(-1);
      expect(order).toMatchObject({ mode: 'handoff', brief: 'Write the draft.', handoff: { title: 'Draft is ready' } });
      expect(order?.run_id).not.toBe(run_id);
      world.runs.canContinue = true;
      await world.call(suspendSession, input);
      await world.call(resumeSession, { ...input, mode: 'conversation' });
      expect(world.runs.orders.at(-1)?.mode).toBe('conversation');
    });
  });

  describe('a run that cannot be reached', () => {
    it('keeps what is recorded: a message waits, a suspend and a close are carried out, an interrupt is refused for now', async () => {
      const [task, other] = [await world.task(), await world.task()];
      world.runs.isAway = true;
      try {
        const input = { session_id: task.session.id };
        const sent = await world.call(sendMessage, { ...input, text: 'Hello?' });
        expect(sent).toEqual({ seq: 3, delivered: false });
        await world.refusal(interruptSession, input, 'SERVICE_UNAVAILABLE');
        expect((await world.get(task.session.id)).state).toBe('running');
        const suspended = await world.call(suspendSession, input);
        expect(suspended.suspended).toMatchObject({ reason: 'agent_missed_handoff', by_server: true });
        const closed = await world.call(closeSession, { session_id: other.session.id });
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
      const suspended = await world.call(suspendSession, input);
      expect(suspended).toMatchObject({ state: 'suspended', suspended: { reason: 'user', by_server: true } });
      const seq = suspended.last_seq;
      await world.refusal(suspendSession, input, 'CONFLICT');
      await world.refusal(interruptSession, input, 'NO_LIVE_RUN');
      await world.refusal(sendMessage, { ...input, text: 'x' }, 'NO_LIVE_RUN');
      await world.refusal(resumeSession, { ...input, mode: 'handoff' }, 'NO_LIVE_RUN');
      expect((await world.get(session.id)).last_seq).toBe(seq);
    });
  });

  describe('a close', () => {
    it('is the only way to be closed, from running and from suspended, and is final [sessions.close.explicit-only, sessions.close.from-running-and-suspended]', async () => {
      for (const suspendFirst of [false, true]) {
        const { session } = await world.connect();
        const input = { session_id: session.id };
        if (suspendFirst) await world.call(suspendSession, input);
        const closed = await world.call(closeSession, input);
        expect(closed).toMatchObject({ state: 'closed', is_live: false, suspended: null });
        expect(closed.closed_at).not.toBeNull();
        for (const operation of [closeSession, suspendSession]) await world.refusal(operation, input, 'CONFLICT');
      }
    });

    it('by somebody who manages is in the log and in the audit trail, with who it was [sessions.actor-recorded, sessions.access.stop-tier]', async () => {
      const { session } = await world.task();
      await world.given.call(closeSession, { session_id: session.id }, 'manager');
      expect(world.runs.asked.at(-1)).toBe('stop closed');
      expect(last(await world.log(session.id), 'state_changed')).toMatchObject({
        by: { role: 'manager', name: 'Mara' },
      });
      const [entry] = await world.given.sql(
        'SELECT action, user_id, before, after FROM audit.entry WHERE target_id = $1 ORDER BY at DESC, id DESC LIMIT 1',
        [session.id],
      );
      expect(entry).toEqual({
        action: 'close_session',
        user_id: world.given.userIds.manager,
        before: { state: 'running' },
        after: { state: 'closed' },
      });
      const history = await world.given.sql(
        `SELECT e.action, c.node_id, c.about FROM audit.concern c JOIN audit.entry e ON e.id = c.entry_id WHERE e.target_id = $1 ORDER BY e.id`,
        [session.id],
      );
      const here = { node_id: session.node?.id, about: 'session' };
      expect(history).toEqual(['start_session', 'close_session'].map((action) => ({ action, ...here })));
    });

    it('is followed by the archive after thirty days without activity [sessions.archive.after-30-days]', async () => {
      const [old, younger] = [await world.connect(), await world.connect()];
      for (const { session } of [old, younger]) await world.call(closeSession, { session_id: session.id });
      await age(world, younger.session.id, 29.9);
      await age(world, old.session.id, 30.1);
      await world.given.swept(
        'the old one is archived',
        async () => (await world.get(old.session.id)).state === 'archived',
      );
      expect((await world.get(younger.session.id)).state).toBe('closed');
    });
  });

  describe('what happens to a task that is', () => {
    it.each(Object.entries(OUTCOMES))(
      '%s leads where the table says, or is refused and changes nothing [sessions.transition.illegal-refused, sessions.interrupt.stays-running]',
      async (from, outcomes) => {
        const kept = await bring(world, from as SessionState);
        for (const [trigger, outcome] of Object.entries(outcomes)) {
          const [operation, input] = TRIGGERS[trigger as Trigger];
          if (outcome !== 'CONFLICT' && outcome !== 'NO_LIVE_RUN') {
            const session_id = await bring(world, from as SessionState);
            await world.call(operation, { ...input, session_id });
            expect([trigger, (await world.get(session_id)).state]).toEqual([trigger, outcome]);
            continue;
          }
          const before = await world.get(kept);
          await world.refusal(operation, { ...input, session_id: kept }, outcome);
          expect(await world.get(kept)).toEqual(before);
        }
      },
    );
  });

  it('of two resumes at the same moment one succeeds [sessions.resume.one-winner]', async () => {
    const { session } = await world.task();
    await world.call(suspendSession, { session_id: session.id });
    const resume = () => world.call(resumeSession, { session_id: session.id, mode: 'handoff' });
    const results = await Promise.allSettled([resume(), resume(), resume()]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
    expect(refusals).toEqual(['CONFLICT', 'CONFLICT']);
  });

  it('a resume is refused to everybody but the owner, and for another node than that of the session [sessions.resume.owner-only, sessions.resume.anchor-and-state, sessions.resume.reauthorised]', async () => {
    const { session } = await world.task();
    const input = { session_id: session.id, mode: 'handoff' as const };
    await world.refusal(resumeSession, input, 'CONFLICT');
    await world.call(suspendSession, { session_id: session.id });
    await world.refusal(resumeSession, input, 'SESSION_FORBIDDEN', 'manager');
    await world.refusal(resumeSession, { ...input, node_id: randomUUID() }, 'CONFLICT');
    expect((await world.call(resumeSession, { ...input, node_id: world.nodeId })).state).toBe('running');
  });
}
