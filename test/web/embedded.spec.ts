import {
  createNode,
  createToken,
  createUser,
  connect as join,
  type Node,
  updateNode,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { Agent } from './agent.js';
import { expectAccessible, LOOKS, Site, say, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const node = (name: string, more: object = {}): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name, organization_id: organization.id, ...more });
const connect = ({ id }: Node): Promise<Agent> => Agent.connect(workspace, site.folder.token, id);
const pane = (page: Page) => page.getByRole('complementary', { name: /^(Detail of the node|Detail nodu)$/ });
const log = (page: Page) => page.getByRole('log', { name: 'Log of the session' });
const title = (page: Page, name: string) => pane(page).getByRole('heading', { level: 2, name, exact: true });
const toggle = (page: Page) => page.getByRole('button', { name: /^Detail (of the node|nodu) \(Ctrl \.\)$/ });
const listed = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name });
/** The node that is marked as the selected one. */
const current = (page: Page, name: string) => page.locator('.slist .nr.at:not(.sub)[aria-current]', { hasText: name });
const placeOf = ({ session }: Agent, { id }: Node) => `/workspace?node=${id}&session=${session.id}`;

const MESSAGES = 60;
/** Some lines, and more of them the narrower the log is. */
const LONG = 'What the agent has found out about the second oven, and about the first one. '.repeat(9);

/** The first row in sight that is read, and how far from the upper end of the log it is. */
const TOP = `(() => {
  const log = document.querySelector('[role=log]');
  const { top } = log.getBoundingClientRect();
  const rows = [...log.querySelectorAll('[data-seq]')].map((row) => [Number(row.dataset.seq), row.getBoundingClientRect()]);
  const [seq, place] = rows.sort(([a], [b]) => a - b).find(([, { bottom }]) => bottom > top) ?? [];
  const end = log.scrollHeight - log.clientHeight - log.scrollTop;
  return { seq, top: place && Math.round(place.top - top), width: log.clientWidth, isAtEnd: end < 2 };
})()`;
interface Top {
  readonly seq: number;
  readonly top: number;
  readonly width: number;
  readonly isAtEnd: boolean;
}

/** What is in sight of the log when nothing has moved for some frames. */
async function still(page: Page): Promise<Top> {
  let [last, same] = ['', 0];
  await until('the log stands still', async () => {
    const now = JSON.stringify(await page.evaluate(`new Promise((done) => requestAnimationFrame(() => done(${TOP})))`));
    same = now === last ? same + 1 : 0;
    last = now;
    return same >= 3;
  });
  return JSON.parse(last) as Top;
}

/** Hides or shows the detail by its keys, and waits until the log has its new width. */
async function turn(page: Page, { width }: Top): Promise<Top> {
  await page.keyboard.press('Control+.');
  await until('the log has another width', async () => (await page.evaluate<Top>(TOP)).width !== width);
  return still(page);
}

