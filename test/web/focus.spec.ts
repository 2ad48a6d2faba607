import {
  addDataSource,
  addResponsibility,
  connect,
  createActor,
  createNode,
  type Node,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { NodeFolders } from './node-folders.js';
import { Site, say } from './site.js';

let site: Site;
let node: Node;
beforeAll(async () => {
  site = await Site.start();
  const { workspace } = site;
  const { id: organization_id } = await site.organization();
  const make = (name: string) => workspace.call(createNode, { type: 'project', name, organization_id });
  const [other] = [await make('Far end')];
  node = await make('By keyboard');
  await workspace.call(connect, { source_id: node.id, target_id: other.id, relation: 'related_to' });
  await workspace.call(addDataSource, { node_id: node.id, name: 'Ledger' });
  const { id } = await workspace.call(createActor, { type: 'person', name: 'Ida' });
  await workspace.call(addResponsibility, { node_id: node.id, title: 'Ovens', assignee_ids: [id] });
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** Waits until the button of that name has the focus. */
const expectFocus = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).and(page.locator(':focus')).waitFor();

/** Opens something by the keyboard from a button, does something there, and expects the focus at the button again. */
async function openFrom(page: Page, name: string, then: () => Promise<unknown>, back = name): Promise<void> {
  await page.getByRole('button', { name, exact: true }).press('Enter');
  await then();
  await expectFocus(page, back);
}

it('whatever is opened by the keyboard gives the focus back, however it is left', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  await page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  const leave = async (field: string) => {
    await page.getByRole('textbox', { name: field, exact: true }).first().waitFor();
    await page.keyboard.press('Escape');
  };
  await openFrom(page, 'New node', async () => {
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).press('Escape');
  });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find or do' }).press('Escape');
  await expectFocus(page, 'New node');
  await openFrom(page, 'Edit: Name', () => leave('Name'));
  await openFrom(page, 'Edit: Description', async () => {
    await page.getByRole('textbox', { name: 'Description' }).fill('Written by keyboard');
    await page.keyboard.press('Control+Enter');
  });
  await openFrom(page, 'Change the owner', async () => {
    await page.getByRole('combobox', { name: 'Find a person or an automation' }).press('Escape');
  });
  await openFrom(page, 'Add data source', () => leave('Name'));
  await openFrom(page, 'Add responsibility', () => leave('What is answered for'));
  const taken = () => page.locator('.toast').last().waitFor();
  await openFrom(page, 'Remove Ledger', taken, 'Add data source');
  await openFrom(page, 'Remove the edge to Far end', taken, 'Add edge');
  await page.getByRole('tab', { name: 'Events' }).press('Enter');
  await openFrom(page, 'Log event', async () => {
    await page.getByRole('textbox', { name: 'What happened or was decided' }).fill('Said by keyboard');
    await page.keyboard.press('Control+Enter');
  });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a responsibility is read from its title on, covered by nothing, and gives the focus back', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const fields = page.getByRole('region', { name: 'Responsibilities' }).getByRole('textbox');
  const title = fields.first();
  await openFrom(page, 'Ovens', async () => {
    await title.waitFor();
    await page.waitForLoadState('networkidle');
    await expectFocus(page, 'Ovens');
    await page.keyboard.press('Tab');
    await title.and(page.locator(':focus')).waitFor();
    // Playwright refuses where something lies over it.
    await title.click({ trial: true });
    await page.keyboard.press('Escape');
    await title.waitFor({ state: 'hidden' });
  });
  await openFrom(page, 'Ovens', async () => {
    await page.getByRole('combobox', { name: 'Assign somebody' }).press('Escape');
    await title.waitFor({ state: 'hidden' });
  });
  await openFrom(page, 'Ovens', async () => {
    await fields.nth(1).fill('Heat.');
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await title.waitFor({ state: 'hidden' });
  });
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Take it from Ida' }).press('Enter');
  await page.getByRole('button', { name: 'Take it from Ida' }).waitFor({ state: 'hidden' });
  await expectFocus(page, 'Ovens');
  await page.getByRole('button', { name: 'Remove responsibility' }).press('Enter');
  await page.getByRole('button', { name: 'Ovens', exact: true }).waitFor({ state: 'hidden' });
  await expectFocus(page, 'Add responsibility');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what was made by the palette takes the focus', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  await page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find or do' }).fill(say('New node'));
  await page.getByRole('option', { name: 'New node' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Made by keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 2, name: 'Made by keyboard' }).and(page.locator(':focus')).waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what a new node belongs to is chosen by keyboard, and the form keeps the focus', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const dialog = page.getByRole('dialog', { name: 'New node' });
  await page.getByRole('button', { name: 'New node' }).press('Enter');
  await openFrom(page, 'Choose another one', () => dialog.getByRole('combobox').press('Escape'));
  await openFrom(page, 'Choose another one', async () => {
    await dialog.getByRole('combobox').fill('Far end');
    await page.locator('[data-combobox-selected]', { hasText: 'Far end' }).waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByText('Far end').waitFor();
  });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('whoever asks for the rest of a list by keyboard stays at its end, where that is said', async () => {
  for (let at = 0; at < 11; at++) await site.workspace.call(createActor, { type: 'automation', name: `Robot ${at}` });
  const { context, page, faults } = await site.visit('/settings');
  const actors = page.getByRole('region', { name: 'Actors', exact: true });
  const more = actors.getByRole('button', { name: 'Show more' });
  await more.press('Enter');
  await actors.getByText('That is all.').and(page.locator(':focus')).waitFor();
  await actors.getByRole('button', { name: 'Robot 10', exact: false }).waitFor();
  expect(await more.count()).toBe(0);
  await page.keyboard.press('Shift+Tab');
  await actors.getByText('That is all.').waitFor({ state: 'hidden' });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a note stays while it has the focus, and gives it back', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  await page.getByRole('button', { name: 'Add tool' }).press('Enter');
  await page.keyboard.type('Scales');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove Scales' }).waitFor();
  await page.clock.install();
  const undo = page.locator('.toast').getByRole('button', { name: 'Undo' });
  const remove = () => openFrom(page, 'Remove Scales', () => undo.waitFor(), 'Add tool');
  await remove();
  await undo.focus();
  await page.clock.fastForward('01:00');
  await openFrom(page, 'Undo', () => page.getByRole('button', { name: 'Remove Scales' }).waitFor(), 'Add tool');
  await remove();
  await undo.focus();
  await page.getByRole('button', { name: 'Add tool' }).focus();
  await page.clock.fastForward('01:00');
  await undo.waitFor({ state: 'hidden' });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the form of a new file gives the focus back, however it is left', async () => {
  const { node: beside } = await (await NodeFolders.in(site.workspace)).make();
  const { context, page, faults } = await site.visit(`/graph?node=${beside.id}`);
  await page.getByRole('tab', { name: 'Files' }).click();
  const name = page.getByRole('textbox', { name: 'Name of the file' });
  await openFrom(page, 'New file', () => name.press('Escape'));
  await openFrom(page, 'New file', async () => {
    await name.fill('plan.md');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'plan.md' }).waitFor();
  });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('forms and questions of the settings give the focus back', async () => {
  const { context, page, faults } = await site.visit('/settings');
  const leave = (field: string) => page.getByRole('textbox', { name: field, exact: true }).first().press('Escape');
  await openFrom(page, 'Add a person', () => leave('Name'));
  await openFrom(page, 'New token', () => page.getByRole('button', { name: 'Cancel', exact: true }).press('Enter'));
  await openFrom(page, 'Replace', () => page.getByRole('alertdialog').getByRole('button').last().press('Escape'));
  expect(faults.list).toEqual([]);
  await context.close();
});
