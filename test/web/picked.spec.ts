import { createActor, createNode, getNode, listNodes, type Node } from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { Site, until, type Visit } from './site.js';

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

async function visit(node: Node): Promise<Visit> {
  const given = await site.visit(`/graph?node=${node.id}`);
  await given.page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  return given;
}

/** What is asked for at an address with this word in it is answered when the answered function is called. */
async function hold(page: Page, word: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/*', async (route) => {
    if (route.request().url().includes(word)) await released;
    await route.continue();
  });
  return release;
}

it('Enter takes the best match of what stands there, also where that is answered only later', async () => {
  const node = await make('Owned');
  for (const name of ['Rudolf', 'Ruda Hill']) await site.workspace.call(createActor, { type: 'person', name });
  const { context, page, faults } = await visit(node);
  const answer = await hold(page, 'Ruda');
  await page.getByRole('button', { name: 'Change the owner' }).click();
  const field = page.getByRole('combobox', { name: 'Find a person or an automation' });
  await field.fill('Rudo');
  await page.getByRole('option', { name: 'Rudolf' }).waitFor();
  await page.getByRole('option', { name: 'Ruda Hill' }).waitFor({ state: 'hidden' });
  const asked = page.waitForRequest((request) => request.url().includes('Ruda'));
  await field.fill('Ruda');
  await page.keyboard.press('Enter');
  await asked;
  expect((await read(node)).owner).toBeNull();
  answer();
  await until('somebody owns it', async () => (await read(node)).owner !== null);
  expect((await read(node)).owner?.name).toBe('Ruda Hill');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('Enter in a field that finds something does not send the form around it', async () => {
  const [node, garden] = [await make('Beside'), await make('Garden')];
  const { context, page, faults } = await visit(node);
  await page.getByRole('button', { name: 'New node' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Greenhouse');
  await dialog.getByRole('button', { name: 'Choose another' }).click();
  const field = dialog.getByRole('combobox');
  await field.fill('no node of that name');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing of that name.').waitFor();
  await page.keyboard.press('Enter');
  await field.fill('Gard');
  await page.keyboard.press('Enter');
  await dialog.getByText('Garden', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: /^Create/ }).click();
  await page.getByRole('heading', { level: 2, name: 'Greenhouse' }).waitFor();
  const { items } = await site.workspace.call(listNodes, { query: 'Greenhouse' });
  expect(items).toHaveLength(1);
  expect((await read(items[0] as Node)).edges.items.map((edge) => edge.node.id)).toContain(garden.id);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('Enter in the palette opens what was typed, and not what was found before', async () => {
  const [node] = [await make('Ovenbird'), await make('Oven')];
  await make('Owl');
  const { context, page, faults } = await visit(node);
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Find or do' });
  await field.fill('Ovenb');
  await page.getByRole('option', { name: /Ovenbird/ }).waitFor();
  const answer = await hold(page, 'Owl');
  const asked = page.waitForRequest((request) => request.url().includes('Owl'));
  await field.fill('Owl');
  await page.keyboard.press('Enter');
  await asked;
  await field.waitFor();
  answer();
  await page.getByRole('heading', { level: 2, name: 'Owl', exact: true }).waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what is typed while the palette is on its way is looked for, and goes into no other field', async () => {
  const node = await make('Owlet');
  const { context, page, faults } = await visit(node);
  const release = await hold(page, '/palette-');
  const field = page.getByRole('combobox', { name: 'Find a node by name' });
  await field.focus();
  const asked = page.waitForRequest('**/palette-*.js');
  await page.keyboard.press('Control+k');
  await asked;
  await page.keyboard.type('Owle');
  release();
  await page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.type('t');
  expect(await page.getByRole('combobox', { name: 'Find or do' }).inputValue()).toBe('Owlet');
  expect(await page.getByRole('combobox', { name: 'Find a node by name', includeHidden: true }).inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.locator('[role=combobox]:focus').waitFor();
  expect(await page.getByRole('combobox', { name: 'Find or do' }).inputValue()).toBe('');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what is typed while the form of a new node is on its way is its name, and no key of the page', async () => {
  const { context, page, faults } = await visit(await make('Eaglet'));
  const release = await hold(page, '/new-node-');
  await page.getByRole('button', { name: 'New node' }).focus();
  const asked = page.waitForRequest('**/new-node-*.js');
  await page.keyboard.press('Enter');
  await asked;
  // Elsewhere this leads to the overview.
  await page.keyboard.type('gpg');
  release();
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true });
  await name.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('!');
  expect(await name.inputValue()).toBe('gpg!');
  expect(new URL(page.url()).pathname).toBe('/app/graph');
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each([
  ['the palette', '/palette-', 'Control+k'],
  ['the form of a new node', '/new-node-', 'Enter'],
])('Escape while %s is on its way leaves it, and nothing else', async (_, word, key) => {
  const node = await make(`Left ${word}`);
  const { context, page, faults } = await visit(node);
  const release = await hold(page, word);
  await page.getByRole('button', { name: 'New node' }).focus();
  const asked = page.waitForRequest(`**${word}*.js`);
  await page.keyboard.press(key);
  await asked;
  await page.keyboard.press('Escape');
  const answered = page.waitForResponse(`**${word}*.js`);
  release();
  await answered;
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(new URL(page.url()).searchParams.get('node')).toBe(node.id);
  expect(faults.list).toEqual([]);
  await context.close();
});
