import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionEvent, SessionState } from '@workspace-graph/contracts';
import type { WebSocket } from 'ws';
import { notRunning } from './cli-error.js';
import { type Following, SessionFollower } from './session-follower.js';
import { error, type ScriptedAnswer, ScriptedWorkspace } from './testing/scripted-workspace.js';
import { WorkspaceClient } from './workspace-client.js';

const ID = randomUUID();

let workspace: ScriptedWorkspace;
/** What the workspace knows of the session. */
let log: SessionEvent[];
let state: SessionState;
/** Whether no workspace is found, once. */
let isAway: boolean;
/** The requests for the session are answered these first. */
let answers: ScriptedAnswer[];
/** What was subscribed with. */
let afters: number[];
/** What becomes of a socket in place of a replay. */
let mishaps: ((socket: WebSocket) => void)[];
let socket: WebSocket | undefined;
let losses: number;

beforeAll(async () => {
  workspace = await ScriptedWorkspace.start();
});
beforeEach(() => {
  [log, state, answers, afters, mishaps, socket, losses] = [[], 'running', [], [], [], undefined, 0];
  isAway = false;
  workspace.requests.length = 0;
  workspace.script = ({ path }) =>
    path === `/sessions/${ID}` ? (answers.shift() ?? { body: { id: ID, state, last_seq: log.length } }) : null;
  workspace.takeSocket = (taken) => taken.on('message', (data) => replay(taken, String(data)));
});
afterAll(() => workspace[Symbol.asyncDispose]());

function replay(taken: WebSocket, text: string): void {
  const { id, payload } = JSON.parse(text) as { readonly id: number; readonly payload: { readonly after: number } };
  afters.push(payload.after);
  const mishap = mishaps.shift();
  if (mishap) return mishap(taken);
  socket = taken;
  send('session_state', { session_id: randomUUID(), state: 'closed', waiting_since: null, node_id: null });
  taken.send(JSON.stringify({ id, type: 'reply', payload: { session_id: ID, last_seq: log.length } }));
  for (const event of log.slice(payload.after)) send('event', { session_id: ID, event });
}

function send(type: string, payload: object): void {
  socket?.send(JSON.stringify({ type, payload }));
}

function add(kind: string, payload: object): void {
  const event = { seq: log.length + 1, id: randomUUID(), session_id: ID, run_id: null, at: '', kind, payload };
  log.push(event as unknown as SessionEvent);
  send('event', { session_id: ID, event });
}

const say = (...texts: readonly string[]): void => {
  for (const text of texts) add('assistant_message', { text });
};

function become(to: SessionState): void {
  add('state_changed', { from: state, to, by: { role: 'owner', name: null } });
  state = to;
}

function follow(options: Partial<Following> = {}): AsyncGenerator<SessionEvent> {
  const connect = async (): Promise<WorkspaceClient> => {
    if (!isAway) return new WorkspaceClient(workspace.url, 'svc_pat_test');
    isAway = false;
    throw notRunning('/workspace');
  };
  const onLost = (): void => {
    losses += 1;
  };
  const given = { sessionId: ID, after: 0, untilIdle: false, connect, onLost, againMs: 1, ...options };
  return new SessionFollower(given).events();
}

/** The seqs of the next events. */
async function next(events: AsyncGenerator<SessionEvent>, count: number): Promise<number[]> {
  const seqs: number[] = [];
  while (seqs.length < count) {
    const { value, done } = await events.next();
    if (done) throw new Error(`It ended after ${seqs.length} events`);
    seqs.push(value.seq);
  }
  return seqs;
}

/** The seqs of all events to the end. */
async function rest(events: AsyncGenerator<SessionEvent>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of events) seqs.push(seq);
  return seqs;
}

