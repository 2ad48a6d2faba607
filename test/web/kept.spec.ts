import {
  addResponsibility,
  createActor,
  createGroup,
  createNode,
  getNode,
  getSession,
  listActors,
  type Node,
  updateActor,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { Agent } from './agent.js';
import { NodeFolders } from './node-folders.js';
import { ScriptedRun } from './scripted-run.js';
import { Site, say, undo, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let folders: NodeFolders;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  folders = await NodeFolders.in(workspace);
});
afterAll(() => site?.[Symbol.asyncDispose]());

const make = (name: string): Promise<Node> =>
  workspace.call(createNode, { type: 'area', name, organization_id: folders.organization.id });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

describe('a short text that is written', () => {
  it.each([
    ['Add data source', 'Name'],
    ['Add tool', 'Address (optional)'],
    ['Add responsibility', 'What is answered for'],
  ])('(%s) outlives Escape and another tab until it has been sent', async (add, name) => {
    const node = await make(`Kept ${name}`);
    const { context, page } = await site.visit(`/graph?node=${node.id}`);
    const text = 'https://example.org/accounts';
    await button(page, add).click();
    await field(page, name).fill(text);
    await page.keyboard.press('Escape');
    await field(page, name).waitFor({ state: 'hidden' });
    await button(page, add).click();
    expect(await field(page, name).inputValue()).toBe(text);
    await tab(page, 'Events');
    await tab(page, 'Detail');
    await button(page, add).click();
    expect(await field(page, name).inputValue()).toBe(text);
    await page.getByRole('textbox').first().fill(text);
    await page.keyboard.press('Enter');
    await field(page, name).waitFor({ state: 'hidden' });
    await button(page, add).click();
    expect(await field(page, name).inputValue()).toBe('');
    const { data_sources, tools, responsibilities } = await workspace.call(getNode, { node_id: node.id });
    expect([data_sources, tools, responsibilities].flat()).toHaveLength(1);
    await context.close();
  });

  it('(New node) outlives Escape until it has been sent', async () => {
    const { context, page } = await site.visit(`/graph?node=${folders.organization.id}`);
    const open = async () => {
      await page.keyboard.press('Control+k');
      await page.locator('[role=combobox]:focus').fill(say('New node'));
      await page.getByRole('option', { name: 'New node' }).click();
      return page.getByRole('dialog', { name: 'New node' });
    };
    const name = (await open()).getByLabel('Name');
    await name.fill('Half of a na');
    await page.keyboard.press('Escape');
    await name.waitFor({ state: 'hidden' });
    await open();
    expect(await name.inputValue()).toBe('Half of a na');
    await name.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Half of a na' }).waitFor();
    await open();
    expect(await name.inputValue()).toBe('');
    await context.close();
  });
});

it('the name of a new file outlives Escape and another tab until it has been sent', async () => {
  const { node } = await folders.make();
  const { context, page } = await site.visit(`/graph?node=${node.id}`);
  const name = field(page, 'Name of the file');
  const open = async () => {
    await tab(page, 'Files');
    await button(page, 'New file').click();
    await name.waitFor();
  };
  await open();
  await name.fill('notes/pla');
  await page.keyboard.press('Escape');
  await name.waitFor({ state: 'hidden' });
  await tab(page, 'Detail');
  await open();
  expect(await name.inputValue()).toBe('notes/pla');
  await name.fill('notes/plan.md');
  await name.press('Enter');
  await page.getByRole('link', { name: 'plan.md' }).waitFor();
  await open();
  expect(await name.inputValue()).toBe('');
  await context.close();
});

