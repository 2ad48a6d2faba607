import { createNode, createToken, createUser, type Node } from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { heading, Site } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let open: Node;
let hidden: Node;
let otherToken: string;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  const { id } = await site.organization();
  const make = (name: string, visibility: 'everyone' | 'private') =>
    workspace.call(createNode, { type: 'project', name, organization_id: id, visibility });
  [open, hidden] = [await make('Open vault', 'everyone'), await make('Zircon vault', 'private')];
  const other = await workspace.call(createUser, { name: 'Ruda' });
  const made = await workspace.call(createToken, { user_id: other.id, label: 'page', scope: 'write' });
  otherToken = made.secret;
});
afterAll(() => site?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const title = (page: Page, { name }: Node) => page.getByRole('heading', { level: 2, name, exact: true });
const account = (page: Page) => button(page, 'Your account');

async function signOut(page: Page): Promise<void> {
  await account(page).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await heading(page, 'Sign in');
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await account(page).waitFor();
}

/** The events of the open node, as whoever signed in finds them. */
async function events(page: Page): Promise<void> {
  await page.goto(`${workspace.url}/app/graph?node=${open.id}`);
  await title(page, open).waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  await button(page, 'Log event').first().waitFor();
}

it('who signs in after somebody else sees nothing of that person in any tab', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${hidden.id}`);
  faults.allow(/^40[14] /);
  await title(page, hidden).waitFor();
  const second = await context.newPage();
  await second.goto(`${workspace.url}/app/graph`);
  await signOut(second);
  await heading(page, 'Sign in');
  // What this tab shows from now on, however shortly.
  await page.evaluate(`
    globalThis.shown = [];
    new MutationObserver(() => globalThis.shown.push(document.body.innerText))
      .observe(document.body, { childList: true, subtree: true, characterData: true });
    addEventListener('pagehide', () => localStorage.setItem('test:shown', globalThis.shown.join('\\n')));`);
  await signIn(second, otherToken);
  await page.getByText('This node is not here.').waitFor();
  const shown = await page.evaluate<string>(`localStorage.getItem('test:shown') ?? globalThis.shown.join('\\n')`);
  expect(shown).not.toContain(hidden.name);
  await context.close();
});

it('a sign-in over that of somebody else begins every tab anew', async () => {
  const { context, page, faults } = await site.visit(`/graph?node=${hidden.id}`);
  faults.allow(/^40[14] /);
  await title(page, hidden).waitFor();
  const second = await context.newPage();
  await second.goto(`${workspace.url}/app/graph`);
  await account(second).waitFor();
  await second.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json' };
    await fetch('/app/sign-in', { method: 'POST', headers, body: ${JSON.stringify(JSON.stringify({ token: otherToken }))} });
    localStorage.setItem('svc:signed-in', new Date().toISOString());
  })()`);
  await page.getByText('This node is not here.').waitFor();
  expect(await title(page, hidden).count()).toBe(0);
  await context.close();
});

it('what is written stays for whoever wrote it, and is shown to nobody else', async () => {
  const { context, page, faults } = await site.visit('/graph');
  faults.allow(/^401 /);
  const text = 'The lock was changed';
  const written = page.getByRole('textbox', { name: 'What happened or was decided' });
  await events(page);
  await button(page, 'Log event').click();
  await written.fill(text);
  await signOut(page);
  await signIn(page, site.folder.token);
  await events(page);
  expect(await written.inputValue()).toBe(text);
  await signOut(page);
  await signIn(page, otherToken);
  await events(page);
  expect(await written.count()).toBe(0);
  await button(page, 'Log event').click();
  expect(await written.inputValue()).toBe('');
  await context.close();
});
