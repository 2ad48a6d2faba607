import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { createMirror, listFiles, listNodes, type NodeRef } from '@workspace-graph/contracts';
import type { Locator, Page, Request } from 'playwright-core';
import { hashesBelow, type SampleFiles, sampleFiles, sectionOf } from '../e2e/sample-files.js';
import { Agent } from './agent.js';
import { expectAccessible, heading, type Language, LOOKS, Site, TITLES, until } from './site.js';

/** A document of a real organization, with its `files.tar.gz` beside it. */
const DOCUMENT = process.env['SVC_TEST_ORGANIZATION'];
/** A folder for pictures of what was seen. */
const PICTURES = process.env['SVC_TEST_PICTURES'];
const withOrganization = DOCUMENT ? describe : describe.skip;
/** For all views of a large organization, each examined. */
const WALK_MS = 900_000;
const MOST_SHIFT = 0.05;

const WORDS = {
  en: {
    find: 'Find a node by name',
    project: /^Project/,
    list: 'List',
    drawing: 'Drawing',
    edges: 'Edges',
    tabs: { events: 'Events', sessions: 'Sessions', history: 'History', files: 'Files' },
    close: 'Close the file',
    text: 'Text',
    log: 'Log of the session',
    sections: 'Sections of the settings',
    palette: 'Find or do',
    found: 'Found',
  },
  cs: {
    find: 'Hledat node podle názvu',
    project: /^Projekt/,
    list: 'Seznam',
    drawing: 'Kresba',
    edges: 'Hrany',
    tabs: { events: 'Události', sessions: 'Relace', history: 'Historie', files: 'Soubory' },
    close: 'Zavřít soubor',
    text: 'Text',
    log: 'Průběh relace',
    sections: 'Oddíly nastavení',
    palette: 'Najít nebo udělat',
    found: 'Nalezeno',
  },
} as const;

/** A node with a folder, and the paths of its files. */
interface Home {
  readonly node: NodeRef;
  readonly paths: readonly string[];
}

/** A page that is walked through; what it shows is examined, and its picture kept where pictures are wanted. */
class Walk {
  private count = 0;
  private shifted = 0;
  private readonly asked = new Set<Request>();

  constructor(
    readonly page: Page,
    readonly language: Language,
    private readonly theme: string,
    private readonly shift: () => Promise<number>,
  ) {
    page.on('request', (request) => this.asked.add(request));
    page.on('requestfinished', (request) => this.asked.delete(request));
    page.on('requestfailed', (request) => this.asked.delete(request));
  }

  get words(): (typeof WORDS)[Language] {
    return WORDS[this.language];
  }

  async see(name: string): Promise<void> {
    await until('everything is answered', async () => this.asked.size === 0);
    await this.page.locator('.sk').first().waitFor({ state: 'hidden' });
    if (PICTURES) await this.keepPicture(name);
    await expectAccessible(this.page);
    const all = await this.shift();
    // A page that was loaded anew counts from nothing.
    const moved = all < this.shifted ? all : all - this.shifted;
    this.shifted = all;
    expect([name, moved < MOST_SHIFT || moved]).toEqual([name, true]);
  }

