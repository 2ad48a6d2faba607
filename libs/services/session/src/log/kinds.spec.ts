import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  closeSession,
  listSessionEvents,
  RECORDED_EVENTS,
  REPORTED_EVENTS,
  SessionEvent,
  suspendSession,
} from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import { type Connected, type Reported, reportOf } from '../testing/session-calls.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

const said = (text: string): Reported => ({ kind: 'assistant_message', payload: { text } });

/** A report that must be refused, and leave nothing behind; answers what is wrong with it, by field. */
async function wrong(connected: Connected, event: unknown): Promise<Readonly<Record<string, string>>> {
  const before = await world.get(connected.session.id);
  const input = reportOf(connected, [said('before it'), event as Reported]);
  const error = await world.harness.refusal(appendSessionEvents, input, world.owner, 'VALIDATION_FAILED');
  const { issues } = error.details as {
    readonly issues: readonly { readonly path: string; readonly message: string }[];
  };
  expect(await world.get(connected.session.id)).toEqual(before);
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]));
}

/** One of each kind that a run reports. */
const ONE_OF_EACH: readonly Reported[] = [
  said('Hello'),
  { kind: 'reasoning', payload: { text: 'Why not' } },
  {
    kind: 'tool_call',
    payload: {
      call_id: 'c',
      phase: 'completed',
      title: 'Read',
      tool_kind: 'read',
      input_summary: 'a.md',
      output_excerpt: 'A',
      locations: [{ path: 'wip/a.md', line: 3 }],
    },
  },
  { kind: 'file_change', payload: { path: 'wip/a.md', change: 'created', file_id: randomUUID() } },
  { kind: 'compaction', payload: { summary: 'All of it' } },
  { kind: 'question', payload: { request_id: 'q', type: 'input', title: 'Which?' } },
  { kind: 'handoff', payload: { title: 'Done', text: 'All is done', written_by: 'agent' } },
];

describe('the kinds of a log', () => {
  it('are kept as they were reported, each in its schema [sessions.log.kinds]', async () => {
    expect(ONE_OF_EACH.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(REPORTED_EVENTS).toSorted());
    const connected = await world.connect();
    await world.report(connected, ONE_OF_EACH);
    const log = await world.log(connected.session.id);
    expect(log.slice(1).map(({ kind, payload }) => ({ kind, payload }))).toEqual(ONE_OF_EACH);
    for (const event of log) expect(SessionEvent.parse(event)).toEqual(event);
    expect(new Set(log.map(({ run_id }) => run_id))).toEqual(new Set([connected.run_id]));
  });

  it('are those of the table alone: another one is refused with its place', async () => {
    const connected = await world.connect();
    expect(await wrong(connected, { kind: 'delta', payload: { text: 'x' } })).toHaveProperty(['events.1.kind']);
    expect(await wrong(connected, { payload: { text: 'x' } })).toHaveProperty(['events.1.kind']);
  });

  it.each(Object.keys(RECORDED_EVENTS))('do not let a run report %s, which the service records', async (kind) => {
    const payload = { text: 'I said so', author: { role: 'owner', name: null } };
    expect(await wrong(await world.connect(), { kind, payload })).toHaveProperty(['events.1.kind']);
  });

  it.each([
    ['text', { kind: 'assistant_message', payload: {} }],
    ['text', { kind: 'assistant_message', payload: { text: 7 } }],
    ['text', { kind: 'assistant_message', payload: { text: 'a\u0000b' } }],
    ['text', { kind: 'reasoning', payload: { text: 'x'.repeat(100_001) } }],
    ['text', { kind: 'reasoning', payload: { text: '\ud83e' } }],
    ['more', { kind: 'reasoning', payload: { text: 'x', more: 1 } }],
    ['phase', { kind: 'tool_call', payload: { call_id: 'c', phase: 'begun', title: 't' } }],
    ['call_id', { kind: 'tool_call', payload: { call_id: '', phase: 'started', title: 't' } }],
    ['change', { kind: 'file_change', payload: { path: 'a', change: 'moved' } }],
    ['title', { kind: 'handoff', payload: { title: ' ', text: 'x', written_by: 'agent' } }],
    ['title', { kind: 'question', payload: { request_id: 'r', type: 'input', title: '' } }],
    ['options', { kind: 'question', payload: { request_id: 'r', type: 'approval', title: 't' } }],
    ['options', { kind: 'question', payload: { request_id: 'r', type: 'input', title: 't', options: [option('a')] } }],
    [
      'options',
      {
        kind: 'question',
        payload: { request_id: 'r', type: 'approval', title: 't', options: [option('a'), option('a')] },
      },
    ],
    [
      'default',
      {
        kind: 'question',
        payload: { request_id: 'r', type: 'approval', title: 't', options: [option('a')], default: { option_id: 'b' } },
      },
    ],
    [
      'default',
      { kind: 'question', payload: { request_id: 'r', type: 'input', title: 't', default: { option_id: 'a' } } },
    ],
  ])('refuse a payload with a wrong %s, and keep nothing of its report: %j', async (field, event) => {
    const told = Object.entries(await wrong(await world.connect(), event));
    expect(told.map(([path, message]) => `${path} ${message}`).join()).toMatch(
      new RegExp(`^events\\.1\\.payload\\.${field} |^events\\.1\\.payload .*"${field}"`),
    );
  });

  it('take an output beside a tool call alone', async () => {
    const event = { ...said('x'), output: 'all of it' };
    expect(await wrong(await world.connect(), event)).toEqual({ 'events.1.output': 'is that of a tool call' });
  });

  it('say of a handoff of a run that it is of the agent, whatever it claims [sessions.handoff.server-minimal]', async () => {
    const connected = await world.connect();
    await world.report(connected, [{ kind: 'handoff', payload: { title: 'T', text: 'x', written_by: 'server' } }]);
    expect((await world.log(connected.session.id)).at(-1)?.payload).toMatchObject({ written_by: 'agent' });
    expect((await world.get(connected.session.id)).handoff?.written_by).toBe('agent');
  });
});

