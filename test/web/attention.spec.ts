import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  answerQuestion,
  createNode,
  createToken,
  createUser,
  explainAccess,
  getSession,
  getSessionScope,
  listAccessRequests,
  listSessions,
  logEvent,
  type Node,
  requestAccess,
} from '@workspace-graph/contracts';
import type { Locator, Page } from 'playwright-core';
import { RestClient } from '../central/rest-client.js';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { ScriptedRun } from './scripted-run.js';
import { expectAccessible, Site, say, undo, until } from './site.js';

/** Nothing of it may be taken for markup. */
const ODD = '<b>“May I?”</b> \u202eread & write';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
const agents: Client[] = [];
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
});
afterAll(async () => {
  for (const agent of agents) await agent.close();
  await site?.[Symbol.asyncDispose]();
});

let count = 0;
/** A node that nothing but its organization is joined to, or nothing at all. */
const make = (name: string, more: object = {}): Promise<Node> =>
  workspace.call(createNode, {
    type: 'project',
    name: `${name} ${++count}`,
    organization_id: organization.id,
    ...more,
  });
const island = (name: string): Promise<Node> =>
  workspace.call(createNode, { type: 'organization', name: `${name} ${++count}` });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

interface Person {
  readonly id: string;
  readonly token: string;
}

async function person(name: string, scope: 'read' | 'write' = 'write'): Promise<Person> {
  const { id } = await workspace.call(createUser, { name });
  return { id, token: (await workspace.call(createToken, { user_id: id, label: 'spec', scope })).secret };
}

/** An agent at work on a node, and its session. */
async function agentOn(home: Node, token = site.folder.token): Promise<{ id: string; expand: Expand }> {
  const agent = new Client({ name: 'spec', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const url = new URL(`${workspace.url}/mcp?home_node_id=${home.id}`);
  await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  agents.push(agent);
  await agent.callTool({ name: 'svc_session_init', arguments: {} });
  const { items } = await new RestClient(workspace.url, token).call(listSessions, { own: true });
  const session = items.find(({ node }) => node?.id === home.id);
  if (!session) throw new Error('The agent has no session');
  const expand: Expand = async (node, access) => {
    const given = { node_ids: [node.id], access, reason: 'to compare' };
    await agent.callTool({ name: 'svc_expand_scope', arguments: given });
  };
  return { id: session.id, expand };
}
type Expand = (node: Node, access: 'read' | 'write') => Promise<void>;

async function ask(sessionId: string, questions: readonly object[]): Promise<void> {
  await using run = await ScriptedRun.of(site);
  await run.ask({ id: sessionId }, questions);
}

const APPROVAL = {
  type: 'approval',
  title: ODD,
  options: [
    { id: 'yes', label: 'Once', role: 'allow_once' },
    { id: 'no', label: 'Never', role: 'reject_always' },
  ],
};
const INPUT = { type: 'input', title: 'Which year?', text: 'The report has two.' };

/** What the page asks of the workspace from now on. */
function asked(page: Page): string[] {
  const list: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/app/')) list.push(`${request.method()} ${pathname}`);
  });
  return list;
}

