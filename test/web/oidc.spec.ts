import { createNode, listTokens } from '@workspace-graph/contracts';
import { CLIENT_ID, type SignInProvider, startSignInProvider } from '@workspace-graph/surfaces/testing';
import { startBrowser } from '@workspace-graph/testing/browser';
import type { Browser, Page } from 'playwright-core';
import { type CentralWorld, startWorld } from '../central/central-world.js';
import { RestClient } from '../central/rest-client.js';
import { PathProxy } from './path-proxy.js';
import { expectAccessible, heading, openVisit } from './site.js';

const BEGIN = '/app/sign-in/oidc';
const CALLBACK = `${BEGIN}/callback`;
/** Text that would be more than text anywhere but in a text. */
const PROVIDER = 'Example <b>"Login"</b>';

let proxy: PathProxy;
let provider: SignInProvider;
let world: CentralWorld;
let browser: Browser;

beforeAll(async () => {
  proxy = await PathProxy.listen((path) => (path === CALLBACK ? 1 : 0));
  provider = await startSignInProvider({
    redirectUri: proxy.url + CALLBACK,
    // The secrets of a workspace that was just prepared hold none for the client.
    proof: 'none',
    people: {
      anna: { name: 'Anna', preferred_username: 'anna', groups: ['editors'] },
      zed: { name: 'Zed', groups: ['visitors'] },
    },
  });
  world = await startWorld({
    replicas: { 'graph-svc': 1, 'session-svc': 1 },
    variables: {
      SVC_PUBLIC_URL: proxy.url,
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_AUDIENCE: 'api',
      SVC_OIDC_WRITE_GROUPS: 'editors',
      SVC_OIDC_CLIENT_ID: CLIENT_ID,
      SVC_OIDC_NAME: PROVIDER,
    },
  });
  proxy.servers = world.urls;
  await world.ada.call(createNode, { type: 'organization', name: 'Linden Bakery' });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

const toProvider = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

/** At the provider's own page. */
async function sayWho(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
}

describe('signing in at the identity provider', () => {
  it('leads back to the view, begun at one gateway and ended at another; no script has the credential; sign-out ends it', async () => {
    const { context, page, faults } = await openVisit(browser);
    await page.goto(`${proxy.url}/app/graph?types=organization`);
    await heading(page, 'Sign in');
    await expectAccessible(page);
    await toProvider(page, `Sign in with ${PROVIDER}`);
    await sayWho(page, 'anna');
    await heading(page, 'Graph');

    const asked = proxy.asked.filter(({ path }) => path.startsWith(BEGIN));
    expect(asked).toEqual([
      { path: BEGIN, server: 0 },
      { path: CALLBACK, server: 1 },
    ]);
    expect(page.url()).toBe(`${proxy.url}/app/graph?types=organization`);
    expect(await page.evaluate('document.cookie')).toBe('');
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    expect(kept).not.toMatch(/svc_pat_|eyJ/);
    const cookies = await context.cookies(proxy.url);
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
    const [cookie] = cookies;
    const anna = new RestClient(world.urls[0], cookie?.value ?? '');
    expect((await anna.call(listTokens, {})).items).toMatchObject([{ label: 'Browser · Chrome', scope: 'write' }]);

    // The way back of the browser leads to an answer that was used, and to the view all the same.
    await page.goto(`${proxy.url}${CALLBACK}?code=x&state=x`);
    await heading(page, 'Overview');
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);

    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in');
    expect(await context.cookies(proxy.url)).toEqual([]);
    const headers = { authorization: `Bearer ${cookie?.value}` };
    expect((await fetch(`${world.urls[1]}/me`, { headers })).status).toBe(401);
    await context.close();
  });

  it('says in words what came of it, in Czech too, and lets somebody else try', async () => {
    const { context, page, faults } = await openVisit(browser, { language: 'cs', theme: 'dark', width: 1024 });
    const button = `Přihlásit se přes ${PROVIDER}`;
    await page.goto(`${proxy.url}/app/settings`);
    await toProvider(page, button);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Přihlášení bylo zrušeno').waitFor();
    await expectAccessible(page);

    await toProvider(page, button);
    await sayWho(page, 'zed');
    await page.getByText('nemáte přístup').waitFor();
    await page.getByText(/Požadavek [\w-]{36}/).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    // Signed in there as Zed, who is asked again.
    await toProvider(page, button);
    await sayWho(page, 'anna');
    await heading(page, 'Nastavení');
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('is refused to a browser that did not begin it, takes no word from an address, and leaves the door open for a token', async () => {
    const { context, page, faults } = await openVisit(browser);
    await page.goto(`${proxy.url}${CALLBACK}?code=x&state=x&iss=${encodeURIComponent(provider.issuer)}`);
    await page.getByText('began in another browser').waitFor();
    await page.goto(`${proxy.url}/app/overview#refused=%3Cb%3E%zz&request=x`);
    await heading(page, 'Sign in');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByLabel('Token').fill(world.tokens[0] ?? '');
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await heading(page, 'Overview');
    expect(faults.list).toEqual([]);
    await context.close();
  });
});