describe('a report is refused, and nothing of it kept,', () => {
  it('to a run that is not that of the session, and once its run has ended', async () => {
    const [connected, other] = [await world.connect(), await world.connect()];
    const { harness, owner } = world;
    const append = (run_id: string) =>
      harness.refusal(appendSessionEvents, reportOf({ ...connected, run_id }, [said('x')]), owner, 'NO_LIVE_RUN');
    await append(other.run_id);
    await append(randomUUID());
    await world.end(connected, { outcome: 'suspended', reason: 'disconnect' });
    const { last_seq } = await world.get(connected.session.id);
    await append(connected.run_id);
    const next = await world.connect({ session_id: connected.session.id });
    await append(connected.run_id);
    await world.report(next, [said('It goes on')]);
    await harness.call(closeSession, { session_id: connected.session.id }, owner);
    await append(next.run_id);
    expect((await world.kinds(connected.session.id)).slice(last_seq)).toEqual([
      'state_changed',
      'run_started',
      'assistant_message',
      'run_ended',
      'state_changed',
    ]);
  });

  it('to everybody but the owner, manage included, and to who does not see the node', async () => {
    const hidden = await world.node('Hidden from readers', [world.owner]);
    const { harness, owner, manager, reader } = world;
    const connected = await world.connect({ node_id: hidden });
    const input = reportOf(connected, [said('x')]);
    await harness.refusal(appendSessionEvents, input, manager, 'SESSION_FORBIDDEN');
    await harness.refusal(appendSessionEvents, input, reader, 'SESSION_NOT_FOUND');
    await world.share(hidden, [reader]);
    await harness.refusal(appendSessionEvents, input, reader, 'SESSION_FORBIDDEN');
    await harness.refusal(appendSessionEvents, input, owner, 'SESSION_NOT_FOUND');
    await world.share(hidden, [owner]);
    expect((await world.get(connected.session.id)).last_seq).toBe(1);
    const nodeless = reportOf(await world.connect({ node_id: undefined }), [said('x')]);
    await harness.refusal(appendSessionEvents, nodeless, manager, 'SESSION_NOT_FOUND');
  });
});

it('whoever sees the node reads the log, all of it, also when the session is over [sessions.access.read-tier]', async () => {
  const { harness, owner, reader } = world;
  const connected = await world.connect();
  const input = { session_id: connected.session.id };
  await world.report(connected, [said('For all to read')]);
  const read = () => harness.call(listSessionEvents, input, reader);
  expect(await read()).toEqual(await harness.call(listSessionEvents, input, owner));
  await harness.call(suspendSession, input, owner);
  await harness.call(closeSession, input, owner);
  expect(await read()).toEqual(await harness.call(listSessionEvents, input, owner));
  expect((await read()).items.map(({ kind }) => kind)).toContain('assistant_message');
});

function option(id: string) {
  return { id, label: id, role: 'allow_once' };
}
