import { randomUUID } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createActor, createToken, getSyncHealth, listTokens, revokeToken, whoami } from '@workspace-graph/contracts';
import type { Locator, Page } from 'playwright-core';
import { RestClient } from '../central/rest-client.js';
import { expectAccessible, heading, LOOKS, Site, say, until } from './site.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await site.folder.svc(['demo']);
});
afterAll(() => site?.[Symbol.asyncDispose]());

const owner = () => new RestClient(site.workspace.url, site.folder.token);
const section = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
const statusOf = async (token: string): Promise<number> =>
  (await new RestClient(site.workspace.url, token).send(whoami, {})).status;
/** What the scripts of the page hold where a later script could read it. */
const kept = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.body.innerText])');

it('the settings are one scroll of sections that their names lead to', async () => {
  const { context, page, faults } = await site.visit('/settings?node=kept');
  const contents = page.getByRole('navigation', { name: 'Sections of the settings' });
  const names = await contents.getByRole('link').allInnerTexts();
  const current = contents.locator('[aria-current]', { hasText: 'Synchronisation' });
  expect(await current.count()).toBe(0);
  expect(names.slice(0, 3)).toEqual(['Appearance', 'MCP server', 'Tokens'].map((one) => say(one)));
  for (const name of names) await section(page, name).waitFor();
  await contents.getByRole('link', { name: 'Synchronisation' }).focus();
  await page.keyboard.press('Enter');
  await until('the section is in view', () =>
    section(page, 'Synchronisation').evaluate((one) => one.getBoundingClientRect().top < 450),
  );
  await current.waitFor();
  expect(new URL(page.url()).hash).toBe('#sync');
  expect(new URL(page.url()).searchParams.get('node')).toBe('kept');
  await page.reload();
  await current.waitFor();
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});

