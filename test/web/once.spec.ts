import { addDataSource, connect, createNode, getNode, listNodes, type Node } from '@workspace-graph/contracts';
import type { Page, Route } from 'playwright-core';
import { heading, Site, TITLES, undo, until, type Visit } from './site.js';

const EVENT = 'What happened or was decided';
/** Time to press a second time. */
const SLOW_MS = 300;

let site: Site;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const make = (name: string): Promise<Node> =>
  site.workspace.call(createNode, { type: 'project', name, organization_id: organization.id });
const read = ({ id }: Node): Promise<Node> => site.workspace.call(getNode, { node_id: id });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function visit(node: Node): Promise<Visit> {
  const given = await site.visit(`/graph?node=${node.id}`);
  await given.page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  return given;
}

/** Opens the form of a new event and writes into it. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('tab', { name: 'Events' }).click();
  await button(page, 'Log event').first().click();
  await page.getByRole('textbox', { name: EVENT }).fill(text);
}

/** Whatever changes something takes a moment. */
async function slow(page: Page): Promise<void> {
  await page.route('**/*', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    await route.continue();
  });
}

async function twice(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await page.keyboard.press(key);
}

it('what is sent twice in a row is made once', async () => {
  const node = await make('Pressed twice');
  const { context, page, faults } = await visit(node);
  await slow(page);
  for (const add of ['Add data source', 'Add tool']) {
    await button(page, add).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(add);
    await twice(page, 'Enter');
    await page.getByText(add, { exact: true }).first().waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor({ state: 'hidden' });
  }
  await button(page, 'Add responsibility').click();
  await page.getByRole('textbox', { name: 'What is answered for' }).fill('Once');
  await twice(page, 'Enter');
  await page.getByRole('textbox', { name: 'What is answered for' }).waitFor({ state: 'hidden' });
  await write(page, 'Once');
  await twice(page, 'Control+Enter');
  await page.getByRole('textbox', { name: EVENT }).waitFor({ state: 'hidden' });
  await button(page, 'New node').click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Made once');
  await twice(page, 'Enter');
  await page.getByRole('heading', { level: 2, name: 'Made once' }).waitFor();
  // Every change that was sent has been answered.
  await page.waitForLoadState('networkidle');
  const { data_sources, tools, responsibilities, recent_events } = await read(node);
  const { items } = await site.workspace.call(listNodes, { query: 'Made once' });
  expect([data_sources, tools, responsibilities, recent_events, items].map(({ length }) => length)).toEqual([
    1, 1, 1, 1, 1,
  ]);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what is taken away by a double click is taken away once', async () => {
  const [node, other] = [await make('Parted'), await make('Other end')];
  await site.workspace.call(connect, { source_id: node.id, target_id: other.id, relation: 'related_to' });
  await site.workspace.call(addDataSource, { node_id: node.id, name: 'Ledger' });
  const { context, page, faults } = await visit(node);
  await slow(page);
  await button(page, 'Remove Ledger').dblclick();
  await page.locator('.toast', { hasText: 'Ledger' }).waitFor();
  await button(page, 'Remove the edge to Other end').dblclick();
  await page.locator('.toast', { hasText: 'Other end' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what is done while the browser says that it has no network is done at once, and once', async () => {
  const node = await make('On a train');
  const { context, page, faults } = await visit(node);
  // The workspace is on this very machine.
  await page.evaluate('dispatchEvent(new Event("offline"))');
  await write(page, 'Said in a tunnel');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('textbox', { name: EVENT }).waitFor({ state: 'hidden' });
  await page.getByText('Said in a tunnel').waitFor();
  await page.getByRole('link', { name: TITLES.en.overview, exact: true }).click();
  await page.getByRole('region', { name: 'Recent activity' }).getByText('On a train').first().waitFor();
  await page.evaluate('dispatchEvent(new Event("online"))');
  await page.waitForLoadState('networkidle');
  expect((await read(node)).recent_events).toHaveLength(1);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a change whose answers were lost is the same one when it is sent again', async () => {
  const node = await make('Unanswered');
  const { context, page, faults } = await visit(node);
  faults.allow(/^net::|\/nodes\//);
  const carryOutUnanswered = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort('connectionreset');
  };
  await page.route('**/events', carryOutUnanswered);
  await write(page, 'Said once');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').waitFor();
  expect((await read(node)).recent_events).toHaveLength(1);
  await page.unroute('**/events', carryOutUnanswered);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('textbox', { name: EVENT }).waitFor({ state: 'hidden' });
  expect((await read(node)).recent_events).toHaveLength(1);
  // What is answered is over: the same words again are another event.
  await button(page, 'Log event').click();
  await page.getByRole('textbox', { name: EVENT }).fill('Said once');
  await page.keyboard.press('Control+Enter');
  await until('it is said twice', async () => (await read(node)).recent_events.length === 2);
  await context.close();
});

it('what is written of an event outlives every way out of it, and comes back after it was left', async () => {
  const [node, other] = [await make('Interrupted'), await make('Elsewhere')];
  const { context, page, faults } = await visit(node);
  const field = page.getByRole('textbox', { name: EVENT });
  await write(page, 'We decided after');
  await page.getByRole('tab', { name: 'Detail' }).click();
  await page.getByRole('tab', { name: 'Events' }).click();
  expect(await field.inputValue()).toBe('We decided after');
  await field.fill('We decided after a long talk');
  await page.goto(`${site.workspace.url}/app/graph?node=${other.id}`);
  await page.getByRole('heading', { level: 2, name: other.name, exact: true }).waitFor();
  expect(await field.count()).toBe(0);
  await page.goBack();
  await field.waitFor();
  await page.reload();
  expect(await field.inputValue()).toBe('We decided after a long talk');
  await field.press('Escape');
  await field.waitFor({ state: 'hidden' });
  await undo(page, 'What you wrote is discarded.');
  expect(await field.inputValue()).toBe('We decided after a long talk');
  await field.press('Control+Enter');
  await field.waitFor({ state: 'hidden' });
  await page.reload();
  await heading(page, TITLES.en.graph);
  await page.getByText('We decided after a long talk').waitFor();
  expect(await field.count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});
