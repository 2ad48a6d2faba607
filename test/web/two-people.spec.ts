import {
  connect,
  createMirror,
  createNode,
  createToken,
  createUser,
  type Node,
  setAccess,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { heading, Site, until, type Visit } from './site.js';

/** What only one of the two may know, each in something else of the node, by its word that stands nowhere else. */
const SECRETS = {
  name: 'Zircon vault',
  renamed: 'Zirconium strongroom',
  description: 'Opal under the floor',
  event: 'Beryl was moved at night',
  file: 'garnet-inventory.md',
  duty: 'Guarding the topaz',
} as const;
const WORDS = ['zircon', 'opal', 'beryl', 'garnet', 'topaz'];

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const make = (name: string, more: object = {}): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name, organization_id: organization.id, ...more });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Runs in the page, before anything of it: what each request is answered with is told, whatever becomes of the page. */
const TELL = `
  globalThis.arriving = [];
  const plain = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    const answer = await plain(...given);
    const told = answer.clone().text().then((text) => globalThis.arrived(answer.url + ' ' + text), () => undefined);
    globalThis.arriving.push(told);
    return answer;
  };`;

/** Everything that reaches a page from its next document on: answers and their headers, and frames of the live channel. */
class Arrivals {
  private readonly list: string[] = [];
  frameCount = 0;

  private constructor(private readonly page: Page) {
    page.on('response', (answer) => this.list.push(JSON.stringify([answer.url(), answer.headers()])));
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        this.frameCount++;
        this.list.push(String(payload));
      }),
    );
  }

  static async at(page: Page): Promise<Arrivals> {
    const arrivals = new Arrivals(page);
    await page.exposeFunction('arrived', (text: string) => void arrivals.list.push(text));
    await page.addInitScript(TELL);
    return arrivals;
  }

  /** All of it, with what has begun to arrive. */
  async text(): Promise<string> {
    await this.page.evaluate('Promise.all(globalThis.arriving)');
    return this.list.join('\n');
  }
}

/** A page of somebody with a credential, and what arrives there. */
async function arrive(token?: string): Promise<Visit & { readonly arrivals: Arrivals }> {
  const visit = await site.visit('/settings', token === undefined ? {} : { token });
  const arrivals = await Arrivals.at(visit.page);
  await visit.page.goto(`${workspace.url}/app/graph`);
  await heading(visit.page, 'Graph');
  return { ...visit, arrivals };
}

async function show(page: Page, { id, name }: Node): Promise<void> {
  await page.goto(`${workspace.url}/app/graph?node=${id}`);
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
}

async function rename(page: Page, name: string): Promise<void> {
  await button(page, 'Edit: Name').click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
}

/** Changes every part of the node that is open. */
async function workOn(page: Page): Promise<void> {
  await button(page, 'Edit: Description').click();
  await page.getByRole('textbox', { name: 'Description' }).fill(SECRETS.description);
  await button(page, 'Save').click();
  await page.getByText(SECRETS.description).waitFor();
  await button(page, 'Add responsibility').click();
  await page.getByRole('textbox', { name: 'What is answered for' }).fill(SECRETS.duty);
  await page.keyboard.press('Enter');
  await page.getByText(SECRETS.duty).waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  await button(page, 'Log event').click();
  await page.getByRole('textbox', { name: 'What happened or was decided' }).fill(SECRETS.event);
  await page.keyboard.press('Control+Enter');
  // The form has the same text until its answer is there.
  await page.locator('p', { hasText: SECRETS.event }).waitFor();
  await page.getByRole('tab', { name: 'Files' }).click();
  await button(page, 'New file').click();
  await page.getByLabel('Name of the file').fill(SECRETS.file);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: SECRETS.file }).waitFor();
  await page.getByRole('tab', { name: 'Detail' }).click();
  await rename(page, SECRETS.renamed);
}