describe('who follows a session', () => {
  it('gets what was and what comes as one log, without asking again, until the session is closed', async () => {
    say('one', 'two');
    const events = follow();
    expect(await next(events, 2)).toEqual([1, 2]);
    say('three');
    expect(await next(events, 1)).toEqual([3]);
    become('suspended');
    become('running');
    become('closed');
    expect(await rest(events)).toEqual([4, 5, 6]);
    expect([workspace.requests.length, afters, losses]).toEqual([1, [0], 0]);
  });

  it('goes on after the last event whatever became of the connection, and is told once that it was lost', async () => {
    say('one', 'two');
    const events = follow({ after: 1 });
    expect(await next(events, 1)).toEqual([2]);
    isAway = true;
    answers = [
      { status: 502, body: '<html>Bad gateway</html>' },
      { status: 503, body: error('SERVICE_UNAVAILABLE') },
    ];
    mishaps = [
      (taken) => taken.close(1013, 'the centre cannot be reached'),
      (taken) => taken.send(JSON.stringify({ id: 1, type: 'error', payload: error('SERVICE_UNAVAILABLE') })),
    ];
    socket?.terminate();
    say('three');
    expect(await next(events, 1)).toEqual([3]);
    expect([afters, losses]).toEqual([[1, 2, 2, 2], 1]);
    socket?.close(1001, 'the service stops');
    become('closed');
    expect(await rest(events)).toEqual([4]);
    expect([afters, losses]).toEqual([[1, 2, 2, 2, 3], 2]);
  });

  it('opens no socket for a session that is over, and gets the rest of its log', async () => {
    become('closed');
    add('scope_changed', { node_ids: [], access: 'read', added_via: 'user' });
    expect(await rest(follow({ after: 2 }))).toEqual([]);
    expect(afters).toEqual([]);
    expect(await rest(follow())).toEqual([1, 2]);
    become('archived');
    expect(await rest(follow({ after: 1 }))).toEqual([2, 3]);
  });

  it('is done with it once no run is under way, whatever was before, when that is wanted', async () => {
    become('suspended');
    become('running');
    const events = follow({ untilIdle: true });
    expect(await next(events, 2)).toEqual([1, 2]);
    become('suspended');
    expect(await rest(events)).toEqual([3]);
    expect(await rest(follow({ untilIdle: true, after: 3 }))).toEqual([]);
  });

  it('hears of the end before the events that are wanted', async () => {
    const events = follow({ after: 7 });
    const ended = rest(events);
    while (afters.length === 0) await sleep(5);
    become('closed');
    expect([await ended, afters]).toEqual([[], [0]]);
  });

  it('makes the workspace wait where it takes nothing', async () => {
    const text = 'x'.repeat(100_000);
    const total = 400;
    say(...Array.from({ length: total }, () => text));
    const events = follow();
    expect(await next(events, 1)).toEqual([1]);
    // What the system holds is sent; with the rest the workspace waits, however long.
    for (let before = -1; before !== socket?.bufferedAmount; await sleep(50)) before = socket?.bufferedAmount ?? 0;
    expect(socket?.bufferedAmount).toBeGreaterThan(0);
    become('closed');
    expect(await rest(events)).toEqual(Array.from({ length: total }, (_item, index) => index + 2));
  });
});

describe('following ends with an error', () => {
  it('when the session is not there any more', async () => {
    say('one');
    const events = follow();
    expect(await next(events, 1)).toEqual([1]);
    send('error', error('SESSION_NOT_FOUND', `There is no session ${ID} that you may see.`));
    await expect(events.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', exitCode: 1 });
  });

  it('when the credential has ended', async () => {
    say('one');
    const events = follow();
    expect(await next(events, 1)).toEqual([1]);
    answers = [{ status: 401, body: error('UNAUTHENTICATED') }];
    socket?.close(4401, 'the credential has ended');
    await expect(events.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', exitCode: 1 });
  });

  it.each([
    [{ status: 429, body: error('RATE_LIMITED') }, 'RATE_LIMITED'],
    [{ status: 502, body: '<html>Bad gateway</html>' }, 'UNEXPECTED_ANSWER'],
    [{ body: 'no socket' }, 'UNEXPECTED_ANSWER'],
  ])('when the first socket is refused with %j', async (answer, code) => {
    workspace.takeSocket = null;
    const { script } = workspace;
    workspace.script = (request) => (request.path === '/sessions/ws' ? answer : script(request));
    await expect(follow().next()).rejects.toMatchObject({ code, exitCode: 1 });
  });

  it('when nothing answers at first', async () => {
    isAway = true;
    await expect(follow().next()).rejects.toMatchObject({ code: 'WORKSPACE_NOT_RUNNING', exitCode: 3 });
    const connect = async (): Promise<WorkspaceClient> => new WorkspaceClient('http://127.0.0.1:1', 'svc_pat_test');
    await expect(follow({ connect }).next()).rejects.toMatchObject({ code: 'WORKSPACE_UNREACHABLE', exitCode: 3 });
  });
});

it('leaves the workspace when it is not wanted any more', async () => {
  say('one');
  const events = follow();
  await next(events, 1);
  const left = once(socket as WebSocket, 'close');
  await events.return(undefined);
  await left;
});
