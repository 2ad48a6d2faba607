import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  appendSessionEvents,
  closeSession,
  expandScope,
  getEvent,
  logEvent,
  revokeToken,
  type Session,
  type SessionEvent,
  setAccess,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import { LiveWorld, type Person } from './live-world.js';

const SVC = join(import.meta.dirname, '../../apps/device-agent/bin/svc.mjs');

let world: LiveWorld;
let owner: Person;
let session_id: string;
beforeAll(async () => {
  world = await LiveWorld.start();
  owner = await world.person('Olga', 'write');
  const node = await world.node('Home');
  const task = { node_id: node.id, brief: 'Write the draft.', runner: 'scripted' };
  session_id = (await world.call(startSession, task, owner.caller)).id;
  const run_id = world.runs.orders.at(-1)?.run_id ?? '';
  const events = [
    { id: randomUUID(), kind: 'assistant_message', payload: { text: 'Which year?' } },
    {
      id: randomUUID(),
      kind: 'question',
      payload: {
        request_id: 'year',
        type: 'approval',
        title: 'Year',
        options: [{ id: 'y26', label: '2026', role: 'allow_once' }],
      },
    },
  ] as never;
  await world.call(appendSessionEvents, { session_id, run_id, events }, owner.caller);
});
afterAll(() => world[Symbol.asyncDispose]());

function environment({ token }: Person): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], SVC_URL: world.url, SVC_TOKEN: token };
}

/** Runs the command as a user does; answers what it printed. */
async function svc(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [SVC, 'sessions', ...args], {
      env: environment(owner),
      maxBuffer: 64e6,
    });
    return { code: 0, stdout };
  } catch (error) {
    const { code = -1, stdout = '' } = error as { readonly code?: number; readonly stdout?: string };
    return { code, stdout };
  }
}

const json = async (...args: readonly string[]): Promise<Session> =>
  JSON.parse((await svc(...args, '--json')).stdout) as Session;

it('lists sessions, and shows one with its questions', async () => {
  const listed = await svc('list', '--node', 'Home', '--waiting');
  expect([listed.code, listed.stdout.split('\n').length]).toEqual([0, 3]);
  expect(listed.stdout).toContain(`${session_id}  running, waiting`);
  expect((await svc('show', session_id)).stdout.split('\n')).toEqual([
    expect.stringMatching(/^Home · .* \(.*\)$/),
    'State: running, waiting',
    'Node: Home',
    'Owner: Olga',
    'Events: 4',
    'Question year: Year: y26 (2026)',
    '',
  ]);
});