/** The words of the secrets that are in a text. */
const leaked = (text: string): string[] => WORDS.filter((word) => text.toLowerCase().includes(word));

it('nothing of a hidden node arrives at whoever may not see it, whatever the other one does with it', async () => {
  const [hidden, open] = [await make(SECRETS.name, { visibility: 'private' }), await make('Open vault')];
  await workspace.call(createMirror, { node_id: hidden.id });
  await workspace.call(createMirror, { node_id: open.id });
  await workspace.call(connect, { source_id: hidden.id, target_id: open.id, relation: 'related_to' });
  const { id } = await workspace.call(createUser, { name: 'Ruda' });
  const { secret } = await workspace.call(createToken, { user_id: id, label: 'page', scope: 'write' });
  const [ada, ruda] = [await arrive(), await arrive(secret)];
  await show(ruda.page, open);
  await show(ada.page, hidden);
  await workOn(ada.page);
  // What is told of later shows that what came before has been told, or not.
  await show(ada.page, open);
  await rename(ada.page, 'Open vault, painted');
  await ruda.page.getByRole('heading', { level: 2, name: 'Open vault, painted' }).waitFor();
  await lookAround(ruda.page);

  const text = await ruda.arrivals.text();
  expect([leaked(text), text.includes(hidden.id)]).toEqual([[], false]);
  expect(text).toContain('Open vault, painted');
  expect(ruda.arrivals.frameCount).toBeGreaterThan(1);
  expect(ruda.faults.list).toEqual([]);
  // The same at the other one: it would have been found.
  expect(leaked(await ada.arrivals.text())).toEqual(WORDS);
  for (const { context } of [ada, ruda]) await context.close();
});

/** Everywhere that something of a node could stand. */
async function lookAround(page: Page): Promise<void> {
  for (const part of ['Files', 'Events', 'Sessions', 'Detail']) await page.getByRole('tab', { name: part }).click();
  await page.keyboard.press('l');
  await page.getByRole('listbox', { name: 'Nodes of the graph' }).getByRole('option').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find or do' }).fill('vault');
  await page
    .getByRole('listbox', { name: 'Found' })
    .getByRole('option', { name: /Open vault, painted/ })
    .waitFor();
  await page.keyboard.press('Escape');
  for (const view of ['Overview', 'Settings', 'Workspace', 'Sync', 'Graph', 'Overview']) {
    await page.getByRole('link', { name: view, exact: true }).click();
    await heading(page, view);
  }
  const answered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/overview' && answer.ok());
  await button(page, 'Refresh').click();
  await answered;
}

it('what is hidden while somebody looks at it arrives no more, and comes back when it is shown to them', async () => {
  const [node, other] = [await make('Quay'), await make('Pier')];
  await workspace.call(createMirror, { node_id: node.id });
  const { id } = await workspace.call(createUser, { name: 'Rita' });
  const { secret } = await workspace.call(createToken, { user_id: id, label: 'page', scope: 'write' });
  const [ada, rita] = [await arrive(), await arrive(secret)];
  rita.faults.allow(/^404 .*\/nodes\//);
  await show(rita.page, node);
  await show(ada.page, node);
  await ada.page.getByRole('region', { name: 'Sharing' }).getByText('Private', { exact: true }).click();
  await rita.page.getByText('This node is not here.').waitFor();
  await workOn(ada.page);
  await show(ada.page, other);
  await rename(ada.page, 'Pier, mended');
  await until('she is told of the pier', async () => (await rita.arrivals.text()).includes('Pier, mended'));
  expect(leaked(await rita.arrivals.text())).toEqual([]);
  await workspace.call(setAccess, { node_id: node.id, visibility: 'everyone', confirmed: true });
  await rita.page.getByRole('heading', { level: 2, name: SECRETS.renamed }).waitFor();
  expect(leaked(await rita.arrivals.text())).toContain('zircon');
  for (const { context } of [ada, rita]) await context.close();
});
