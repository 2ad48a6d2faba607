import { AxeBuilder } from '@axe-core/playwright';
import { startBrowser } from '@workspace-graph/testing/browser';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type RunningWorkspace, WorkspaceFolder } from '../e2e/workspace-process.js';

const VIEWS = ['overview', 'graph', 'workspace', 'sync', 'settings'] as const;
const TITLES = {
  en: { overview: 'Overview', graph: 'Graph', workspace: 'Workspace', sync: 'Sync', settings: 'Settings' },
  cs: { overview: 'Přehled', graph: 'Graf', workspace: 'Práce', sync: 'Sync', settings: 'Nastavení' },
} as const;
type Language = keyof typeof TITLES;
const LANGUAGES: readonly Language[] = ['en', 'cs'];

/** For a state that a busy machine is slow to reach. */
const BUSY_MS = 120_000;

/** What a person would not see, and a page must not do. */
interface Faults {
  readonly list: string[];
  /** Moves of what was painted already, as browsers count them. */
  shift(): Promise<number>;
}

/** Runs in the page, before anything of it. */
const COUNT_SHIFTS = `
  globalThis.shifted = 0;
  new PerformanceObserver((entries) => {
    for (const entry of entries.getEntries()) if (!entry.hadRecentInput) shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

let workspace: RunningWorkspace;
let browser: Browser;
const folder = new WorkspaceFolder();
beforeAll(async () => {
  workspace = await folder.start();
  await folder.svc(['demo']);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await folder[Symbol.asyncDispose]();
});

async function link(): Promise<string> {
  const { stdout } = await folder.svc(['open', '--print', '--json']);
  return (JSON.parse(stdout) as { url: string }).url;
}

/** A page of a new browser profile that notes every fault. */
async function open(
  options: { readonly language?: Language; readonly theme?: 'light' | 'dark'; readonly width?: number } = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly faults: Faults }> {
  const { language = 'en', theme = 'light', width = 1440 } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    locale: language === 'cs' ? 'cs-CZ' : 'en-US',
    colorScheme: theme,
    // What fades in has its colours at once.
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(BUSY_MS);
  const page = await context.newPage();
  const list: string[] = [];
  page.on('console', (message) => message.type() === 'error' && list.push(message.text()));
  page.on('pageerror', (error) => list.push(error.message));
  page.on('response', (answer) => answer.status() >= 400 && list.push(`${answer.status()} ${answer.url()}`));
  await page.addInitScript(COUNT_SHIFTS);
  const shift = () => page.evaluate<number>('shifted');
  return { context, page, faults: { list, shift } };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

describe('a link', () => {
  it('opens the overview, signed in, with one request for it; no script can read the credential', async () => {
    const { context, page, faults } = await open();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/app/')) asked.push(`${request.method()} ${pathname}`);
    });
    await page.goto(await link());
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
    await page.getByRole('link', { name: 'Graph', exact: true }).click();
    await heading(page, 'Graph');
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await heading(page, 'Overview');
    expect(asked).toHaveLength(2);
    const answered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/overview' && answer.ok());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await answered;
    expect(asked.slice(2)).toEqual(['GET /overview']);
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);
    await context.close();
  });

  it('signs in where the page is open already', async () => {
    const { context, page, faults } = await open();
    await page.goto(`${workspace.url}/app/`);
    await heading(page, 'Sign in');
    await page.goto(await link());
    await heading(page, 'Overview');
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('that was used says so and leaves the door open for a token; a sign-out closes it again', async () => {
    const used = await link();
    const first = await open();
    await first.page.goto(used);
    await heading(first.page, 'Overview');
    await first.context.close();

    const { context, page } = await open();
    await page.goto(used);
    await heading(page, 'Sign in');
    await page.getByText('This link was used already').waitFor();
    await page.getByLabel('Token').fill('svc_pat_nobody');
    await page.keyboard.press('Enter');
    await page.getByText('This is no token').waitFor();
    await page.getByLabel('Token').fill(folder.token);
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

describe.each(LANGUAGES)('in the language %s', (language) => {
  it.each(['light', 'dark'] as const)('every view is reached by its keys and accessible: %s', async (theme) => {
    const { context, page, faults } = await open({ language, theme });
    await page.goto(await link());
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
});

it('theme and language are changed at once and kept, and the node in the address stays in every view', async () => {
  const { context, page, faults } = await open();
  await page.goto(await link());
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

it.each([1024, 768])('nothing is wider than a screen of %i px', async (width) => {
  const { context, page } = await open({ width });
  await page.goto(await link());
  await heading(page, 'Overview');
  for (const view of VIEWS) {
    await page.goto(`${workspace.url}/app/${view}`);
    await heading(page, TITLES.en[view]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
  await context.close();
});

it('a workspace that does not answer is told, with a way out that works', async () => {
  const { context, page } = await open();
  await page.goto(await link());
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

it('what somebody writes into names and events is text, and runs nowhere', async () => {
  const payloads = [
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '"><svg onload=alert(1)>',
    'javascript:alert(1)//\'"</title>',
    '{{constructor.constructor("alert(1)")()}}',
  ];
  for (const name of payloads) {
    const node = await workspace.fetch('/nodes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'organization', name: `${name} ${Math.random()}` }),
    });
    const { id } = (await node.json()) as { id: string };
    const event = { kind: 'note', content: name };
    const logged = await workspace.fetch(`/nodes/${id}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    expect([node.status, logged.status]).toEqual([201, 201]);
  }
  const { context, page, faults } = await open();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(await link());
  await heading(page, 'Overview');
  for (const payload of payloads) await page.getByText(payload).first().waitFor();
  expect([dialogs, faults.list]).toEqual([[], []]);
  await context.close();
});

it('its cookie opens the live channel, and neither the tools of agents nor links for others', async () => {
  const { context, page } = await open();
  await page.goto(await link());
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
  const { context, page } = await open();
  await page.goto(await link());
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

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}