it('what was logged alike on several nodes is one line of the activity, with the others behind it; a whole day has no time', async () => {
  const nodes = [await make('Alike'), await make('Alike'), await make('Alike')];
  const alike = { kind: 'milestone', content: 'Version 1 is out', occurred_at: '2026-03-02' } as const;
  for (const { id } of nodes) await workspace.call(logEvent, { node_id: id, ...alike });
  await workspace.call(logEvent, {
    node_id: (await make('Other')).id,
    kind: 'note',
    content: 'Alone',
    occurred_at: '2026-03-02T10:30:00Z',
  });
  const { context, page, faults } = await site.visit('/overview');
  const activity = card(page, 'Recent activity');
  const line = activity.getByRole('listitem').filter({ hasText: 'Version 1 is out' });
  await line.waitFor();
  expect(await line.count()).toBe(1);
  const momentOf = (row: Locator) => row.locator('time').evaluate((one) => [one.textContent, one.title]);
  expect(await momentOf(line)).toEqual(['', expect.not.stringContaining(':')]);
  const alone = activity.getByRole('listitem').filter({ hasText: 'Alone' });
  expect(await momentOf(alone)).toEqual([expect.stringMatching(/^\d+:30/), expect.stringMatching(/\d:30/)]);
  const day = activity.getByRole('heading', { level: 3, name: /^(Monday, March 2|Pondělí 2\. března)/ });
  expect(await day.count()).toBe(1);
  expect(
    await activity
      .locator('h3 + ul', { has: page.getByText('Alone') })
      .getByRole('listitem')
      .count(),
  ).toBe(2);
  await expectAccessible(page);
  const more = line.getByRole('button', { name: 'and 2 more' });
  await more.click();
  expect(await more.getAttribute('aria-expanded')).toBe('true');
  const names = await line.getByRole('link').allTextContents();
  // The type is told before the name.
  expect(names.toSorted()).toEqual(nodes.map(({ name }) => say('Project') + name).toSorted());
  await expectAccessible(page);
  await line.getByRole('link').last().click();
  const tab = page.getByRole('tab', { name: 'Events' });
  await tab.waitFor();
  expect(await tab.textContent()).toBe(`${say('Events')} 1`);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('questions of agents are read and answered in place, once, and their row changes without another overview', async () => {
  const { id } = await agentOn(await make('Report'));
  await ask(id, [APPROVAL, INPUT]);
  const { context, page, faults } = await site.visit('/overview');
  const sessions = card(page, 'Sessions');
  await sessions.getByText(ODD).waitFor();
  expect(await faults.shift()).toBeLessThan(0.05);
  const requests = asked(page);
  await sessions.getByText('Waiting for me').waitFor();
  await page.getByText('The report has two.').waitFor();
  await button(page, 'Once').dblclick();
  await sessions.getByText(ODD).waitFor({ state: 'hidden' });
  await page.getByRole('textbox', { name: 'Your answer' }).fill('2026 & <2027>');
  await page.keyboard.press('Enter');
  await sessions.getByText('Waiting for me').waitFor({ state: 'hidden' });
  await sessions.getByText('Running').waitFor();
  expect(await workspace.call(getSession, { session_id: id })).toMatchObject({
    open_questions: [],
    waiting_since: null,
  });
  // How many wait is news for the rail; nothing else is asked for.
  expect(requests.filter((one) => one !== 'GET /sessions')).toEqual([
    `POST /sessions/${id}/questions/q0`,
    `POST /sessions/${id}/questions/q1`,
  ]);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a question that was answered elsewhere says so where it stands', async () => {
  const { id } = await agentOn(await make('Late'));
  await ask(id, [APPROVAL]);
  const { context, page, faults } = await site.visit('/overview');
  faults.allow(/^409 .*\/questions\//);
  await button(page, 'Never').waitFor();
  const answer = { option_id: 'yes' };
  await workspace.fetch(`/sessions/${id}/questions/q0`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ decision: answer }),
  });
  await button(page, 'Never').click();
  await page.getByRole('alert').getByText('CONFLICT').waitFor();
  await button(page, 'Refresh').click();
  await button(page, 'Never').waitFor({ state: 'hidden' });
  await context.close();
});

