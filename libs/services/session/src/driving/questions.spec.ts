import { randomUUID } from 'node:crypto';
import {
  answerQuestion,
  appendSessionEvents,
  type Caller,
  closeSession,
  type Decision,
  getSession,
  LIMITS,
  listNodeSessions,
  listSessions,
  type Question,
  resumeSession,
  type Session,
  type SessionEvent,
  suspendSession,
} from '@workspace-graph/contracts';
import { SessionSweeps } from '../sweeps/session-sweeps.js';
import { SessionWorld } from '../testing/session.fixture.js';
import { type Connected, type Reported, reportOf } from '../testing/session-calls.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

const INPUT: Question = { request_id: 'which', type: 'input', title: 'Which year?' };
const APPROVAL: Question = {
  request_id: 'may',
  type: 'approval',
  title: 'May I delete it?',
  options: [
    { id: 'yes', label: 'Yes', role: 'allow_once' },
    { id: 'no', label: 'No', role: 'reject_once' },
  ],
};

const asked = (question: Question): Reported => ({ kind: 'question', payload: question });
const ask = (connected: Connected, ...questions: readonly Question[]) => world.report(connected, questions.map(asked));
const inputOf = ({ session }: Connected, request_id: string, decision: unknown) => ({
  session_id: session.id,
  request_id,
  decision: decision as Decision,
});
const answer = (connected: Connected, request_id: string, decision: Decision, caller = world.owner): Promise<Session> =>
  world.harness.call(answerQuestion, inputOf(connected, request_id, decision), caller);
const refused = (connected: Connected, request_id: string, decision: unknown, [caller, code]: [Caller, string]) =>
  world.harness.refusal(answerQuestion, inputOf(connected, request_id, decision), caller, code as 'CONFLICT');
const answers = async ({ session }: Connected) =>
  (await world.log(session.id)).filter((event): event is SessionEvent & { kind: 'answer' } => event.kind === 'answer');
const isListed = async ({ session }: Connected, caller = world.owner): Promise<boolean[]> =>
  Promise.all([
    world.harness.call(listSessions, { waiting: true, limit: 500 }, caller),
    world.harness.call(listNodeSessions, { node_id: world.nodeId, waiting: true, limit: 500 }, caller),
  ]).then((lists) => lists.map(({ items }) => items.some(({ id }) => id === session.id)));
const sweep = () => world.harness.module.get(SessionSweeps).sweep({ archiveAfterDays: 30 });

