import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listNodes, logEvent } from '@workspace-graph/contracts';
import pg from 'pg';
import type { Page, WebSocketRoute } from 'playwright-core';
import { Agent } from './agent.js';
import { expectAccessible, heading, LOOKS, Site, say, TITLES, until } from './site.js';

const SOCKET = /\/sessions\/ws$/;

let site: Site;
let ovenId: string;
let agent: Agent;
beforeAll(async () => {
  site = await Site.start();
  await site.folder.svc(['demo']);
  const { items } = await site.workspace.call(listNodes, { scope: 'global', query: 'Second oven' });
  ovenId = items[0]?.id ?? '';
  agent = await Agent.connect(site.workspace, site.folder.token, ovenId);
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

const nameOf = ({ session: { client } }: Agent): string => client?.name ?? '';
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');
const reached = (page: Page, text: string): Promise<void> =>
  until(`the focus is on ${text}`, async () => (await focused(page)).includes(text));

/** An open question of the agent, beside the service: only a runner asks. */
async function ask({ session: { id } }: Agent): Promise<void> {
  const connectionString = readFileSync(join(site.folder.root, '.svc/database-url'), 'utf8').trim();
  const database = new pg.Client({ connectionString });
  await database.connect();
  const question = JSON.stringify({ request_id: 'q', type: 'input', title: 'Which?', text: 'Which one?' });
  await database.query(
    `WITH waits AS (UPDATE session.session SET waiting_since = now() WHERE id = $1::uuid)
     INSERT INTO session.question (session_id, request_id, question) VALUES ($1::uuid, 'q', $2::json)`,
    [id, question],
  );
  await database.end();
}

/** What a page asks the workspace for, but for its own files. */
function asked(page: Page): string[] {
  const list: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.startsWith('/app/')) list.push(`${request.method()} ${pathname}${search}`);
  });
  return list;
}

/** Waits until the page has heard of everything that the channel tells at first, and has asked again for what it would. */
async function settled(page: Page, list: readonly string[]): Promise<void> {
  let before = -1;
  await until('it asks for nothing more', async () => {
    const isQuiet = list.length === before;
    before = list.length;
    await page.waitForTimeout(1_000);
    return isQuiet;
  });
}

describe('who is at work', () => {
  it('stands in the row of the session and beside what it may change', async () => {
    await agent.call('svc_expand_scope', { node_ids: ['Bakehouse'], access: 'write', reason: 'to compare' });
    const { context, page } = await site.visit('/overview');
    const sessions = page.getByRole('region', { name: 'Sessions', exact: true });
    await sessions.getByRole('listitem').filter({ hasText: 'Second oven' }).getByText(nameOf(agent)).waitFor();
    const activity = page.getByRole('region', { name: 'Recent activity' });
    await activity.getByRole('listitem').filter({ hasText: 'Bakehouse' }).getByText(nameOf(agent)).waitFor();
    await context.close();
  });

  it('is counted on the tab of the node, also when it comes while one looks', async () => {
    const { context, page } = await site.visit(`/graph?node=${ovenId}`);
    await page.getByRole('tab', { name: `${say('Sessions')} 1`, exact: true }).waitFor();
    await using second = await Agent.connect(site.workspace, site.folder.token, ovenId);
    expect(nameOf(second)).not.toBe(nameOf(agent));
    await page.getByRole('tab', { name: `${say('Sessions')} 2`, exact: true }).waitFor();
    await context.close();
  });
});