  async go(view: keyof (typeof TITLES)['en']): Promise<void> {
    const name = TITLES[this.language][view];
    await this.page.getByRole('link', { name, exact: true }).click();
    await heading(this.page, name);
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  private async keepPicture(name: string): Promise<void> {
    const number = String(++this.count).padStart(2, '0');
    await this.page.screenshot({ path: join(PICTURES ?? '', `${this.theme}-${this.language}-${number}-${name}.png`) });
  }
}

withOrganization('a real organization', () => {
  let site: Site;
  let sample: SampleFiles;
  let homes: readonly Home[];
  const agents: Agent[] = [];
  beforeAll(async () => {
    sample = await sampleFiles(DOCUMENT);
    site = await Site.start();
    if (PICTURES) mkdirSync(PICTURES, { recursive: true });
    await importDocument();
    homes = await placeFiles();
    for (const { node, paths } of homes.slice(0, 3)) agents.push(await work(node, paths));
  }, WALK_MS);
  afterAll(async () => {
    for (const agent of agents) await agent[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    if (sample) rmSync(sample.temporary, { recursive: true, force: true });
  });

  /** As a person does it who begins. */
  async function importDocument(): Promise<void> {
    const { context, page, faults } = await site.visit('/start');
    await page.locator('input[type=file]').setInputFiles(sample.document);
    await page.getByRole('button', { name: 'Import it', exact: true }).click();
    await page.getByText('It is imported.').waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  }

  /** @returns the nodes with files, those with most of them first */
  async function placeFiles(): Promise<readonly Home[]> {
    const placed: Home[] = [];
    for (const [key, source] of sample.folders) {
      const name = sample.names.get(key) ?? '';
      const { items } = await site.workspace.call(listNodes, { query: name, limit: 100 });
      const node = items.find((one) => one.name === name && one.type !== 'project');
      if (!node) throw new Error(`There is no ${name}.`);
      const { local_path } = await site.workspace.call(createMirror, { node_id: node.id });
      cpSync(source, join(local_path ?? '', sectionOf(key)), { recursive: true });
      placed.push({ node, paths: [...hashesBelow(source).keys()].map((path) => `${sectionOf(key)}/${path}`) });
    }
    for (const { node, paths } of placed)
      await until(`the files of ${node.name} are there`, async () => (await count(node)) === paths.length);
    return placed.sort((a, b) => b.paths.length - a.paths.length);
  }

  async function count({ id }: NodeRef): Promise<number> {
    return (await site.workspace.call(listFiles, { node_id: id, limit: 500 })).items.length;
  }

  /** What an agent would leave in its log. */
  async function work(node: NodeRef, paths: readonly string[]): Promise<Agent> {
    const agent = await Agent.connect(site.workspace, site.folder.token, node.id);
    await agent.say(`I read ${paths.length} files of ${node.name} first.`);
    await agent.say(`The oldest of them:\n\n- ${paths.slice(0, 6).join('\n- ')}`);
    return agent;
  }

  it.each(LOOKS)(
    'is imported by the page and shown by every view: $theme, $language',
    async ({ theme, language }) => {
      const { context, page, faults } = await site.visit('/overview', { theme, language });
      page.on('requestfailed', (request) => {
        const why = request.failure()?.errorText ?? '';
        // What nobody looks at any more is abandoned.
        if (why !== 'net::ERR_ABORTED') faults.list.push(`${why} ${request.url()}`);
      });
      const walk = new Walk(page, language, theme, faults.shift);
      await heading(page, TITLES[language].overview);
      await page.locator('main .card h2').first().waitFor();
      await walk.see('overview');
      await walkGraph(walk);
      await walkDetail(walk);
      await walkFiles(walk);
      await walkSessions(walk);
      await walkSettings(walk);
      expect(faults.list).toEqual([]);
      await context.close();
    },
    WALK_MS,
  );

  async function walkGraph(walk: Walk): Promise<void> {
    const { page, words } = walk;
    await walk.go('graph');
    const drawing = page.getByRole('application');
    await page.locator('[role=application][data-edges]').waitFor();
    await walk.see('graph');
    const drawn = () => drawing.getAttribute('data-drawn');
    const all = await drawn();
    const projects = page.getByRole('checkbox', { name: words.project });
    await projects.uncheck();
    await until('projects are left out', async () => (await drawn()) !== all);
    await walk.see('graph-without-projects');
    await projects.check();
    await until('they are drawn again', async () => (await drawn()) === all);
    const { name } = homes[0]?.node ?? { name: '' };
    await page.getByRole('combobox', { name: words.find }).fill(name.toLowerCase());
    await page.getByRole('option', { name }).first().waitFor();
    await walk.see('graph-found');
    await page.getByRole('option', { name }).first().click();
    await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    await drawing.focus();
    await page.keyboard.press('f');
    await walk.see('graph-neighbourhood');
    await page.keyboard.press('l');
    await page.getByRole('listbox').getByRole('option', { selected: true }).waitFor();
    await walk.see('graph-list');
    await walk.button(words.drawing).click();
    await page.locator('[role=application][data-edges]').waitFor();
  }

  async function walkDetail(walk: Walk): Promise<void> {
    const { page, words } = walk;
    for (const tab of ['events', 'sessions', 'history', 'files'] as const) {
      const name = words.tabs[tab];
      await page.getByRole('tab', { name }).click();
      await page.getByRole('tabpanel', { name }).waitFor();
      await walk.see(`detail-${tab}`);
    }
    await page.getByRole('tab', { name: 'Detail' }).click();
    const edges = page.getByRole('region', { name: words.edges });
    await edges.scrollIntoViewIfNeeded();
    await walk.see('detail-edges');
    const neighbour = edges.getByRole('link').last();
    const name = (await neighbour.getAttribute('title')) ?? '';
    await neighbour.click();
    await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    await walk.see('detail-neighbour');
  }

  /** One file of each kind that there is. */
  async function walkFiles(walk: Walk): Promise<void> {
    const { page, words } = walk;
    for (const [kind, { node, path }] of kinds(homes)) {
      const search = new URLSearchParams({ node: node.id, file: path });
      await page.goto(`${site.workspace.url}/app/graph?${search}`);
      await page.getByRole('dialog').getByRole('heading', { level: 2 }).first().waitFor();
      await page.getByRole('dialog').locator('.doc, .cm-line, img, iframe, .empty').first().waitFor();
      await walk.see(`file-${kind}`);
      if (kind !== 'md') continue;
      await page.getByRole('dialog').locator('.doc').waitFor();
      await walk.button(words.text).click();
      await page.locator('.cm-line').first().waitFor();
      await walk.see('file-editor');
    }
    await walk.button(words.close).click();
  }

  async function walkSessions(walk: Walk): Promise<void> {
    const { page, words } = walk;
    await walk.go('workspace');
    await page.locator('.slist a').first().waitFor();
    await walk.see('sessions');
    await page.locator('.slist a').first().click();
    await page.getByRole('log', { name: words.log }).locator('[data-seq]').first().waitFor();
    await walk.see('session');
  }

  async function walkSettings(walk: Walk): Promise<void> {
    const { page, words } = walk;
    await walk.go('settings');
    const links = page.getByRole('navigation', { name: words.sections }).getByRole('link');
    for (const link of await links.all()) {
      const name = ((await link.getAttribute('href')) ?? '').slice(1);
      await link.click();
      await page.locator(`#section-${name}:focus`).waitFor();
      await walk.see(`settings-${name}`);
    }
    await walk.go('sync');
    await walk.see('sync');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: words.palette }).fill('security');
    await page.getByRole('listbox', { name: words.found }).getByRole('option').first().waitFor();
    await walk.see('palette');
  }
});

/** The largest node's first file of each kind, by extension. */
function kinds(homes: readonly Home[]): ReadonlyMap<string, { readonly node: NodeRef; readonly path: string }> {
  const files = homes.flatMap(({ node, paths }) => paths.toSorted().map((path) => ({ node, path })));
  return new Map(files.toReversed().map((file) => [extname(file.path).slice(1).toLowerCase() || 'none', file]));
}
