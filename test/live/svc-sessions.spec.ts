import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  appendSessionEvents,
  closeSession,
  expandScope,
  getEvent,
  logEvent,
  type Session,
  startSession,
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

/** Runs the command as a user does; answers what it printed. */
async function svc(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], SVC_URL: world.url, SVC_TOKEN: owner.token };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [SVC, 'sessions', ...args], {
      env,
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