describe('an open question', () => {
  it('makes its session wait, is shown with it, and listed among those that wait [sessions.waiting-since]', async () => {
    const task = await world.task();
    expect(await isListed(task)).toEqual([false, false]);
    await ask(task, APPROVAL);
    const session = await world.get(task.session.id);
    expect(session).toMatchObject({ state: 'running', open_questions: [APPROVAL] });
    expect(session.waiting_since).toBe(session.open_questions[0]?.asked_at);
    expect(session.version).toBeGreaterThan(task.session.version);
    for (const caller of [world.owner, world.reader, world.manager])
      expect(await isListed(task, caller)).toEqual([true, true]);
    expect(await answer(task, 'may', { option_id: 'yes' })).toMatchObject({ waiting_since: null, open_questions: [] });
    expect(await isListed(task)).toEqual([false, false]);
    expect((await answers(task)).map(({ payload }) => payload)).toEqual([
      { request_id: 'may', decision: { option_id: 'yes' }, by: { role: 'owner', name: null } },
    ]);
    expect(world.runs.answers.at(-1)).toEqual({ request_id: 'may', decision: { option_id: 'yes' } });
  });

  it('of two leaves the session waiting, since it was asked, when the other one is answered', async () => {
    const task = await world.task();
    await ask(task, INPUT);
    await ask(task, APPROVAL);
    const [first, second] = (await world.get(task.session.id)).open_questions;
    expect([first?.request_id, second?.request_id]).toEqual(['which', 'may']);
    const after = await answer(task, 'which', { text: '2026' });
    expect(after).toMatchObject({ waiting_since: second?.asked_at, open_questions: [APPROVAL] });
    expect(await answer(task, 'may', { option_id: 'no' })).toMatchObject({ waiting_since: null });
  });

  it('is the twentieth at most: one more is refused with the session as it is, and nothing of its report kept', async () => {
    const task = await world.task();
    const many = Array.from({ length: LIMITS.openQuestions - 1 }, (_, at) => ({ ...INPUT, request_id: `q${at}` }));
    await ask(task, ...many);
    const before = await world.get(task.session.id);
    const told = await world.told(task.session.id);
    const said: Reported = { kind: 'assistant_message', payload: { text: 'Two more' } };
    const more = reportOf(task, [said, asked(INPUT), asked(APPROVAL)]);
    const error = await world.harness.refusal(appendSessionEvents, more, world.owner, 'CONFLICT');
    expect(error.details).toEqual({ current: before });
    expect(await world.get(task.session.id)).toEqual(before);
    expect(await world.told(task.session.id)).toEqual(told);
    await ask(task, INPUT);
    await answer(task, 'q0', { text: 'x' });
    await ask(task, APPROVAL);
    expect((await world.get(task.session.id)).open_questions).toHaveLength(LIMITS.openQuestions);
  });

  it('is the only one of its session under its id, also once it is answered', async () => {
    const task = await world.task();
    await ask(task, INPUT);
    const taken = async (events: readonly Reported[], ...paths: readonly string[]) => {
      const error = await world.harness.refusal(
        appendSessionEvents,
        reportOf(task, events),
        world.owner,
        'VALIDATION_FAILED',
      );
      expect(error.details).toMatchObject({ issues: paths.map((path) => ({ path })) });
    };
    await taken([asked({ ...INPUT, title: 'Another' })], 'events.0.payload.request_id');
    await taken(
      [asked(APPROVAL), asked(APPROVAL), asked(INPUT)],
      'events.1.payload.request_id',
      'events.2.payload.request_id',
    );
    await answer(task, 'which', { text: '2026' });
    await taken([asked(INPUT)], 'events.0.payload.request_id');
    expect((await world.kinds(task.session.id)).filter((kind) => kind === 'question')).toHaveLength(1);
  });
});