describe('what is written in the settings', () => {
  it.each([
    ['users', 'Add a person', 'Name', 'Add'],
    ['groups', 'Add a group', 'Name', 'Add'],
    ['actors', 'Add an actor', 'Name', 'Add'],
    ['tokens', 'New token', 'What it is for', 'Create'],
  ])('(%s) outlives Escape, other views and no answer until it has been sent', async (what, add, name, submit) => {
    const { context, page, faults } = await site.visit('/settings');
    faults.allow(/net::/);
    const text = `Half of ${what}`;
    const open = async () => {
      await button(page, add).click();
      await field(page, name).waitFor();
    };
    await open();
    await field(page, name).fill(text);
    await page.keyboard.press('Escape');
    await page.reload();
    await open();
    expect(await field(page, name).inputValue()).toBe(text);
    await page.route(`**/${what}`, (route) => route.abort('connectionreset'));
    await button(page, submit).click();
    await page.getByText('The workspace does not answer. Is it running?').waitFor();
    await page.unroute(`**/${what}`);
    await page.reload();
    await open();
    expect(await field(page, name).inputValue()).toBe(text);
    await button(page, submit).click();
    await field(page, name).waitFor({ state: 'hidden' });
    await page.reload();
    await open();
    expect(await field(page, name).inputValue()).toBe('');
    await context.close();
  });

  it('replaces nothing unseen that somebody else has written into the record since', async () => {
    const { id: actor_id } = await workspace.call(createActor, { type: 'person', name: 'Watchers' });
    const { context, page } = await site.visit('/settings');
    const name = field(page, 'Name');
    const open = async (shown: string) => {
      await page.locator('.dir-row', { hasText: shown }).click();
      await name.waitFor();
    };
    await open('Watchers');
    await name.fill('Watchers of the watch');
    const stored = async () =>
      (await workspace.call(listActors, { query: 'watch' })).items.map(({ name: shown }) => shown);
    await workspace.call(updateActor, { actor_id, name: 'Night watch' });
    await page.reload();
    await open('Night watch');
    expect(await name.inputValue()).toBe('Watchers of the watch');
    await name.press('Enter');
    expect(await stored()).toEqual(['Night watch']);
    await button(page, 'Keep mine').click();
    await button(page, 'Save').click();
    await page.locator('.dir-row', { hasText: 'Watchers of the watch' }).waitFor();
    expect(await stored()).toEqual(['Watchers of the watch']);
    await name.fill('Nobody');
    await workspace.call(updateActor, { actor_id, name: 'Day watch' });
    await page.reload();
    await open('Day watch');
    await button(page, 'Take theirs').click();
    expect(await name.inputValue()).toBe('Day watch');
    await context.close();
  });

  it('and changes a record outlives other views, and what is left comes back with its note', async () => {
    await workspace.call(createGroup, { name: 'Keepers' });
    const { context, page } = await site.visit('/settings');
    const name = field(page, 'Name');
    const row = page.locator('.dir-row', { hasText: 'Keepers' });
    await row.click();
    await name.fill('Keepers of the k');
    await page.reload();
    await row.click();
    expect(await name.inputValue()).toBe('Keepers of the k');
    await name.press('Escape');
    expect(await name.inputValue()).toBe('Keepers');
    await undo(page, say('What you wrote is discarded.'));
    expect(await name.inputValue()).toBe('Keepers of the k');
    await context.close();
  });
});

it('an answer to an agent outlives other views until it has been sent', async () => {
  const node = await make('Asked');
  await using agent = await Agent.connect(workspace, site.folder.token, node.id);
  await using run = await ScriptedRun.of(site);
  await run.ask(agent.session, [{ type: 'input', title: 'Which year?' }]);
  const { context, page } = await site.visit('/overview');
  const answer = field(page, 'Your answer');
  await answer.fill('The one that beg');
  await page.getByRole('link', { name: 'Graph', exact: true }).click();
  await answer.waitFor({ state: 'hidden' });
  await page.goBack();
  await answer.waitFor();
  expect(await answer.inputValue()).toBe('The one that beg');
  await answer.fill('The one that began in May');
  await answer.press('Enter');
  await answer.waitFor({ state: 'hidden' });
  const { open_questions } = await workspace.call(getSession, { session_id: agent.session.id });
  expect(open_questions).toEqual([]);
  await context.close();
});

it('what is written of a responsibility outlives another tab until it has been sent, or is left', async () => {
  const node = await make('Of duties');
  await workspace.call(addResponsibility, { node_id: node.id, title: 'Ovens', description: 'Heat.' });
  const { context, page } = await site.visit(`/graph?node=${node.id}`);
  const duties = page.getByRole('region', { name: 'Responsibilities' });
  const description = duties.getByRole('textbox').nth(1);
  await button(page, 'Ovens').click();
  await description.fill('Heat and cle');
  await tab(page, 'Events');
  await tab(page, 'Detail');
  await button(page, 'Ovens').click();
  expect(await description.inputValue()).toBe('Heat and cle');
  await button(page, 'Cancel').click();
  expect(await description.inputValue()).toBe('Heat.');
  await undo(page, say('What you wrote is discarded.'));
  expect(await description.inputValue()).toBe('Heat and cle');
  await description.fill('Heat and clean.');
  await button(page, 'Save').click();
  await description.waitFor({ state: 'hidden' });
  await button(page, 'Ovens').click();
  expect(await description.inputValue()).toBe('Heat and clean.');
  expect(await button(page, 'Save').count()).toBe(0);
  await context.close();
});

it('a new file without a name is asked for one, and what was written stays', async () => {
  const { node } = await folders.make();
  const { context, page } = await site.visit(`/graph?node=${node.id}`);
  await tab(page, 'Files');
  await button(page, 'New file').click();
  const name = field(page, 'Name of the file');
  await name.press('Enter');
  await page.getByRole('alert').getByText('The name of the file is missing').waitFor();
  await name.fill('notes/');
  await name.press('Enter');
  await page.getByRole('alert').getByText('The name of the file is missing').waitFor();
  expect(await name.inputValue()).toBe('notes/');
  await name.fill('notes/plan.md');
  await name.press('Enter');
  await page.getByRole('link', { name: 'plan.md' }).waitFor();
  await name.waitFor({ state: 'hidden' });
  await context.close();
});

it('an address that can be of no node says that it is not here, and asks for nothing', async () => {
  const { context, page, faults } = await site.visit('/graph?node=%00');
  faults.allow(/^400 /);
  await page.getByText('This node is not here.').waitFor();
  await page.getByText('Its address may be mistyped or cut short.').waitFor();
  expect(await button(page, 'Ask for access').count()).toBe(0);
  await button(page, 'Close').click();
  await until('it is left', async () => !new URL(page.url()).searchParams.has('node'));
  await context.close();
});
