import { createNode, createToken, createUser } from '@workspace-graph/contracts';
import { RestClient } from '../central/rest-client.js';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { expectAccessible, heading, LOOKS, Site, say, TITLES } from './site.js';

const NOT_FOUND = { en: 'Not found', cs: 'Nenalezeno' };
const VIEWS = ['overview', 'graph', 'workspace', 'sync', 'settings'] as const;

let workspace: RunningWorkspace;
let site: Site;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  await site.folder.svc(['demo']);
});
afterAll(() => site?.[Symbol.asyncDispose]());

describe('a link', () => {
  it('opens the overview, signed in, with one request for it; no script can read the credential', async () => {
    const { context, page, faults } = await site.open();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/app/')) asked.push(`${request.method()} ${pathname}`);
    });
    await page.goto(await site.link());
    await heading(page, 'Overview');
    await page.getByRole('link', { name: 'Second oven' }).first().waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/app/overview');
    expect(asked).toEqual(['GET /me', 'GET /overview']);
    expect(await page.evaluate('document.cookie')).toBe('');
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    expect(kept).not.toContain('svc_pat_');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    const scriptBytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
    expect(scriptBytes).toBeGreaterThan(50_000);
    expect(scriptBytes).toBeLessThan(250_000);
    // Nothing is asked again until somebody says so.
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await heading(page, 'Settings');
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await heading(page, 'Overview');
    const ofOverview = () => asked.filter((one) => one === 'GET /overview');
    expect(ofOverview()).toHaveLength(1);
    const answered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/overview' && answer.ok());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await answered;
    expect(ofOverview()).toHaveLength(2);
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);
    await context.close();
  });

  it('signs in where the page is open already', async () => {
    const { context, page, faults } = await site.open();
    await page.goto(`${workspace.url}/app/`);
    await heading(page, 'Sign in');
    await page.goto(await site.link());
    await heading(page, 'Overview');
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('that was used says so and leaves the door open for a token; a sign-out closes it again', async () => {
    const used = await site.link();
    const first = await site.open();
    await first.page.goto(used);
    await heading(first.page, 'Overview');
    await first.context.close();

    const { context, page, faults } = await site.open();
    faults.allow(/^401 .*\/sign-in$/);
    await page.goto(used);
    await heading(page, 'Sign in');
    await page.getByText('This link was used already').waitFor();
    await page.getByLabel('Token').fill('svc_pat_nobody');
    await page.keyboard.press('Enter');
    await page.getByText('This is no token').waitFor();
    await page.getByLabel('Token').fill(site.folder.token);
    await page.keyboard.press('Enter');
    await heading(page, 'Overview');
    const [cookie] = await context.cookies();
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in');
    expect(await context.cookies()).toEqual([]);
    const headers = { cookie: `${cookie?.name}=${cookie?.value}`, origin: workspace.url };
    expect((await fetch(`${workspace.url}/me`, { headers })).status).toBe(401);
    // The token that was pasted is not the one that has ended.
    expect((await workspace.fetch('/me')).status).toBe(200);
    await context.close();
  });
});

