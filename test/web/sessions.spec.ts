import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createMirror,
  createNode,
  createToken,
  createUser,
  getNode,
  getSession,
  type Node,
  renameSession,
  type Session,
  type SessionEventBody,
  setAccess,
} from '@workspace-graph/contracts';
import { appendLongLog } from '@workspace-graph/testing';
import type { Locator, Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { Agent } from './agent.js';
import { MARKDOWN_PAYLOADS, PAYLOADS } from './payloads.js';
import { ScriptedRun } from './scripted-run.js';
import { expectAccessible, LOOKS, Site, say, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
let run: ScriptedRun;
let databaseUrl: string;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
  databaseUrl = readFileSync(join(site.folder.root, '.svc/database-url'), 'utf8').trim();
  run = await ScriptedRun.of(site);
});
afterAll(async () => {
  await run?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

const node = (name: string): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name, organization_id: organization.id });
const connect = ({ id }: Node): Promise<Agent> => Agent.connect(workspace, site.folder.token, id);
const read = ({ id }: Session): Promise<Session> => workspace.call(getSession, { session_id: id });
const log = (page: Page) => page.getByRole('log', { name: 'Log of the session' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** Chooses from what can be done with the session. */
const choose = async (page: Page, name: string): Promise<void> => {
  await button(page, 'More for the session').click();
  await page.getByRole('menuitem', { name }).click();
};

const enter = (session: Session, events: readonly SessionEventBody[]): Promise<void> => run.enter(session, events);
const ask = (session: Session, question: object): Promise<void> => run.ask(session, [question]);

const EVENTS = 20_000;
/** Some hundred screens, each drawn. */
const WALK_MS = 420_000;
/** Tall, so that a walk through the whole log takes fewer steps. */
const TALL = { width: 1440, height: 3600 };

interface Walk {
  readonly most: number;
  readonly isInOrder: boolean;
  /** Each seq that was shown, with the number in its text. */
  readonly seen: readonly (readonly [number, string])[];
}
/** Runs in the page: goes up by less than a screen at a time, and notes each row that it comes by. */
const GO_UP = `(async () => {
  const log = document.querySelector('[role=log]');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const shown = () => [...log.querySelectorAll('.lrow')];
  const seen = new Map();
  let [most, isInOrder] = [0, true];
  for (;;) {
    do await frame(); while (shown().some((row) => row.classList.contains('unread')));
    await frame();
    const rows = shown();
    most = Math.max(most, rows.length);
    const told = rows.filter((row) => row.dataset.seq).map((row) => [Number(row.dataset.seq), row]);
    for (const [place, [seq, row]] of told.entries()) {
      seen.set(seq, /Event (\\d+)/.exec(row.textContent)?.[1] ?? '');
      const before = told[place - 1];
      isInOrder &&= !before || (before[0] < seq && before[1].getBoundingClientRect().top < row.getBoundingClientRect().top);
    }
    if (log.scrollTop === 0) break;
    // Between two frames, as a wheel does it.
    await new Promise((done) => setTimeout(done));
    // Rows that become known are higher than was guessed, and push the last ones out of sight.
    log.scrollTop -= log.clientHeight * 0.7;
  }
  return { most, isInOrder, seen: [...seen].sort(([a], [b]) => a - b) };
})()`;

describe('the log of a session', () => {
  it(
    'of 20,000 events is shown from its end to its beginning, with few rows at a time, none missing and none twice',
    async () => {
      await using agent = await connect(await node('Long'));
      const first = agent.session.last_seq;
      const last = first + EVENTS;
      await appendLongLog(databaseUrl, agent.session.id, EVENTS);
      const { context, page, faults } = await site.visit('/workspace');
      await page.setViewportSize(TALL);
      await page.getByRole('link', { name: /^Running/ }).click();
      await log(page).locator(`[data-seq="${last}"]`).waitFor();

      const { most, isInOrder, seen } = await page.evaluate<Walk>(GO_UP);
      expect(most).toBeLessThan(200);
      expect(isInOrder).toBe(true);
      // Calls that have ended are shown once, where they ended.
      const isBegun = (seq: number) => seq > first && seq < last && seq % 4 === 1;
      const all = Array.from({ length: last }, (_none, at) => at + 1).filter((seq) => !isBegun(seq));
      expect(seen.map(([seq]) => seq)).toEqual(all);
      expect(seen.filter(([seq, text]) => seq > first && text !== String(seq))).toEqual([]);

      await agent.say('New below');
      await page.getByText('1 new', { exact: true }).waitFor();
      expect(await log(page).evaluate((one) => one.scrollTop)).toBe(0);
      await button(page, '1 new').click();
      await log(page).getByText('New below').waitFor();
      await log(page).focus();
      await page.keyboard.press('Home');
      await log(page).locator('[data-seq="1"]').waitFor();
      await page.keyboard.press('End');
      await log(page).getByText('New below').waitFor();
      await agent.say('Followed');
      await log(page).getByText('Followed').waitFor();
      expect(faults.list).toEqual([]);
      expect(await faults.shift()).toBeLessThan(0.05);
      await context.close();
    },
    WALK_MS,
  );

  it('has its address: it is left by Escape, and is there again by going back and after a reload', async () => {
    const home = await node('Addressed');
    await using agent = await connect(home);
    await agent.say('Hello from the agent');
    const { context, page, faults } = await site.visit(`/graph?node=${home.id}`);
    await page.getByRole('tab', { name: 'Sessions' }).click();
    await page.getByRole('link', { name: /Open the log/ }).click();
    await log(page).getByText('Hello from the agent').waitFor();
    expect(page.url()).toContain(`session=${agent.session.id}`);
    await page.keyboard.press('Escape');
    await page.getByText('Choose a session').waitFor();
    await page.goBack();
    await log(page).getByText('Hello from the agent').waitFor();
    await page.reload();
    await log(page).getByText('Hello from the agent').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Graph' }).waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('is found by the palette, by its agent or its node', async () => {
    await using agent = await connect(await node('Quarried'));
    await agent.say('Hello from the quarry');
    const { context, page } = await site.visit('/settings');
    await page.keyboard.press('Control+k');
    await page.locator('[role=combobox]:focus').waitFor();
    await page.keyboard.type('quarr');
    await page.getByRole('group', { name: 'Sessions' }).getByRole('option', { name: 'Quarried' }).click();
    await log(page).getByText('Hello from the quarry').waitFor();
    expect(page.url()).toContain(`session=${agent.session.id}`);
    await context.close();
  });

  it('goes on without a gap after the channel was lost', async () => {
    await using agent = await connect(await node('Cut off'));
    const { context, page } = await site.open();
    let isCut = false;
    const cuts: (() => void)[] = [];
    await page.routeWebSocket('**/sessions/ws', (socket) => {
      if (isCut) return void socket.close();
      const server = socket.connectToServer();
      cuts.push(() => {
        void server.close();
        void socket.close();
      });
    });
    await page.goto(await site.link());
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto(`${workspace.url}/app/workspace?session=${agent.session.id}`);
    await agent.say('Before the cut');
    await log(page).getByText('Before the cut').waitFor();
    isCut = true;
    for (const cut of cuts) cut();
    await page.getByText('The connection is lost').waitFor();
    for (const number of [1, 2, 3]) await agent.say(`Said meanwhile ${number}`);
    isCut = false;
    await log(page).getByText('Said meanwhile 3').waitFor();
    await agent.say('After the cut');
    await log(page).getByText('After the cut').waitFor();
    const said = await log(page).locator('.msg-a .said').allTextContents();
    expect(said.map((text) => text.trim())).toEqual([
      'Before the cut',
      'Said meanwhile 1',
      'Said meanwhile 2',
      'Said meanwhile 3',
      'After the cut',
    ]);
    await context.close();
  });

  it('is taken away from whoever loses sight of its node, in the open page too', async () => {
    const home = await node('Soon hidden');
    await using agent = await connect(home);
    await agent.say('Seen until now');
    const reader = await workspace.call(createUser, { name: 'Reader of logs' });
    const { secret: token } = await workspace.call(createToken, { user_id: reader.id, label: 'page', scope: 'read' });
    const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`, { token });
    // The page may ask for it once more, and is told so then.
    faults.allow(/^404 .*\/sessions\//);
    await log(page).getByText('Seen until now').waitFor();
    // A reader changes nothing.
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
    await workspace.call(setAccess, { node_id: home.id, visibility: 'private', confirmed: true });
    await page.getByText('This session is not here.').first().waitFor();
    expect(await page.getByText('Seen until now').count()).toBe(0);
    await context.close();
  });
});

it('what an agent says is formatted, leads to files of the node, hides and fetches nothing, and nothing in it is run', async () => {
  const home = await node('Formatted');
  const { id } = home;
  const { local_path } = await workspace.call(createMirror, { node_id: id });
  writeFileSync(join(local_path ?? '', 'wip/plan.md'), '# The plan of the oven');
  await using agent = await connect(home);
  const said = [
    '# Done\n\nThe **oven** is built.\nIt is _warm_ <!-- really -->.\n\n- [x] floor\n- [ ] door',
    'See [the plan](wip/plan.md), ![a drawing](wip/oven.svg), ![a spy](https://spy.example/x.png) and [nothing](#here).',
    '| Step | Until |\n| --- | --- |\n| Fire | Friday |\n\n```\nsvc status\n```',
    [...MARKDOWN_PAYLOADS, ...PAYLOADS].join('\n\n'),
  ];
  await enter(
    agent.session,
    said.map((text) => ({ kind: 'assistant_message', payload: { text } })),
  );
  const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`);
  await page.setViewportSize({ width: 1440, height: 2400 });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const messages = log(page).locator('.said');
  await messages.nth(2).locator('td', { hasText: 'Friday' }).waitFor();
  expect(((await messages.nth(0).textContent()) ?? '').replace(/\s+/g, ' ').trim()).toBe(
    'Done The oven is built. It is warm <!-- really -->. ☑ floor ☐ door',
  );
  expect(await messages.nth(0).locator('br').count()).toBe(1);
  const hrefs = await messages
    .nth(1)
    .locator('a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  const file = (path: string): string => `?${new URLSearchParams({ node: id, file: path })}`;
  expect(hrefs).toEqual([file('wip/plan.md'), file('wip/oven.svg'), 'https://spy.example/x.png', null]);
  await log(page).locator('.msg-a button.link').click();
  await log(page).getByText('constructor.constructor').waitFor();
  expect(await log(page).locator('img, script, iframe, [id^=doc-]').count()).toBe(0);
  expect(asked.filter((url) => !url.startsWith(workspace.url))).toEqual([]);
  await page.getByRole('link', { name: 'the plan' }).click();
  await page.getByRole('dialog').getByRole('heading', { name: 'The plan of the oven' }).waitFor();
  expect(new URL(page.url()).searchParams.get('session')).toBe(agent.session.id);
  expect(await page.evaluate('globalThis.__xss ?? globalThis.harmed')).toBeUndefined();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('changes of files that follow each other are beside each other, and those of the node lead to their files', async () => {
  const home = await node('Changed files');
  const { local_path } = await workspace.call(createMirror, { node_id: home.id });
  writeFileSync(join(local_path ?? '', 'wip/plan.md'), '# The plan of the mill');
  await using agent = await connect(home);
  const changed = (path: string, change: 'created' | 'modified' | 'deleted' = 'modified') =>
    ({ kind: 'file_change', payload: { path, change } }) as const;
  const call = { call_id: 'a', title: 'Edit', phase: 'started' } as const;
  await enter(agent.session, [
    changed('wip/plan.md', 'created'),
    // Nothing of it is seen: its end is.
    { kind: 'tool_call', payload: call },
    changed('/etc/hosts'),
    changed('wip/old.md', 'deleted'),
    { kind: 'tool_call', payload: { ...call, phase: 'completed' } },
    ...Array.from({ length: 60 }, (_none, at) => changed(`outputs/${at}.md`)),
  ]);
  const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`);
  await page.setViewportSize({ width: 1440, height: 2400 });
  const blocks = log(page).locator('.fchips');
  const pathsOf = (block: Locator) => block.locator('bdi').allTextContents();
  await log(page).getByText('outputs/59.md').waitFor();
  expect(await pathsOf(blocks.first())).toEqual(['wip/plan.md', '/etc/hosts', 'wip/old.md']);
  const tops = await blocks
    .first()
    .locator('li')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(1);
  const others = await Promise.all((await blocks.all()).slice(1).map(pathsOf));
  expect(others.flat()).toEqual(Array.from({ length: 60 }, (_none, at) => `outputs/${at}.md`));
  // However many there are, a block has an end.
  expect(Math.max(...others.map(({ length }) => length))).toBe(25);
  await expectAccessible(page);
  expect(await blocks.first().getByRole('link').count()).toBe(1);
  await blocks.first().getByRole('link').click();
  await page.getByRole('dialog').getByRole('heading', { name: 'The plan of the mill' }).waitFor();
  expect(new URL(page.url()).searchParams.get('session')).toBe(agent.session.id);
  expect(faults.list).toEqual([]);
  await context.close();
});

const HOSTILE = '<img src=x onerror="globalThis.harmed = 1"> "quoted" \u202Eright to left';

it.each(LOOKS)('every kind of event is readable, as the text that it is, in $theme and $language', async (look) => {
  await using agent = await connect(await node(`Kinds ${look.language} ${HOSTILE}`));
  const { session } = agent;
  await workspace.call(renameSession, { session_id: session.id, name: `Named ${HOSTILE}` });
  const owner = { role: 'owner', name: null } as const;
  const called = { call_id: 'a', title: `Read ${HOSTILE}`, tool_kind: 'read' };
  const option = { id: 'yes', label: `Allow ${HOSTILE}`, role: 'allow_once' } as const;
  await enter(session, [
    { kind: 'user_message', payload: { text: `Please ${HOSTILE}`, author: { role: 'manager', name: HOSTILE } } },
    { kind: 'reasoning', payload: { text: `Thinking ${HOSTILE}` } },
    { kind: 'assistant_message', payload: { text: `${HOSTILE}\n`.repeat(80) } },
    { kind: 'tool_call', payload: { ...called, phase: 'started', input_summary: `Input ${HOSTILE}` } },
    { kind: 'tool_call', payload: { ...called, phase: 'completed', output_excerpt: HOSTILE, output_bytes: 5_800 } },
    {
      kind: 'tool_call',
      payload: { call_id: 'b', phase: 'failed', title: 'Gone', output_excerpt: 'NODE_NOT_FOUND: no' },
    },
    { kind: 'file_change', payload: { path: `wip/${HOSTILE}`, change: 'created' } },
    { kind: 'compaction', payload: { summary: HOSTILE } },
    { kind: 'scope_changed', payload: { node_ids: [], access: 'read', added_via: 'expand', reason: HOSTILE } },
    { kind: 'question', payload: { request_id: 'p', type: 'approval', title: HOSTILE, options: [option] } },
    { kind: 'answer', payload: { request_id: 'p', decision: { option_id: 'yes' }, by: owner } },
    { kind: 'handoff', payload: { title: HOSTILE, text: HOSTILE, written_by: 'server' } },
  ]);
  await ask(session, { type: 'approval', title: `Asked ${HOSTILE}`, options: [option] });
  const { context, page, faults } = await site.visit(`/workspace?session=${session.id}`, look);
  await page.setViewportSize({ width: 1024, height: 1800 });
  const rows = page.getByRole('log');
  await rows.getByText('NODE_NOT_FOUND').waitFor();
  const folded = rows.locator('[aria-expanded=false]:not(.link)');
  while ((await folded.count()) > 0) await folded.first().click();
  await rows.getByText('Input ').waitFor();
  await expectAccessible(page);
  await page
    .locator('.dock')
    .getByRole('button', { name: /^Allow/ })
    .click();
  await until('it is answered', async () => (await read(session)).open_questions.length === 0);
  await page.locator('.dock').getByRole('button').waitFor({ state: 'hidden' });
  expect(await page.evaluate('globalThis.harmed ?? document.querySelectorAll("img").length')).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each([
  { language: 'en', timezoneId: 'Asia/Tokyo', moment: /Feb 4, 2024 8:30\sAM$/ },
  { language: 'cs', timezoneId: 'America/New_York', moment: /3\.\s2\.\s2024 18:30$/ },
] as const)(
  'the moment in the name of a session is told as in $timezoneId',
  async ({ language, timezoneId, moment }) => {
    const oven = await node(`Oven ${language}`);
    await using agent = await connect(oven);
    const title = `${oven.name} · 2024-02-03 23:30`;
    await workspace.call(renameSession, { session_id: agent.session.id, name: title });
    await enter(agent.session, [{ kind: 'handoff', payload: { title, text: 'Half', written_by: 'server' } }]);
    const { context, page, faults } = await site.visit('/overview', { language, timezoneId });
    const whole = new RegExp(`^${oven.name} · ${moment.source}`);
    await page.getByRole('link', { name: whole }).click();
    await page.getByRole('heading', { level: 2, name: whole }).waitFor();
    await page
      .getByRole('log')
      .locator('bdi', { hasText: new RegExp(`: ${oven.name} · ${moment.source}`) })
      .waitFor();
    // Below its node it is named by the moment alone.
    await page.locator('.slist .nr.sub.at bdi', { hasText: new RegExp(`^${moment.source}`) }).waitFor();
    await page.goto(`${workspace.url}/app/graph?node=${oven.id}`);
    await page.getByRole('tab', { name: language === 'cs' ? 'Relace' : 'Sessions' }).click();
    await page.getByRole('tabpanel').locator('bdi', { hasText: whole }).waitFor();
    await page.getByRole('tab', { name: language === 'cs' ? 'Historie' : 'History' }).click();
    const quoted = new RegExp(`[“„]${oven.name} · ${moment.source.slice(0, -1)}[”“]$`);
    await page.getByRole('tabpanel').locator('.kind', { hasText: quoted }).first().waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  },
);

describe('what can be done with a session', () => {
  it('hands the focus of its menu back where nothing was chosen, and to the question that was', async () => {
    await using agent = await connect(await node('Left alone'));
    const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`);
    await button(page, 'More for the session').press('Enter');
    await page.locator('[role=menu] :focus').waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowDown');
    await page.locator('[role=menuitem]:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator(`[aria-label="${say('More for the session')}"]:focus`).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Take back' }).press('Enter');
    await page.locator('[role=alertdialog] button:focus').waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('is taken back after all that goes back and all that stays has been shown', async () => {
    const home = await node('Changed by an agent');
    await using agent = await connect(home);
    await agent.call('svc_update_node', { node_id: home.id, goal: 'The goal of the agent' });
    const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`);
    await choose(page, 'Take back what it changed…');
    const asked = page.getByRole('alertdialog', { name: 'Take back what this session changed?' });
    await asked.getByText('Changed', { exact: true }).waitFor();
    await asked.getByText('Goal', { exact: true }).waitFor();
    expect((await workspace.call(getNode, { node_id: home.id })).goal).toBe('The goal of the agent');
    await asked.getByRole('button', { name: 'Take back 1 change' }).click();
    await page.getByText('1 change is taken back.').waitFor();
    expect((await workspace.call(getNode, { node_id: home.id })).goal).toBe('');
    await choose(page, 'Take back what it changed…');
    await asked.getByText('There is nothing to take back.').waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('is renamed, suspended with its handoff in sight, and closed after a question, and moves in the list', async () => {
    await using agent = await connect(await node('Driven'));
    await agent.call('svc_session_log', { kind: 'handoff', title: 'Half of it', text: 'The second half is left.' });
    const { context, page, faults } = await site.visit(`/workspace?session=${agent.session.id}`);
    await choose(page, 'Rename');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await page.locator(`input[aria-label="${say('Name of the session')}"]:focus`).waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('A better name');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'A better name' }).waitFor();
    await button(page, 'Suspend').click();
    const standstill = page.getByRole('region', { name: 'Suspended', exact: true });
    await standstill.getByText('suspended by hand').waitFor();
    await standstill.getByRole('button', { name: /Half of it/ }).click();
    await standstill.getByText('The second half is left.').waitFor();
    await page.getByRole('region', { name: 'Suspended and quiet' }).getByText('A better name').waitFor();
    await log(page)
      .getByText(/^Suspended/)
      .first()
      .waitFor();
    await choose(page, 'Close for good…');
    const asked = page.getByRole('alertdialog', { name: 'Close this session for good?' });
    await asked.locator('button:focus', { hasText: 'Back' }).waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'hidden' });
    await choose(page, 'Close for good…');
    await asked.getByRole('button', { name: 'Close it' }).click();
    await page.getByText('A better name is closed.').waitFor();
    expect((await read(agent.session)).state).toBe('closed');
    await page
      .getByRole('region', { name: 'Suspended and quiet' })
      .getByText('A better name')
      .waitFor({ state: 'hidden' });
    expect(faults.list).toEqual([]);
    await context.close();
  });
});