it('answers, suspends, resumes, renames and closes, and says what is refused', async () => {
  expect((await svc('answer', session_id, 'year')).code).toBe(2);
  expect(await json('answer', session_id, 'year', '--option', 'y26')).toMatchObject({ waiting_since: null });
  expect(await json('answer', session_id, 'year', '--option', 'y26')).toMatchObject({ code: 'CONFLICT' });
  expect(await json('suspend', session_id)).toMatchObject({ state: 'suspended' });
  expect(await json('resume', session_id)).toMatchObject({ state: 'running' });
  expect(await json('rename', session_id, 'The draft')).toMatchObject({ name: 'The draft' });
  expect(await json('close', session_id)).toMatchObject({ state: 'closed' });
  expect(await json('show', randomUUID())).toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

it('exports a log as Markdown and as lines of JSON, and follows it to its end', async () => {
  await world.call(closeSession, { session_id }, owner.caller).catch(() => undefined);
  const { stdout: markdown } = await svc('export', session_id);
  expect(markdown).toMatch(/^# The draft\n\nstate closed, /);
  for (const line of [
    '**User:** Write the draft.',
    '**Agent:** Which year?',
    '**Question:** Year',
    '**Answer** (owner): y26',
    '## Handoff: Draft is ready',
  ])
    expect(markdown).toContain(line);
  const [head, ...events] = (await svc('export', session_id, '--format', 'json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(head).toMatchObject({ session: { id: session_id } });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  const followed = await svc('follow', session_id, '--after', '2', '--json');
  expect(
    followed.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq),
  ).toEqual(events.slice(2).map(({ seq }) => seq));
});

it('undoes what a session changed, after showing it', async () => {
  const node = await world.node('Changed');
  const { id } = await world.connect(node.id, owner);
  const agent = { ...owner.caller, via: 'mcp', session_id: id } as const;
  const event = await world.call(logEvent, { node_id: node.id, kind: 'note', content: 'By mistake' }, agent);
  const status = async () => (await world.call(getEvent, { event_id: event.id }, owner.caller)).status;
  const shown = await svc('undo', id);
  expect(shown.stdout.split('\n')).toEqual([
    'CHANGE  OF       UNDO',
    'log     Changed  back',
    'Would take back: 1. Stays: 0.',
    'Nothing was changed: add --yes to apply it.',
    '',
  ]);
  expect(await status()).toBe('active');
  expect((await svc('undo', id, '--yes')).stdout).toContain('Taken back: 1. Stays: 0.');
  expect(await status()).toBe('archived');
  expect((await svc('undo', id)).stdout).toContain('stays: is as it was before');
});

it('shows what a session may reach, adds to it and takes nodes out of it', async () => {
  const [home, draft, found] = await Promise.all(['Yard', 'Draft', 'Found'].map((name) => world.node(name)));
  if (!home || !draft || !found) throw new Error('A node is missing');
  const { id } = await world.connect(home.id, owner);
  const rows = async (...args: readonly string[]): Promise<string[]> =>
    (await svc('scope', id, ...args)).stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | ').trim());
  expect(await rows()).toEqual(['NODE | ACCESS | JOINED | REVIEW | REASON', 'Yard | write | seed', '']);
  expect((await svc('scope', id, '--write')).code).toBe(2);
  expect(await rows('--add', 'Draft', '--write')).toContain('Draft | write | user');
  const agent = { ...owner.caller, via: 'mcp', session_id: id } as const;
  await world.call(expandScope, { node_ids: [found.id], access: 'read', reason: 'It is named.' }, agent);
  const [, waiting = ''] = await rows('--unreviewed');
  expect(waiting).toMatch(/^Found \| read \| disconnected \|.* It is named\.$/);
  expect(await rows('--reject', found.id)).not.toContain(waiting);
  expect(await rows('--accept', draft.id)).toContain('Draft | write | user | accepted');
});

it('prints what agents write so that a terminal shows it and does not obey it', async () => {
  const [yard, found] = [await world.node('Shed'), await world.node('Bait')];
  const session = await world.connect(yard.id, owner);
  const agent = { ...owner.caller, via: 'mcp', session_id: session.id } as const;
  const orders = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b2J\u007f\rDone';
  const reason = `It is named.${orders}\nForged | read | seed`;
  await world.call(expandScope, { node_ids: [found.id], access: 'read', reason }, agent);
  await world.say(session, owner, `First line\n\tsecond${orders}`, 'One.\n2026-11-29T00:00:00.000Z - State: closed');
  const printed = [
    ['scope', session.id],
    ['export', session.id],
    ['export', session.id, '--format', 'json'],
    ['follow', session.id, '--until-idle'],
    ['scope', session.id, '--json'],
  ];
  await world.call(suspendSession, { session_id: session.id }, owner.caller);
  for (const args of printed) {
    const { code, stdout } = await svc(...args);
    expect([args, code, stdout.match(/[^\P{Cc}\n\t]/gu)]).toEqual([args, 0, null]);
    expect(stdout).toContain('\\u001b[2J\\u009b2J\\u007f');
  }
  const { stdout } = await svc('scope', session.id);
  expect(stdout.split('\n')).toHaveLength(4);
  expect((await svc('export', session.id)).stdout).toContain('> First line\n> \tsecond');
  const [, ...lines] = (await svc('export', session.id, '--format', 'json')).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ payload: { text: `First line\n\tsecond${orders}` } }),
  );
  const followed = (await svc('follow', session.id, '--until-idle')).stdout.split('\n');
  expect(followed.filter((line) => /^\S/.test(line))).toHaveLength(lines.length);
});

/** A command that follows a session. */
class FollowingCommand implements AsyncDisposable {
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(person: Person, ...args: readonly string[]) {
    this.child = spawn(process.execPath, [SVC, 'sessions', 'follow', ...args], { env: environment(person) });
    this.closed = once(this.child, 'close');
    this.child.stderr?.on('data', (text) => (this.stderr += String(text)));
  }

  /** Takes what is printed. */
  read(): this {
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    return this;
  }

  /** Takes nothing more, like `head`. */
  leave(): void {
    this.child.stdout?.destroy();
  }

  get lines(): readonly string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  /** Of the events that were printed as JSON. */
  get seqs(): readonly number[] {
    return this.lines.map((line) => (JSON.parse(line) as SessionEvent).seq);
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    for (const deadlineMs = Date.now() + 60_000; !holds(); await sleep(5))
      if (Date.now() > deadlineMs) throw new Error(`${what} did not come: ${this.stdout.slice(-500)}${this.stderr}`);
  }

  /** The exit code. */
  async end(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}

describe('who follows a session', () => {
  const upTo = (last: number): number[] => Array.from({ length: last }, (_item, index) => index + 1);
  const server = (): Server => world.app.getHttpServer();
  let home: string;
  beforeAll(async () => {
    home = (await world.node('Followed')).id;
  });

  it('reads each event once, and asks for nothing after the beginning, until the session is closed', async () => {
    const session = await world.connect(home, owner);
    const asked: string[] = [];
    const count = ({ url = '' }: { url?: string }): void => void asked.push(url);
    server().on('request', count);
    await using follower = new FollowingCommand(owner, session.id, '--json').read();
    await follower.until(() => follower.seqs.length === 1, 'the replay');
    let last = 0;
    for (let turn = 0; turn < 3; turn++) {
      last = await world.say(session, owner, 'one', 'two');
      await follower.until(() => follower.seqs.at(-1) === last, 'what was said');
    }
    await world.call(closeSession, { session_id: session.id }, owner.caller);
    expect(await follower.end()).toBe(0);
    server().off('request', count);
    expect(follower.seqs).toEqual(upTo(last + 2));
    expect(asked.filter((url) => url.includes('/sessions'))).toEqual([`/sessions/${session.id}`]);
  });

  it('goes on where the connection was lost, and is told of it beside the log', async () => {
    const connections = new Set<Socket>();
    const keep = (connection: Socket): void => void connections.add(connection);
    server().on('connection', keep);
    const session = await world.connect(home, owner);
    await using follower = new FollowingCommand(owner, session.id, '--after', '1').read();
    await world.say(session, owner, 'before');
    await follower.until(() => follower.lines.length === 1, 'what was said before');
    for (const connection of connections) connection.destroy();
    await world.say(session, owner, 'meanwhile');
    await follower.until(() => follower.lines.length === 2, 'what was said meanwhile');
    await world.say(session, owner, 'after');
    await world.call(closeSession, { session_id: session.id }, owner.caller);
    expect(await follower.end()).toBe(0);
    server().off('connection', keep);
    const said = follower.lines.map((line) => line.replace(/^\S+ /, ''));
    expect(said.slice(0, 3)).toEqual(['**Agent:** before', '**Agent:** meanwhile', '**Agent:** after']);
    expect(said).toHaveLength(5);
    expect(follower.stderr).toBe('svc: the connection was lost; connecting again\n');
  });

  it('is done with it when no run is under way, on demand', async () => {
    const session = await world.connect(home, owner);
    await using follower = new FollowingCommand(owner, session.id, '--until-idle', '--json').read();
    await follower.until(() => follower.seqs.length === 1, 'the replay');
    await world.call(suspendSession, { session_id: session.id }, owner.caller);
    expect(await follower.end()).toBe(0);
    expect(follower.seqs).toEqual(upTo(4));
    expect((await svc('follow', session.id, '--until-idle', '--json')).stdout).toBe(follower.stdout);
  });

  it('hears that the node is hidden, or that the credential has ended, and no more', async () => {
    const node = await world.node('Soon hidden');
    const session = await world.connect(node.id, world.admin);
    const follow = async (person: Person): Promise<FollowingCommand> => {
      const follower = new FollowingCommand(person, session.id).read();
      await follower.until(() => follower.lines.length === 1, 'the replay');
      return follower;
    };
    const leaver = await world.person('Lea', 'read');
    await using left = await follow(leaver);
    await world.call(revokeToken, { token_id: leaver.tokenId }, world.admin.caller);
    expect([await left.end(), left.stderr]).toEqual([1, expect.stringContaining('UNAUTHENTICATED, request ')]);
    await using blind = await follow(owner);
    await world.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true }, world.admin.caller);
    await world.say(session, world.admin, 'secret');
    expect([await blind.end(), blind.stderr]).toEqual([1, expect.stringContaining('SESSION_NOT_FOUND, request ')]);
    expect([left.lines.length, blind.lines.length]).toEqual([1, 1]);
  });

  it('ends it without a word by reading no more', async () => {
    const session = await world.connect(home, owner);
    await using follower = new FollowingCommand(owner, session.id).read();
    await follower.until(() => follower.lines.length === 1, 'the replay');
    follower.leave();
    await world.say(session, owner, 'unheard');
    expect([await follower.end(), follower.stderr]).toEqual([1, '']);
  });

  it('has it wait in the log where nobody takes what is printed', async () => {
    const session = await world.connect(home, owner);
    await using follower = new FollowingCommand(owner, session.id, '--json');
    const text = 'x'.repeat(100_000);
    // 40 MB: far more than the buffers of a socket and of a pipe.
    let last = 0;
    for (let turn = 0; turn < 80; turn++)
      last = await world.say(session, owner, ...Array.from({ length: 5 }, () => text));
    await world.call(closeSession, { session_id: session.id }, owner.caller);
    while (!((await world.metric('live_unsent_bytes')) > 0)) await sleep(20);
    follower.read();
    expect(await follower.end()).toBe(0);
    expect(follower.seqs).toEqual(upTo(last + 2));
  });
});