it.each(LOOKS)('every view is reached by its keys and accessible: $theme, $language', async ({ theme, language }) => {
  const { context, page, faults } = await site.open({ language, theme });
  await page.goto(await site.link());
  const keys = { overview: 'p', graph: 'g', workspace: 'w', sync: 's', settings: 'n' };
  const name = TITLES[language];
  await heading(page, name.overview);
  await page.getByRole('link', { name: 'Second oven' }).first().waitFor();
  for (const view of VIEWS) {
    await page.keyboard.press('g');
    await page.keyboard.press(keys[view]);
    await heading(page, name[view]);
    expect(await page.title()).toBe(`${name[view]} · Workspace Graph`);
    await expectAccessible(page);
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await page.locator('html').getAttribute('lang')).toBe(language);
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it.each(LOOKS)('an address that leads nowhere says so, with a way out: $theme, $language', async (look) => {
  const { context, page, faults } = await site.visit('/nowhere', look);
  await heading(page, NOT_FOUND[look.language]);
  expect(await page.title()).toBe(`${NOT_FOUND[look.language]} · Workspace Graph`);
  await expectAccessible(page);
  await page.getByRole('main').getByRole('link').click();
  await heading(page, TITLES[look.language].overview);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('theme and language are changed at once and kept, and the node in the address stays in every view', async () => {
  const { context, page, faults } = await site.open({ language: 'en' });
  await page.goto(await site.link());
  await page.getByRole('link', { name: 'Second oven' }).first().click();
  await heading(page, 'Graph');
  const node = new URL(page.url()).searchParams.get('node');
  expect(node).toMatch(/^[0-9a-f-]{36}$/);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('Dark', { exact: true }).click();
  await page.getByText('Čeština').click();
  await heading(page, 'Nastavení');
  expect(new URL(page.url()).searchParams.get('node')).toBe(node);
  await page.reload();
  await heading(page, 'Nastavení');
  expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
  expect(await page.getByRole('radio', { name: 'Tmavý' }).isChecked()).toBe(true);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('an overview says how old it is, counts nothing that was cut, and leads to the rest', async () => {
  const user = await workspace.call(createUser, { name: 'saschagrunert', max_scope: 'manage' });
  const { secret } = await workspace.call(createToken, { user_id: user.id, label: 'many', scope: 'manage' });
  const client = new RestClient(workspace.url, secret);
  const organization = await client.call(createNode, { type: 'organization', name: 'Kolonáda' });
  for (let at = 0; at < 20; at += 1)
    await client.call(createNode, { type: 'project', name: `Many ${at}`, organization_id: organization.id });
  const { context, page, faults } = await site.visit('/overview');
  await page.clock.install();
  await page.reload();
  const state = page.getByRole('status').filter({ hasText: 'As of' });
  await state.waitFor();
  const card = page.getByRole('region', { name: 'New nodes' });
  await card.getByText('Many 19').waitFor();
  expect(await card.locator('.count').count()).toBe(0);
  expect(await card.locator('.av').first().textContent()).toBe('sa');
  expect(await state.textContent()).not.toContain(say('ago', 'před'));
  await page.clock.fastForward('06:00');
  await state.getByText(say('6 minutes ago', 'před 6 minutami')).waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await state.getByText(say('ago', 'před')).waitFor({ state: 'hidden' });
  await card.getByRole('link', { name: 'The rest is in Graph' }).click();
  await heading(page, 'Graph');
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each([1024, 768])('nothing is wider than a screen of %i px', async (width) => {
  const { context, page } = await site.open({ width });
  await page.goto(await site.link());
  await heading(page, 'Overview');
  for (const view of VIEWS) {
    await page.goto(`${workspace.url}/app/${view}`);
    await heading(page, TITLES.en[view]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
  await context.close();
});

it('a workspace that does not answer is told, with a way out that works', async () => {
  const { context, page, faults } = await site.open();
  faults.allow(/^net::ERR_FAILED .*\/overview$/);
  await page.goto(await site.link());
  await heading(page, 'Overview');
  await page.route('**/overview', (route) =>
    route.request().resourceType() === 'document' ? route.continue() : route.abort(),
  );
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('The workspace does not answer').waitFor();
  await page.unroute('**/overview');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'Second oven' }).first().waitFor();
  await context.close();
});

it('its cookie opens the live channel, and neither the tools of agents nor links for others', async () => {
  const { context, page, faults } = await site.open();
  faults.allow(/^401 /);
  await page.goto(await site.link());
  await heading(page, 'Overview');
  const first = await page.evaluate<string>(`new Promise((resolve) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/sessions/ws');
    socket.onopen = () => socket.send(JSON.stringify({ type: 'watch', id: 'w', payload: { graph: true } }));
    socket.onmessage = ({ data }) => JSON.parse(data).id === 'w' && resolve(JSON.parse(data).type);
    socket.onclose = () => resolve('closed');
  })`);
  expect(first).not.toBe('closed');
  const post = (path: string) =>
    page.evaluate<number>(
      `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((answer) => answer.status)`,
    );
  expect([await post('/mcp'), await post('/app/links')]).toEqual([401, 401]);
  await context.close();
});

it('another page cannot show it in a frame, nor use its cookie', async () => {
  const { context, page, faults } = await site.open();
  faults.allow(/^net::ERR_|blocked by CORS/);
  await page.goto(await site.link());
  await heading(page, 'Overview');
  const elsewhere = workspace.url.replace('127.0.0.1', 'localhost');
  await page.route(`${elsewhere}/elsewhere`, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="${workspace.url}/app/overview"></iframe>` }),
  );
  await page.goto(`${elsewhere}/elsewhere`);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  expect(await frame?.locator('h1').count()).toBe(0);
  const status = await page.evaluate(
    (url) =>
      fetch(`${url}/me`, { credentials: 'include' }).then(
        ({ status }) => status,
        () => 'refused',
      ),
    workspace.url,
  );
  expect(status).toBe('refused');
  await context.close();
});