describe('an answer', () => {
  it('counts once: of eight at the same moment one does, the others are told what is by now [sessions.log.answers-once]', async () => {
    const task = await world.task();
    await ask(task, APPROVAL);
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => answer(task, 'may', { option_id: at % 2 ? 'yes' : 'no' })),
    );
    const lost = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
    expect(lost).toHaveLength(7);
    for (const { code, details } of lost)
      expect({ code, details }).toMatchObject({
        code: 'CONFLICT',
        details: { current: { id: task.session.id, open_questions: [], waiting_since: null } },
      });
    expect(await answers(task)).toHaveLength(1);
    const late = await refused(task, 'may', { option_id: 'yes' }, [world.owner, 'CONFLICT']);
    expect(late.details).toEqual({ current: await world.get(task.session.id) });
  });

  it('to what was never asked is told that nothing waits [errors.no-pending-question]', async () => {
    const task = await world.task();
    await refused(task, 'never', { text: 'x' }, [world.owner, 'NO_PENDING_QUESTION']);
    await ask(task, INPUT);
    await refused(task, 'never', { text: 'x' }, [world.owner, 'NO_PENDING_QUESTION']);
    await ask(await world.task(), { ...INPUT, request_id: 'of another session' });
    await refused(task, 'of another session', { text: 'x' }, [world.owner, 'NO_PENDING_QUESTION']);
  });

  it.each([
    [APPROVAL, { text: 'yes' }, 'an approval is answered with { "option_id" }'],
    [APPROVAL, { option_id: 'maybe' }, 'must be one of "yes", "no"'],
    [INPUT, { option_id: 'yes' }, 'an input is answered with { "text" }'],
  ])(
    'in the wrong shape is refused, with the choice: %j %j [sessions.question.decision-shape]',
    async (question, decision, message) => {
      const task = await world.task();
      await ask(task, question);
      const before = await world.get(task.session.id);
      const error = await refused(task, question.request_id, decision, [world.owner, 'VALIDATION_FAILED']);
      expect(error.details).toEqual({ issues: [{ path: 'decision', message }] });
      expect(await world.get(task.session.id)).toEqual(before);
    },
  );

  it.each([{}, 'yes', null, { option_id: 'yes', text: 'x' }, { option_id: '' }, { text: 7 }])(
    'that is no decision is refused before anything is looked at: %j',
    async (decision) => {
      const task = await world.task();
      await ask(task, APPROVAL);
      const error = await refused(task, 'may', decision, [world.owner, 'VALIDATION_FAILED']);
      const { issues } = error.details as { readonly issues: readonly { readonly path: string }[] };
      for (const { path } of issues) expect(path).toMatch(/^decision/);
    },
  );

  it('is given by the owner alone, and by nobody who does not see the session [sessions.access.message-tier, errors.session-forbidden, errors.session-not-found]', async () => {
    const node = await world.node('Of two', [world.owner, world.reader]);
    const connected = await world.connect({ node_id: node });
    await ask(connected, INPUT);
    const writer = await world.harness.user('Wim', 'write');
    await refused(connected, 'which', { text: 'x' }, [world.manager, 'SESSION_FORBIDDEN']);
    await refused(connected, 'which', { text: 'x' }, [world.reader, 'FORBIDDEN']);
    await refused(connected, 'which', { text: 'x' }, [writer, 'SESSION_NOT_FOUND']);
    await world.share(node, [world.owner, writer]);
    await refused(connected, 'which', { text: 'x' }, [writer, 'SESSION_FORBIDDEN']);
    await world.share(node, [writer]);
    await refused(connected, 'which', { text: 'x' }, [world.owner, 'SESSION_NOT_FOUND']);
    await world.share(node, [world.owner]);
    expect(await answer(connected, 'which', { text: '' })).toMatchObject({ waiting_since: null });
  });
});

describe('a question survives', () => {
  it('a suspend and the process of its run, and its answer reaches the next run, once [sessions.question.persisted]', async () => {
    const task = await world.task();
    await ask(task, INPUT, APPROVAL);
    const { open_questions: open, waiting_since: since } = await world.get(task.session.id);
    const input = { session_id: task.session.id };
    const suspended = await world.harness.call(suspendSession, input, world.owner);
    expect(suspended).toMatchObject({ state: 'suspended', waiting_since: since, open_questions: open });
    const before = world.runs.answers.length;
    await answer(task, 'which', { text: '2026' });
    expect(world.runs.answers).toHaveLength(before);
    const again = () => world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner);
    expect(await again()).toMatchObject({ waiting_since: since, open_questions: [{ request_id: 'may' }] });
    expect(world.runs.orders.at(-1)?.answers).toEqual([{ request_id: 'which', decision: { text: '2026' } }]);
    await answer(task, 'may', { option_id: 'no' });
    await world.harness.call(suspendSession, input, world.owner);
    await again();
    expect(world.runs.orders.at(-1)?.answers).toEqual([]);
  });

  it('a run that did not start: the one after it is given the answer', async () => {
    const task = await world.task();
    await ask(task, INPUT);
    const input = { session_id: task.session.id };
    await world.harness.call(suspendSession, input, world.owner);
    await answer(task, 'which', { text: '2026' });
    world.runs.failToStart = 'It is broken.';
    expect(await world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner)).toMatchObject({
      state: 'suspended',
    });
    world.runs.failToStart = null;
    await world.harness.call(resumeSession, { ...input, mode: 'handoff' }, world.owner);
    expect(world.runs.orders.at(-1)?.answers).toEqual([{ request_id: 'which', decision: { text: '2026' } }]);
  });

  it('a run that is gone when it is answered: its session is suspended and the next run is given the answer', async () => {
    const task = await world.task();
    await ask(task, INPUT);
    world.runs.live.delete(task.run_id);
    await answer(task, 'which', { text: '2026' });
    expect(await world.get(task.session.id)).toMatchObject({ suspended: { reason: 'server_restart' } });
    await world.harness.call(resumeSession, { session_id: task.session.id, mode: 'handoff' }, world.owner);
    expect(world.runs.orders.at(-1)?.answers).toEqual([{ request_id: 'which', decision: { text: '2026' } }]);
  });

  it('a lost connection, and is shown at the next one', async () => {
    const connected = await world.connect();
    await ask(connected, INPUT);
    await world.end(connected, { outcome: 'lost', reason: 'disconnect' });
    const { session } = await world.connect({ session_id: connected.session.id });
    expect(session).toMatchObject({ state: 'running', open_questions: [INPUT] });
  });
});

