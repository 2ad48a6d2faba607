import { setTimeout } from 'node:timers/promises';
import { AxeBuilder } from '@axe-core/playwright';
import { createNode, type Node } from '@workspace-graph/contracts';
import { startBrowser } from '@workspace-graph/testing/browser';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type RunningWorkspace, WorkspaceFolder } from '../e2e/workspace-process.js';
import { czechOf } from './czech.js';
import { LANGUAGES, type Language, languageOfSpec } from './language.js';
import { spokenTo } from './spoken-to.js';

export { LANGUAGES, type Language };

/** Names of the views. */
export const TITLES = {
  en: { overview: 'Overview', graph: 'Graph', workspace: 'Workspace', sync: 'Sync', settings: 'Settings' },
  cs: { overview: 'Přehled', graph: 'Graf', workspace: 'Práce', sync: 'Sync', settings: 'Nastavení' },
} as const satisfies Record<Language, unknown>;
/** Both languages and both themes; colours do not depend on words. */
export const LOOKS = [
  { theme: 'light', language: 'en' },
  { theme: 'dark', language: 'cs' },
] as const;

/** For a state that a busy machine is slow to reach. */
const BUSY_MS = Number(process.env['SVC_TEST_BUSY_MS'] ?? 120_000);
const PAUSE_MS = 50;

/** What a person would not see, and a page must not do. */
export interface Faults {
  readonly list: string[];
  /** Moves of what was painted already, as browsers count them. */
  shift(): Promise<number>;
  /** Faults like this one are what the test is about. */
  allow(fault: RegExp): void;
}

/** One page of a browser profile of its own. Closing its context throws for faults, and for what moved before it was touched. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly faults: Faults;
}

export interface VisitOptions {
  /** Whose texts the test names itself; without one, it names the English ones, whatever the language of the spec is. */
  readonly language?: Language;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly timezoneId?: string;
  readonly height?: number;
}

/** What a browser keeps of a sign-in. */
type SignedIn = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** Runs in the page, before anything of it. */
const COUNT_SHIFTS = `
  globalThis.shifted = 0;
  globalThis.shiftedUntouched = 0;
  let touchedAt = Infinity;
  for (const type of ['pointerdown', 'keydown', 'wheel', 'input'])
    addEventListener(type, (event) => { touchedAt = Math.min(touchedAt, event.timeStamp); }, { capture: true });
  new PerformanceObserver((entries) => {
    for (const { hadRecentInput, startTime, value } of entries.getEntries()) {
      if (hadRecentInput) continue;
      shifted += value;
      if (startTime < touchedAt) shiftedUntouched += value;
    }
  }).observe({ type: 'layout-shift', buffered: true });`;
const MOST_SHIFT = 0.05;

/** A real workspace and a real browser. */
export class Site implements AsyncDisposable {
  private constructor(
    readonly folder: WorkspaceFolder,
    readonly workspace: RunningWorkspace,
    private readonly browser: Browser,
  ) {}

  static async start(): Promise<Site> {
    const folder = new WorkspaceFolder({ isStarted: true });
    return Site.of(folder, await folder.start());
  }

  /** Of a workspace that runs already; ends with the site. */
  static async of(folder: WorkspaceFolder, workspace: RunningWorkspace): Promise<Site> {
    return new Site(folder, workspace, await startBrowser());
  }

  /** The organization of what a spec makes. */
  organization(): Promise<Node> {
    return this.workspace.call(createNode, { type: 'organization', name: 'Kolonáda' });
  }

  /** A link that signs in once. */
  async link(): Promise<string> {
    const { stdout } = await this.folder.svc(['open', '--print', '--json']);
    return (JSON.parse(stdout) as { url: string }).url;
  }

  /** A page of a new browser profile that notes every fault. */
  open(options: VisitOptions = {}): Promise<Visit> {
    return openVisit(this.browser, options);
  }

  /** A page of somebody who is signed in, at a path below `/app`. How people sign in has specs of its own. */
  async visit(path: string, options: VisitOptions & { readonly token?: string } = {}): Promise<Visit> {
    const { url } = this.workspace;
    const signedIn = await signIn(url, options.token ?? this.folder.token);
    const visit = await openVisit(this.browser, { ...options, signedIn });
    await visit.page.goto(`${url}/app${path}`);
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    return visit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** What a browser keeps of a sign-in: its cookie, and the page's note that it has one. */
async function signIn(url: string, token: string): Promise<SignedIn> {
  const answer = await fetch(`${url}/app/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token }),
  });
  const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  expect([answer.status, name]).toEqual([204, expect.stringMatching(/./)]);
  const cookie = { name, value, domain: new URL(url).hostname, path: '/', expires: -1, httpOnly: true, secure: false };
  return {
    cookies: [{ ...cookie, sameSite: 'Strict' }],
    origins: [{ origin: url, localStorage: [{ name: 'svc:signed-in', value: 'yes' }] }],
  };
}

/** An English text in the language of the spec, as the page says it, or as it is given where the page makes it up. */
export const say = (english: string, czech?: string): string =>
  languageOfSpec() === 'cs' ? (czech ?? czechOf(english)) : english;

/** A page of a new profile of a browser that notes every fault. */
export async function openVisit(
  browser: Browser,
  {
    language,
    theme = 'light',
    width = 1440,
    timezoneId,
    height = 900,
    signedIn,
  }: VisitOptions & { readonly signedIn?: SignedIn } = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height },
    locale: (language ?? languageOfSpec()) === 'cs' ? 'cs-CZ' : 'en-US',
    colorScheme: theme,
    // What fades in has its colours at once.
    reducedMotion: 'reduce',
    ...(timezoneId !== undefined && { timezoneId }),
    ...(signedIn && { storageState: signedIn }),
  });
  context.setDefaultTimeout(BUSY_MS);
  const page = await context.newPage();
  const list: string[] = [];
  page.on('console', (message) => {
    // Noted with its address below.
    const isNoted = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isNoted) list.push(message.text());
  });
  page.on('pageerror', (error) => list.push(error.message));
  page.on('response', (answer) => answer.status() >= 400 && list.push(`${answer.status()} ${answer.url()}`));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    // What the page gives up itself, by leaving or by asking again, is no fault.
    if (why !== 'net::ERR_ABORTED') list.push(`${why} ${request.url()}`);
  });
  await page.addInitScript(COUNT_SHIFTS);
  const shift = () => page.evaluate<number>('shifted');
  const allowed: RegExp[] = [];
  const faults: Faults = { list, shift, allow: (fault) => void allowed.push(fault) };
  const close = context.close.bind(context);
  context.close = async () => {
    const moved = page.isClosed() ? 0 : await page.evaluate<number>('globalThis.shiftedUntouched ?? 0').catch(() => 0);
    await close();
    expect(list.filter((fault) => !allowed.some((pattern) => pattern.test(fault)))).toEqual([]);
    expect(moved).toBeLessThan(MOST_SHIFT);
  };
  return { context, page: language === undefined && languageOfSpec() === 'cs' ? spokenTo(page) : page, faults };
}

/** Takes back what a note tells of; another note may still stand above it. */
export const undo = (page: Page, text: string): Promise<void> =>
  page.locator('.toast', { hasText: text }).getByRole('button', { name: 'Undo' }).click();

export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

export async function expectAccessible(page: Page): Promise<void> {
  // Of frames of other origins nothing is ours; for them the builder would open a second page each time.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}

/** Waits for what becomes true by itself. @throws Error after two minutes */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + BUSY_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`It never happened: ${what}`);
    await setTimeout(PAUSE_MS);
  }
}