it('keys answer the question that shows numbers: once however long they are held, and never the next one', async () => {
  const { id } = await agentOn(await make('By keys'));
  await ask(id, [APPROVAL, { ...APPROVAL, title: 'And this?' }, INPUT]);
  const { context, page, faults } = await site.visit('/overview');
  const requests = asked(page);
  const answers = () => requests.filter((one) => one.startsWith('POST'));
  const numbers = page.locator('.ask .nth:not(.off)');
  const next = page.getByRole('region', { name: 'Question' }).filter({ hasText: 'And this?' });
  await page.getByText(ODD).waitFor();
  await numbers.first().waitFor();
  expect(await numbers.allTextContents()).toEqual(['1', '2']);
  // Where no number is, the answer has no empty place on one side.
  const inMiddle = `[...document.querySelectorAll('.ask .btn:has(.nth.off)')].map((one) => {
    const [outer, inner] = [one, one.querySelector('.answer')].map((part) => part.getBoundingClientRect());
    return Math.abs(outer.left + outer.right - inner.left - inner.right) < 2;
  })`;
  expect(await page.evaluate(inMiddle)).toEqual([true, true]);
  await expectAccessible(page);
  // Pressed again while it is down, as a key that is held.
  for (let times = 0; times < 5; times++) await page.keyboard.down('1');
  await page.getByText(ODD).waitFor({ state: 'hidden' });
  await next.locator('.nth:not(.off)').first().waitFor();
  await page.keyboard.down('1');
  await page.keyboard.up('1');
  expect(await next.getByRole('button', { name: 'Never' }).getAttribute('aria-keyshortcuts')).toBe('2');
  const field = page.getByRole('textbox', { name: 'Your answer' });
  await field.fill('20');
  await field.press('2');
  expect(await field.inputValue()).toBe('202');
  expect(answers()).toEqual([`POST /sessions/${id}/questions/q0`]);
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('7');
  // The key of the 2 as a Czech keyboard sends it.
  await page.evaluate(
    `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ě', code: 'Digit2', bubbles: true }))`,
  );
  await next.waitFor({ state: 'hidden' });
  expect(answers()).toEqual([`POST /sessions/${id}/questions/q0`, `POST /sessions/${id}/questions/q1`]);
  const { open_questions } = await workspace.call(getSession, { session_id: id });
  expect(open_questions.map(({ title }) => title)).toEqual([INPUT.title]);
  expect(faults.list).toEqual([]);
  await context.close();
});

it("the rail shows how many of one's own sessions wait, also when they are answered elsewhere", async () => {
  const { token } = await person('Waiter');
  const waiter = new RestClient(workspace.url, token);
  const ids = [(await agentOn(await make('One'), token)).id, (await agentOn(await make('Two'), token)).id];
  for (const id of ids) await ask(id, [APPROVAL]);
  const answer = (session_id = '') =>
    waiter.call(answerQuestion, { session_id, request_id: 'q0', decision: { option_id: 'yes' } });
  const { context, page, faults } = await site.visit('/overview', { token });
  const badge = page.locator('.rail-badge');
  await badge.getByText('2').waitFor();
  const described = page.getByRole('link', { name: 'Workspace', exact: true });
  const text = page.locator(`[id="${await described.getAttribute('aria-describedby')}"]`);
  expect(await text.textContent()).toBe(say('2 sessions wait for you'));
  await expectAccessible(page);
  await answer(ids[0]);
  await badge.getByText('1').waitFor();
  await page.goto(`${workspace.url}/app/settings`);
  await badge.getByText('1').waitFor();
  await answer(ids[1]);
  await badge.waitFor({ state: 'detached' });
  expect(faults.list).toEqual([]);
  await context.close();
});