describe('a deadline', () => {
  const PAST = '2020-01-01T00:00:00.000Z';
  const FUTURE = '2999-01-01T00:00:00.000Z';

  it('that has passed answers with the default, once, and tells the run', async () => {
    const task = await world.task();
    await ask(task, { ...APPROVAL, deadline_at: PAST, default: { option_id: 'no' } });
    const counts = await Promise.all([sweep(), sweep(), sweep()]);
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect((await answers(task)).map(({ payload }) => payload)).toEqual([
      { request_id: 'may', decision: { option_id: 'no' }, by: { role: 'server', name: null } },
    ]);
    expect(world.runs.answers.at(-1)).toEqual({ request_id: 'may', decision: { option_id: 'no' } });
    await refused(task, 'may', { option_id: 'yes' }, [world.owner, 'CONFLICT']);
    expect((await world.get(task.session.id)).waiting_since).toBeNull();
  });

  it('without a default ends the question unanswered, and the run learns that too', async () => {
    const task = await world.task();
    await ask(task, { ...INPUT, deadline_at: PAST });
    expect(await sweep()).toBe(1);
    expect((await answers(task)).map(({ payload }) => payload)).toEqual([
      { request_id: 'which', decision: null, by: { role: 'server', name: null } },
    ]);
    expect(world.runs.answers.at(-1)).toEqual({ request_id: 'which', decision: null });
    expect((await world.get(task.session.id)).waiting_since).toBeNull();
  });

  it('that lies ahead changes nothing, and passes for a suspended session too', async () => {
    const connected = await world.connect();
    await ask(connected, { ...INPUT, deadline_at: FUTURE, default: { text: '2026' } });
    await world.end(connected, { outcome: 'suspended', reason: 'idle' });
    expect(await sweep()).toBe(0);
    await world.sql('UPDATE session.question SET deadline_at = now() WHERE session_id = $1', [connected.session.id]);
    expect(await sweep()).toBe(1);
    expect(await world.get(connected.session.id)).toMatchObject({ state: 'suspended', waiting_since: null });
  });
});

it('a close withdraws what is open: nobody can answer it any more', async () => {
  const task = await world.task();
  await ask(task, INPUT, APPROVAL);
  const closed = await world.harness.call(closeSession, { session_id: task.session.id }, world.manager);
  expect(closed).toMatchObject({ state: 'closed', waiting_since: null, open_questions: [] });
  expect((await answers(task)).map(({ payload }) => [payload.request_id, payload.decision, payload.by.role])).toEqual(
    expect.arrayContaining([
      ['which', null, 'server'],
      ['may', null, 'server'],
    ]),
  );
  await refused(task, 'which', { text: 'x' }, [world.owner, 'CONFLICT']);
  expect(await isListed(task)).toEqual([false, false]);
});

it('an answer that comes again under its call is given once, and answered as before', async () => {
  const task = await world.task();
  await ask(task, INPUT);
  const callId = randomUUID();
  const call = () => world.harness.call(answerQuestion, inputOf(task, 'which', { text: 'x' }), world.owner, callId);
  const first = await call();
  expect(await call()).toEqual(first);
  expect(await answers(task)).toHaveLength(1);
  expect(await world.harness.call(getSession, { session_id: task.session.id }, world.owner)).toEqual(first);
});