it('a token is created with what it is for, shown once, listed and revoked with what it ends', async () => {
  const label = `Backup <b>"x"</b> \u202Eabc`;
  const { context, page, faults } = await site.visit('/settings#tokens');
  const tokens = section(page, 'Tokens');
  const list = tokens.getByRole('list', { name: 'Tokens' });
  await list.getByText('This browser').waitFor();
  // The jump to the section scrolls the sections, and nothing around them.
  expect((await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeGreaterThan(0);
  const own = list.getByRole('listitem').filter({ hasText: 'The workspace’s own' });
  expect(await own.getByRole('button').count()).toBe(0);

  await tokens.getByRole('button', { name: 'New token' }).click();
  await tokens.getByRole('button', { name: 'Create' }).click();
  await tokens.getByText('Say what it is for first.').waitFor();
  await tokens.getByLabel('What it is for').fill(label);
  await tokens.getByLabel('What it may do').selectOption({ label: 'Reads' });
  await tokens.getByLabel('Days').fill('7');
  await page.keyboard.press('Enter');
  const shown = tokens.getByLabel('the token', { exact: true });
  await shown.waitFor();
  const secret = await shown.inputValue();
  expect(secret).toMatch(/^svc_pat_[\w-]{43}$/);
  expect(await statusOf(secret)).toBe(200);
  await tokens.getByRole('button', { name: 'I have it' }).click();
  await shown.waitFor({ state: 'hidden' });
  expect(await kept(page)).not.toContain(secret);

  const row = list.getByRole('listitem').filter({ hasText: label });
  await row.getByText('never used').or(row.getByText('last used')).waitFor();
  const { items } = await owner().call(listTokens, {});
  const made = items.find((token) => token.label === label);
  expect(made).toMatchObject({ scope: 'read' });
  expect(Date.parse(made?.expires_at ?? '') - Date.now()).toBeLessThan(7 * 86_400_000);

  // The browser's own token made it, and is asked about with it.
  const browser = list.getByRole('listitem').filter({ hasText: 'This browser' });
  await browser.getByRole('button', { name: /^Revoke/ }).click();
  const question = browser.getByRole('alertdialog');
  await question.getByText('With it ends 1 token of this list').waitFor();
  await question.getByText('You will be signed out here.').waitFor();
  await question.getByRole('button', { name: 'Back' }).click();

  await row.getByRole('button', { name: /^Revoke/ }).click();
  await row.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await until('it is refused', async () => (await statusOf(secret)) === 401);
  await tokens.getByLabel('Ended ones too').check();
  await row.getByText('revoked').waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('who may only write sees neither tokens of others nor what is of the machine; a revoked own token is a sign-out', async () => {
  const { secret } = await owner().call(createToken, { label: 'maker', scope: 'write' });
  const { context, page, faults } = await site.visit('/settings#tokens', { token: secret });
  const tokens = section(page, 'Tokens');
  const rows = tokens.getByRole('list', { name: 'Tokens' }).getByRole('listitem');
  const own = rows.filter({ hasText: 'This browser' });
  await own.waitFor();
  expect(await rows.count()).toBe(1);
  expect(await tokens.getByLabel('Whose tokens').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Diagnosis' }).count()).toBe(0);
  expect(await section(page, 'MCP server').getByRole('button', { name: 'Show' }).count()).toBe(0);
  await own.getByRole('button', { name: /^Revoke/ }).click();
  await own.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await heading(page, 'Sign in');
  expect(await context.cookies()).toEqual([]);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the language that is chosen is that of every tab, and the look is', async () => {
  const { context, page, faults } = await site.visit('/overview', { language: 'en' });
  const second = await context.newPage();
  await second.goto(`${site.workspace.url}/app/settings`);
  await second.getByText('Dark', { exact: true }).click();
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  await second.getByText('Čeština', { exact: true }).click();
  await heading(second, 'Nastavení');
  await heading(page, 'Přehled');
  await page.locator('html[lang=cs]').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('who was signed out by somebody else is told so', async () => {
  const { secret, token } = await owner().call(createToken, { label: 'ended', scope: 'read' });
  const { context, page, faults } = await site.visit('/overview', { token: secret });
  faults.allow(/^401 /);
  await owner().call(revokeToken, { token_id: token.id });
  await heading(page, 'Sign in');
  await page.getByRole('alert').getByText('The sign-in is not valid any more. Sign in again.').waitFor();
  await page.getByLabel('Token').fill(site.folder.token);
  await page.keyboard.press('Enter');
  await heading(page, 'Overview');
  await context.close();
});

it('long lists of tokens come in pages, also those of everybody', async () => {
  for (let at = 0; at < 26; at += 1) await owner().call(createToken, { label: `many ${at}`, scope: 'read' });
  const { context, page, faults } = await site.visit('/settings#tokens');
  const tokens = section(page, 'Tokens');
  await tokens.getByLabel('Whose tokens').selectOption({ label: 'Everybody’s tokens' });
  const rows = tokens.getByRole('list', { name: 'Tokens' }).getByRole('listitem');
  await rows.filter({ hasText: 'many 25' }).waitFor();
  const oldest = rows.filter({ hasText: 'sidecar' });
  expect(await oldest.count()).toBe(0);
  await tokens.getByRole('button', { name: 'Show more' }).click();
  await oldest.waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the own token of the workspace is shown on demand and replaced; the page stays signed in', async () => {
  const { context, page, faults } = await site.visit('/settings#mcp');
  const mcp = section(page, 'MCP server');
  await mcp.getByText(`${site.workspace.url}/mcp`, { exact: true }).waitFor();
  await mcp.getByText('"url"').waitFor();
  await mcp.getByText('Codex').click();
  await mcp.getByText('bearer_token_env_var').waitFor();
  await mcp.getByText('Mistral Vibe').click();
  await mcp.getByText('[[mcp_servers]]').waitFor();
  await mcp.getByText('vibe --agent workspace-graph').waitFor();
  const before = site.folder.token;
  expect(await page.content()).not.toContain(before);
  await mcp.getByRole('button', { name: 'Show' }).click();
  const shown = mcp.getByLabel('the workspace’s own token', { exact: true });
  await shown.waitFor();
  expect(await shown.inputValue()).toBe(before);
  await mcp.getByRole('button', { name: 'Hide' }).click();
  await shown.waitFor({ state: 'hidden' });
  expect(await kept(page)).not.toContain(before);

  await mcp.getByRole('button', { name: 'Replace' }).click();
  await mcp.getByRole('alertdialog').getByRole('button', { name: 'Replace' }).click();
  await page.getByText('The workspace has a new token').waitFor();
  expect(site.folder.token).not.toBe(before);
  await until('the old one is refused', async () => (await statusOf(before)) === 401);
  expect(await statusOf(site.folder.token)).toBe(200);
  await page.reload();
  await heading(page, 'Settings');
  await mcp.getByRole('button', { name: 'Show' }).click();
  await shown.waitFor();
  expect(await shown.inputValue()).toBe(site.folder.token);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the state of folders, presentations, runners, devices and the diagnosis stand as they are now', async () => {
  const made = await site.folder.svc(['mirror', 'create', 'Second oven', '--json']);
  const { local_path: folder } = JSON.parse(made.stdout) as { local_path: string };
  await mkdir(`${folder}/wip`, { recursive: true });
  // Elsewhere they would be one file.
  for (const name of ['plan.txt', 'Plan.txt']) await writeFile(`${folder}/wip/${name}`, name);
  const { context, page, faults } = await site.visit('/settings#sync');
  const sync = section(page, 'Synchronisation');
  await sync.getByText('1 folder').waitFor();
  await until('what cannot be followed is told', async () => {
    if ((await sync.getByText('cannot be followed').count()) > 0) return true;
    await page.reload();
    await sync.getByText('1 folder').waitFor();
    return false;
  });
  await sync.getByRole('link', { name: 'Second oven' }).waitFor();
  expect(await sync.getByText(/plan\.txt/i).count()).toBeGreaterThan(0);
  await section(page, 'Runners').getByText('There is none here yet').waitFor();
  await section(page, 'Devices').getByText('This machine').waitFor();
  const presentations = section(page, 'Integrations').getByRole('switch', { name: 'Presentations' });
  expect(await presentations.getAttribute('aria-checked')).toBe('false');
  await presentations.press('Space');
  await page.reload();
  await until('it is still on', async () => (await presentations.getAttribute('aria-checked')) === 'true');

  const diagnosis = section(page, 'Diagnosis');
  await chmod(`${site.folder.root}/.svc/token`, 0o644);
  await diagnosis.getByRole('button', { name: 'Examine' }).click();
  const credential = diagnosis.getByRole('listitem').filter({ hasText: 'credential' });
  await credential.getByText('Failed').waitFor();
  await credential.getByText('Run chmod 600').waitFor();
  await chmod(`${site.folder.root}/.svc/token`, 0o600);
  await diagnosis.getByRole('button', { name: 'Examine' }).click();
  await credential.getByText('In order').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each(LOOKS)('what is wrong with folders is told apart and can be copied: $language, $theme', async (look) => {
  const cs = look.language === 'cs';
  const { context, page, faults } = await site.visit('/overview', { ...look, width: 1024 });
  const node = { id: randomUUID(), type: 'area', name: 'Pekárna', sync_key: 'bakery', org_sync_key: 'org' };
  const failures = Array.from({ length: 7 }, (_, at) => ({
    node,
    path: `wip/${'long/'.repeat(20)}${at}.md`,
    message: 'The name differs from another one by case alone.',
    at: '2024-02-03T10:00:00.000Z',
  }));
  const path = `/home/jana/${'folder/'.repeat(20)}bakery`;
  const set_aside = [{ path, files: 3, at: '2024-02-03T10:00:00.000Z' }];
  const health = await owner().call(getSyncHealth, {});
  const json = { ...health, failures, failures_complete: true, set_aside };
  await page.route('**/sync/health', (route) => route.fulfill({ json }));
  await page.goto(`${site.workspace.url}/app/settings#sync`);
  const sync = section(page, cs ? 'Synchronizace' : 'Synchronisation');
  await sync.getByText(cs ? '1 složka byla odložena stranou' : '1 folder was set aside').waitFor();
  await sync
    .getByText(cs ? 'a 2 další:' : 'and 2 more:')
    .locator('code', { hasText: 'svc status --json' })
    .waitFor();
  const contents = page.getByRole('navigation', { name: cs ? 'Oddíly nastavení' : 'Sections of the settings' });
  await contents.getByText(cs ? 'Něco tu vyžaduje pozornost' : 'Something here is to be looked at').waitFor();
  const [upper, lower] = await sync
    .locator('.banner.wait')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
  expect(lower?.top).toBeGreaterThan(upper?.bottom ?? Number.NaN);
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1024);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await sync.getByRole('button', { name: path }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(path);
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each(LOOKS)('all of it is accessible: $language, $theme', async ({ language, theme }) => {
  const { context, page, faults } = await site.visit('/settings', { language, theme, width: 1024 });
  const names = {
    en: ['Replace', 'New token', 'Examine', 'Revoke', 'In order'],
    cs: ['Vyměnit', 'Nový token', 'Zkontrolovat', 'Odvolat', 'V pořádku'],
  } as const;
  const [replace, create, examine, revoke, well] = names[language];
  await page.getByRole('button', { name: replace }).click();
  await page.getByRole('button', { name: create }).click();
  await page.getByRole('button', { name: revoke }).first().click();
  await page.getByRole('button', { name: examine }).click();
  await page.getByText(well, { exact: true }).first().waitFor();
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1024);
  expect(faults.list).toEqual([]);
  await context.close();
});

describe('with more tokens and actors than a page of their lists', () => {
  const MANY = 30;
  beforeAll(async () => {
    for (let at = 0; at < MANY; at++) {
      await owner().call(createToken, { label: `Token ${at}`, scope: 'read' });
      await owner().call(createActor, { type: 'person', name: `Person ${at}` });
    }
  });

  it.each([900, 1400])('nothing moves in a window of a height of %i px that is fresh', async (height) => {
    const { context, page, faults } = await site.visit('/settings', { height });
    await section(page, 'Tokens')
      .getByTitle(`Token ${MANY - 1}`)
      .waitFor();
    await section(page, 'Actors').getByTitle('Person 0', { exact: true }).waitFor();
    await section(page, 'Devices').waitFor();
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);
    await context.close();
  });
});