describe('a request for access', () => {
  const states = async () => {
    const { items } = await workspace.call(listAccessRequests, { mine: false });
    return items.map(({ state, decision_note }) => [state, decision_note]);
  };

  it('shows what it would open before it is allowed, or is declined with a word', async () => {
    const [secret, other] = [
      await make('Vault', { visibility: 'private' }),
      await make('Safe', { visibility: 'private' }),
    ];
    const { id: user_id, token } = await person('Palna <Barun>');
    const palna = new RestClient(workspace.url, token);
    await palna.call(requestAccess, { node_id: secret.id, reason: 'To audit it' });
    await palna.call(requestAccess, { node_id: other.id, access: 'write' });
    const { context, page, faults } = await site.visit('/overview');
    const requests = asked(page);
    const names = `Palna <Barun> access to ${secret.name}`;
    await page.getByText('To audit it').waitFor();
    await button(page, `Allow ${names}`).click();
    const question = page.getByRole('alertdialog', { name: `Let Palna <Barun> read ${secret.name}?` });
    await question.getByText('1 person gains access: Palna <Barun>').waitFor();
    await question.getByText(`1 node: ${secret.name}`).waitFor();
    await question.getByRole('button', { name: 'Back' }).click();
    const level = async () => (await workspace.call(explainAccess, { node_id: secret.id, user_id })).level;
    expect(await level()).toBe('none');
    await button(page, `Allow ${names}`).click();
    await question.getByRole('button', { name: 'Allow' }).click();
    await page.getByText(`Palna <Barun> may read ${secret.name} now.`).waitFor();
    expect(await level()).toBe('read');
    await button(page, `Decline access of Palna <Barun> to ${other.name}`).click();
    await page.getByRole('textbox', { name: 'Why not? (optional)' }).fill('Read it first.');
    await page.keyboard.press('Enter');
    await page.getByText(`Palna <Barun> was declined access to ${other.name}.`).waitFor();
    expect(await states()).toEqual([
      ['refused', 'Read it first.'],
      ['approved', null],
    ]);
    expect(await card(page, 'Needs attention').getByText('asks for access').count()).toBe(0);
    expect(requests.filter((one) => one === 'GET /overview')).toEqual([]);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it("of one's own stands there without the name of the node, and is withdrawn and made again", async () => {
    const secret = await make('Unnamed', { visibility: 'private' });
    const { token } = await person('Asker');
    const asker = new RestClient(workspace.url, token);
    await asker.call(requestAccess, { node_id: secret.id, reason: 'For the summary' });
    const pending = async () => (await asker.call(listAccessRequests, { state: 'pending' })).items;
    const { context, page, faults } = await site.visit('/overview', { token });
    await page.getByText('For the summary').waitFor();
    expect(await page.content()).not.toContain(secret.name);
    await button(page, 'Withdraw').click();
    await page.getByText('For the summary').waitFor({ state: 'hidden' });
    expect(await pending()).toEqual([]);
    await undo(page, 'Your request is withdrawn');
    await page.getByText('For the summary').waitFor();
    expect(await pending()).toMatchObject([{ node_id: secret.id, reason: 'For the summary' }]);
    expect(faults.list).toEqual([]);
    await context.close();
  });
});

it('what agents reached by search alone is accepted or rejected in place; the owner takes a rejection back, others are asked first', async () => {
  const [kept, lost, far] = [await island('Kept'), await island('Lost'), await island('Far')];
  const own = await agentOn(await make('Own'));
  await own.expand(kept, 'read');
  await own.expand(lost, 'write');
  const { token } = await person('Olga');
  const theirs = await agentOn(await make('Theirs'), token);
  await theirs.expand(far, 'read');
  const held = async (id: string) => {
    const { items } = await workspace.call(getSessionScope, { session_id: id });
    const seen = items.filter(({ review }) => review !== 'rejected');
    return seen.map(({ node }) => node.id);
  };
  const { context, page, faults } = await site.visit('/overview');
  const named = (what: string, node: Node) => page.getByRole('button', { name: `${what} ${node.name} in` });
  await named('Accept', kept).click();
  await named('Accept', kept).waitFor({ state: 'hidden' });
  await named('Reject', lost).click();
  await named('Reject', lost).waitFor({ state: 'hidden' });
  expect(await held(own.id)).toContain(kept.id);
  expect(await held(own.id)).not.toContain(lost.id);
  await undo(page, 'has lost');
  await until('it is back', async () => (await held(own.id)).includes(lost.id));
  await named('Reject', far).click();
  const question = page.getByRole('alertdialog', { name: `Take ${far.name} away` });
  await question.getByText('they alone can bring the node back').waitFor();
  expect(await held(theirs.id)).toContain(far.id);
  await question.getByRole('button', { name: 'Reject' }).click();
  await until('it is lost', async () => !(await held(theirs.id)).includes(far.id));
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each([
  ['en', 'light', 1440],
  ['cs', 'dark', 1024],
] as const)('what is asked and what is confirmed is accessible: %s, %s, %i px', async (language, theme, width) => {
  const { id, expand } = await agentOn(await make('Looked at'));
  await ask(id, [APPROVAL, INPUT]);
  await expand(await island('Found'), 'read');
  const secret = await make('Closed', { visibility: 'private' });
  const { token } = await person(`Vera ${language}`);
  await new RestClient(workspace.url, token).call(requestAccess, { node_id: secret.id, reason: 'x'.repeat(400) });
  const { context, page, faults } = await site.visit('/overview', { language, theme, width });
  await page.getByText(ODD).first().waitFor();
  const words = {
    en: ['Allow Vera', 'Decline access of Vera'],
    cs: ['Povolit přístup: Vera', 'Odmítnout přístup: Vera'],
  };
  const [allow = '', decline = ''] = words[language];
  await page.getByRole('button', { name: allow }).first().click();
  await page.getByRole('alertdialog').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: decline }).first().click();
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  expect(faults.list).toEqual([]);
  await context.close();
});