it('stands beside the session, is hidden and shown by Ctrl-., and stays so in this browser', async () => {
  const home = await node('Beside');
  await using agent = await connect(home);
  await agent.say('At work');
  const { context, page, faults } = await site.visit(placeOf(agent, home));
  await title(page, 'Beside').waitFor();
  await log(page).getByText('At work').waitFor();
  await current(page, 'Beside').waitFor();
  const list = page.getByRole('complementary', { name: 'Nodes with sessions' });
  await list.getByText('Connected', { exact: true }).waitFor();
  await list.getByText(/^\d+ (session|relac)/).waitFor();
  const places = await Promise.all([log(page), pane(page)].map((one) => one.boundingBox()));
  expect((places[0]?.x ?? 0) + (places[0]?.width ?? 0)).toBeLessThanOrEqual(places[1]?.x ?? 0);
  await page.keyboard.press('Control+.');
  await pane(page).waitFor({ state: 'hidden' });
  expect(await page.evaluate(`localStorage.getItem('svc:workspace.detailVisible')`)).toBe('false');

  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await log(page).getByText('At work').waitFor();
  expect(await toggle(page).getAttribute('aria-pressed')).toBe('false');
  // What is not shown is not asked for.
  expect(asked.filter((path) => path.startsWith('/nodes/'))).toEqual([]);
  await toggle(page).click();
  await title(page, 'Beside').waitFor();
  expect(await toggle(page).getAttribute('aria-pressed')).toBe('true');
  expect(await page.evaluate(`localStorage.getItem('svc:workspace.detailVisible')`)).toBe('true');
  // Once more at most: when the live channel stands, for what may have changed before.
  expect([1, 2]).toContain(asked.filter((path) => path === `/nodes/${home.id}`).length);

  await pane(page).getByRole('button', { name: 'Hide the pane' }).click();
  await pane(page).waitFor({ state: 'hidden' });
  await page.locator(`button[aria-label="${say('Detail of the node (Ctrl .)')}"]:focus`).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Show or hide the detail').waitFor();
  // A dialog keeps its keys to itself.
  await page.keyboard.press('Control+.');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await pane(page).count()).toBe(0);
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it('leaves the log where it is, in its midst and at its end', async () => {
  const home = await node('Read on');
  await using agent = await connect(home);
  for (const number of Array(MESSAGES).keys()) await agent.say(`${number} ${LONG}`);
  const { context, page, faults } = await site.visit(placeOf(agent, home));
  await title(page, 'Read on').waitFor();
  await log(page)
    .getByText(`${MESSAGES - 1} What`)
    .waitFor();
  const atEnd = await still(page);
  expect(atEnd.isAtEnd).toBe(true);
  const wider = await turn(page, atEnd);
  expect(wider.isAtEnd).toBe(true);
  expect(wider.width).toBeGreaterThan(atEnd.width);
  expect((await turn(page, wider)).isAtEnd).toBe(true);

  await log(page).focus();
  await page.keyboard.press('Home');
  await log(page).getByText('0 What', { exact: false }).first().waitFor();
  for (const _step of Array(6)) await page.keyboard.press('PageDown');
  const before = await still(page);
  expect(before.isAtEnd).toBe(false);
  const without = await turn(page, before);
  const again = await turn(page, without);
  expect([without, again].map(({ seq }) => seq)).toEqual([before.seq, before.seq]);
  for (const { top } of [without, again]) expect(Math.abs(top - before.top)).toBeLessThan(24);
  // Whoever looks above is not taken to the end by what is said meanwhile.
  await agent.say('Said meanwhile');
  await page.getByText('1 new', { exact: true }).waitFor();
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it('is a sheet over the session where there is no place beside it: it takes the focus and hands it back', async () => {
  const home = await node('Narrow');
  const other = await node('Neighbour');
  await workspace.call(join, { source_id: home.id, target_id: other.id, relation: 'related_to' });
  await using agent = await connect(home);
  await agent.say('Under the sheet');
  const { context, page, faults } = await site.visit(placeOf(agent, home), { width: 1024 });
  await log(page).getByText('Under the sheet').waitFor();
  expect(await pane(page).count()).toBe(0);
  const { width } = await still(page);
  await log(page).focus();
  await page.keyboard.press('Control+.');
  await title(page, 'Narrow').waitFor();
  await page.locator('aside.pane:focus').waitFor();
  // It moves nothing, and lies in the window.
  expect((await still(page)).width).toBe(width);
  const box = await pane(page).boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(1024);
  await page.keyboard.press('Escape');
  await pane(page).waitFor({ state: 'hidden' });
  await page.locator('[role=log]:focus').waitFor();

  await toggle(page).click();
  await page.locator('aside.pane:focus').waitFor();
  // A menu of the sheet is a part of it.
  await pane(page).getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menuitem', { name: 'Archive' }).waitFor({ state: 'hidden' });
  await pane(page).getByRole('link', { name: 'Neighbour' }).click();
  await title(page, 'Neighbour').waitFor();
  await page.locator('aside.pane:focus').waitFor();
  await log(page).click();
  await pane(page).waitFor({ state: 'hidden' });
  await page.locator('[role=log]:focus').waitFor();

  // One step back at a time: the sheet, the session, the node.
  await page.keyboard.press('Control+.');
  await title(page, 'Neighbour').waitFor();
  await page.keyboard.press('Escape');
  await pane(page).waitFor({ state: 'hidden' });
  expect(page.url()).toContain(`session=${agent.session.id}`);
  await page.keyboard.press('Escape');
  await page.getByText('Choose a session').waitFor();
  expect(page.url()).toContain(`node=${other.id}`);
  await page.keyboard.press('Escape');
  await toggle(page).waitFor({ state: 'hidden' });
  expect(new URL(page.url()).search).toBe('');
  // What was chosen where there is place was not touched.
  expect(await page.evaluate(`localStorage.getItem('svc:workspace.detailVisible')`)).toBe('true');
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it('is of any node: one without agents is listed while it is selected, and links in it stay beside the session', async () => {
  const home = await node('With an agent');
  const quiet = await node('Without agents');
  await workspace.call(join, { source_id: home.id, target_id: quiet.id, relation: 'related_to' });
  await using agent = await connect(home);
  await agent.say('Still kneading');
  const { context, page, faults } = await site.visit(`/graph?node=${home.id}`);
  await title(page, 'With an agent').waitFor();
  await page.getByRole('heading', { level: 1, name: 'Graph' }).click();
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await title(page, 'With an agent').waitFor();
  await page.getByText('Choose a session').waitFor();
  await listed(page, 'With an agent').first().click();
  await log(page).getByText('Still kneading').waitFor();
  const selected = page.getByRole('region', { name: 'Selected' });
  expect(await selected.count()).toBe(0);

  await pane(page).getByRole('link', { name: 'Without agents' }).click();
  await title(page, 'Without agents').waitFor();
  await log(page).getByText('Still kneading').waitFor();
  await current(page, 'Without agents').waitFor();
  expect(await current(page, 'With an agent').count()).toBe(0);
  await workspace.call(updateNode, { node_id: quiet.id, name: 'Renamed elsewhere' });
  await title(page, 'Renamed elsewhere').waitFor();
  await selected.getByText('Renamed elsewhere').waitFor();

  // Where it is no more, it is left, and the detail of others is still shown.
  await pane(page).getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Remove for good' }).click();
  const asked = pane(page).getByRole('alertdialog');
  await asked.getByRole('textbox').fill('Renamed elsewhere');
  await asked.getByRole('button', { name: 'Remove for good' }).click();
  await pane(page).waitFor({ state: 'hidden' });
  await selected.waitFor({ state: 'hidden' });
  await log(page).getByText('Still kneading').waitFor();
  await listed(page, 'With an agent').first().click();
  await title(page, 'With an agent').waitFor();
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it('tells of a hidden node no more than of one that never was', async () => {
  const secret = await node('Tajemství', { visibility: 'private' });
  const reader = await workspace.call(createUser, { name: 'Reader of details' });
  const { secret: token } = await workspace.call(createToken, { user_id: reader.id, label: 'page', scope: 'read' });
  const { context, page, faults } = await site.visit(`/workspace?node=${secret.id}`, { token });
  faults.allow(/^404 .*\/nodes\//);
  await pane(page).getByText('This node is not here.').waitFor();
  expect(await page.getByRole('region', { name: 'Selected' }).count()).toBe(0);
  expect(await page.getByText('Tajemství').count()).toBe(0);
  await pane(page).getByRole('button', { name: 'Close' }).click();
  await pane(page).waitFor({ state: 'hidden' });
  expect(new URL(page.url()).search).toBe('');
  await context.close();
});

it.each(LOOKS)('is readable beside the session and over it, in $theme and $language', async (look) => {
  const home = await node(`Readable ${look.language}`);
  await using agent = await connect(home);
  await agent.say('To be read');
  const { context, page, faults } = await site.visit(placeOf(agent, home), look);
  await title(page, home.name).waitFor();
  await page.getByRole('log').getByText('To be read').waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 1024, height: 900 });
  await pane(page).waitFor({ state: 'hidden' });
  await toggle(page).click();
  await title(page, home.name).waitFor();
  await expectAccessible(page);
  // The page itself does not scroll sideways.
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(faults.list).toEqual([]);
  await context.close();
});