it('a view asks for each thing once, however the live channel opens', async () => {
  await ask(agent);
  const at = `node=${ovenId}&session=${agent.session.id}`;
  for (const path of ['/overview', '/graph?view=list', `/graph?node=${ovenId}`, `/workspace?${at}`, '/settings']) {
    const { context, page } = await site.visit('/nowhere');
    const list = asked(page);
    await page.goto(`${site.workspace.url}/app${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByTitle('1 session waits for you').waitFor();
    await settled(page, list);
    // Where nodes lie is saved by the first page that draws them, which changes the graph.
    const ofOthers = list.filter((one) => !/graph(\/positions|\?since=)/.test(one));
    expect(ofOthers).toEqual([...new Set(ofOthers)]);
    if (path === '/overview')
      expect(list).toEqual(['GET /me', 'GET /overview', 'GET /sessions?own=true&waiting=true&limit=50']);
    await context.close();
  }
});

it('whether the centre can be reached is asked when the channel tells of a change, and not by the clock', async () => {
  const { context, page } = await site.visit('/nowhere');
  let state = 'connected';
  let channel: WebSocketRoute | undefined;
  // A workstation of a central workspace, as far as the page can see.
  await page.route(/\/app\/settings$/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace(
      '&#34;workspace&#34;:&#34;local&#34;',
      '&#34;workspace&#34;:&#34;joined&#34;',
    );
    await route.fulfill({ response: answer, body });
  });
  const membership = () => ({
    url: 'https://graph.example.org',
    device: { id: ovenId, name: 'laptop' },
    user: { id: ovenId, name: 'Olga' },
    state,
    since: '2026-01-01T00:00:00.000Z',
  });
  await page.route(/\/workspace\/membership$/, (route) => route.fulfill({ json: { membership: membership() } }));
  await page.route(/\/devices\b/, (route) => route.fulfill({ json: { items: [], next_cursor: null } }));
  // No server behind it: the browser lets a document that was changed on its way open none.
  await page.routeWebSocket(SOCKET, (socket) => {
    channel = socket;
  });
  const list = asked(page);
  await page.goto(`${site.workspace.url}/app/settings`);
  const sync = page.getByRole('region', { name: 'Synchronisation', exact: true });
  await sync.getByText('Connected', { exact: true }).waitFor();
  await settled(page, list);
  const count = () => list.filter((one) => one.endsWith('/workspace/membership')).length;
  const before = count();
  state = 'unreachable';
  channel?.send(JSON.stringify({ type: 'sync_changed', payload: { node_ids: [], everything: true } }));
  await sync.getByText('Cannot be reached.', { exact: false }).waitFor();
  expect(count()).toBe(before + 1);
  state = 'connected';
  await channel?.close();
  await sync.getByText('Connected', { exact: true }).waitFor();
  await context.close();
});

it.each(LOOKS)('the overview leads to the events of all nodes: $theme, $language', async ({ theme, language }) => {
  const texts = {
    en: { all: 'All events', filter: 'Kinds of events', kind: 'Blocker' },
    cs: { all: 'Všechny události', filter: 'Druhy událostí', kind: 'Překážka' },
  }[language];
  const content = `No flour, ${language}`;
  await site.workspace.call(logEvent, { node_id: ovenId, kind: 'blocker', content });
  const { context, page } = await site.visit('/overview', { theme, language });
  await page.getByRole('link', { name: texts.all }).click();
  await heading(page, texts.all);
  const rows = page.getByRole('region', { name: texts.all }).getByRole('listitem');
  await rows.filter({ hasText: content }).waitFor();
  await rows.filter({ hasNotText: texts.kind }).first().waitFor();
  await page.getByLabel(texts.filter).selectOption('blocker');
  await until('only blockers are there', async () => (await rows.filter({ hasNotText: texts.kind }).count()) === 0);
  await expectAccessible(page);
  const later = `And no salt, ${language}`;
  await site.workspace.call(logEvent, { node_id: ovenId, kind: 'blocker', content: later });
  await rows.filter({ hasText: later }).getByRole('link', { name: 'Second oven' }).click();
  await heading(page, TITLES[language].graph);
  expect(new URL(page.url()).searchParams.get('node')).toBe(ovenId);
  await context.close();
});

describe('J and K', () => {
  it('go over the rows of the overview, arrows go on, and Enter opens one', async () => {
    const { context, page } = await site.visit('/overview');
    const rows = page.locator('#content [data-row]');
    await rows.first().waitFor();
    const [first = '', second = '', third = ''] = await rows.allTextContents();
    // An arrow scrolls as long as no row has the focus.
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    for (const [key, text] of [
      ['j', first],
      ['j', second],
      ['ArrowDown', third],
      ['ArrowUp', second],
      ['k', first],
    ] as const) {
      await page.keyboard.press(key);
      await reached(page, text);
    }
    await page.keyboard.press('Enter');
    await heading(page, 'Workspace');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard' });
    await keys.getByText('Over the rows of a list').waitFor();
    await keys.getByText('J', { exact: true }).waitFor();
    const groups = await keys.getByRole('heading', { level: 3 }).allTextContents();
    expect(groups).toEqual(
      ['Everywhere', 'Views', 'Overview', 'Graph', 'Workspace', 'Node and its files'].map((one) => say(one)),
    );
    const ofGraph = keys.locator('section', { has: page.getByRole('heading', { name: 'Graph', exact: true }) });
    expect(await ofGraph.locator('kbd').allTextContents()).toEqual([...'/L←↑→↓−+0F']);
    await expectAccessible(page);
    await context.close();
  });

  it('go into the list of the graph', async () => {
    const { context, page } = await site.visit('/graph');
    await page.keyboard.press('l');
    const list = page.getByRole('listbox');
    await list.waitFor();
    await page.keyboard.press('j');
    await page.locator('[role=listbox]:focus').waitFor();
    const active = () => list.getAttribute('aria-activedescendant');
    const before = await active();
    await page.keyboard.press('j');
    await until('the next row is active', async () => (await active()) !== before);
    await context.close();
  });
});

it('what an edge may lead to stands below its direction and covers nothing', async () => {
  const { context, page } = await site.visit(`/graph?node=${ovenId}`, { height: 600 });
  await page.getByRole('button', { name: 'Add edge' }).click();
  const list = page.getByRole('listbox', { name: 'Find the other node' });
  await list.getByRole('option').first().waitFor();
  const box = async (name: string) =>
    (await page.getByRole('radiogroup', { name }).boundingBox()) ?? { y: 0, height: 0 };
  const { y, height } = await box('Direction');
  expect((await list.boundingBox())?.y).toBeGreaterThan(y + height);
  await page.getByRole('radiogroup', { name: 'Direction' }).getByText('to here').click();
  await list.getByRole('option').first().waitFor();
  await context.close();
});

it('the settings say which program this is, of which workspace', async () => {
  const { context, page } = await site.visit('/settings');
  const contents = page.getByRole('navigation', { name: 'Sections of the settings' });
  await contents.getByText(/Workspace Graph \d+\.\d+\.\d+/).waitFor();
  await contents.getByText(`${say('local workspace')}, ${say('connected')}`).waitFor();
  await context.close();
});
