import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, createGroup, listFiles, logEvent, type Node } from '@workspace-graph/contracts';
import type { Locator, Page } from 'playwright-core';
import { Agent } from './agent.js';
import { NodeFolders } from './node-folders.js';
import { Site, until } from './site.js';

let site: Site;
let node: Node;
let agent: Agent;
beforeAll(async () => {
  site = await Site.start();
  const { workspace } = site;
  const folders = await NodeFolders.in(workspace);
  const { node: made, folder } = await folders.make();
  node = made;
  const { node: other } = await folders.make();
  await workspace.call(connect, { source_id: node.id, target_id: other.id, relation: 'related_to' });
  for (let at = 0; at < 12; at++) {
    writeFileSync(join(folder, `wip/plan ${at}.md`), '# Plan\n\nWords.\n');
    await workspace.call(logEvent, { node_id: node.id, kind: 'note', content: `Note ${at}` });
  }
  await workspace.call(createGroup, { name: 'Bakers' });
  agent = await Agent.connect(workspace, site.folder.token, node.id);
  await agent.say('Kneading');
  const count = async () => (await workspace.call(listFiles, { node_id: node.id })).items.length;
  await until('the files are known', async () => (await count()) === 12);
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

interface List {
  readonly list: string;
  /** Below `/app`; the address of the node is that of its detail. */
  readonly path: string | ((node: Node, agent: Agent) => string);
  /** Requests whose answers are kept back. */
  readonly kept: RegExp;
  /** How many places say that they wait; one where it is absent. */
  readonly places?: number;
  /** Of the detail. */
  readonly tab?: string;
  /** What is there then. */
  readonly content: (page: Page) => Locator;
}

/** So that all of the settings is in sight. */
const TALL_PX = 3000;
const ofNode = ({ id }: Node): string => `/graph?node=${id}`;
const region = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
const LISTS: readonly List[] = [
  {
    list: 'the cards of the overview',
    path: '/overview',
    kept: /^\/overview$/,
    content: (page) => region(page, 'New nodes').getByRole('link', { name: 'Node 1' }),
  },
  {
    list: 'the filters and the drawing of the graph',
    path: '/graph',
    kept: /^\/graph$/,
    places: 2,
    content: (page) => page.getByRole('application'),
  },
  {
    list: 'the detail of a node',
    path: ofNode,
    kept: /^\/nodes\/[^/]+$/,
    content: (page) => page.getByRole('heading', { level: 2, name: 'Node 1' }),
  },
  {
    list: 'the sharing of a node',
    path: ofNode,
    kept: /\/access$/,
    content: (page) => region(page, 'Sharing').getByRole('radiogroup'),
  },
  {
    list: 'the files of a node',
    path: ofNode,
    kept: /\/files$/,
    tab: 'files',
    content: (page) => page.getByRole('link', { name: 'plan 11.md' }),
  },
  {
    list: 'the events of a node',
    path: ofNode,
    kept: /^\/events$/,
    tab: 'events',
    content: (page) => page.getByText('Note 11'),
  },
  {
    list: 'the sessions of a node',
    path: ofNode,
    kept: /\/sessions$/,
    tab: 'sessions',
    content: (page) => page.locator('.session'),
  },
  {
    list: 'the history of a node',
    path: ofNode,
    kept: /^\/audit$/,
    tab: 'history',
    content: (page) => page.getByRole('list', { name: 'Changes of this node' }).getByRole('listitem').first(),
  },
  {
    list: 'the code of the history',
    path: ofNode,
    kept: /\/history-[^/]+\.js$/,
    tab: 'history',
    content: (page) => page.getByRole('list', { name: 'Changes of this node' }).getByRole('listitem').first(),
  },
  {
    list: 'a file',
    path: ({ id }) => `/graph?node=${id}&file=${encodeURIComponent('wip/plan 3.md')}`,
    kept: /\/file$/,
    content: (page) => page.getByRole('heading', { name: 'Plan', exact: true }),
  },
  {
    list: 'the code of the preview',
    path: ({ id }) => `/graph?node=${id}&file=${encodeURIComponent('wip/plan 3.md')}`,
    kept: /\/markdown-view-[^/]+\.js$/,
    content: (page) => page.getByRole('heading', { name: 'Plan', exact: true }),
  },
  {
    list: 'the sessions of the workspace',
    path: '/workspace',
    kept: /^\/sessions$/,
    content: (page) => page.getByText('No session is open'),
  },
  {
    list: 'a session',
    path: (_node, { session }) => `/workspace?session=${session.id}`,
    kept: /^\/sessions\/[^/]+$/,
    content: (page) => page.getByText('Kneading'),
  },
  {
    list: 'the log of a session',
    path: (_node, { session }) => `/workspace?session=${session.id}`,
    kept: /^\/sessions\/[^/]+\/events$/,
    content: (page) => page.getByText('Kneading'),
  },
  {
    list: 'the tokens',
    path: '/settings',
    kept: /^\/tokens$/,
    content: (page) => region(page, 'Tokens').getByRole('listitem').first(),
  },
  {
    list: 'people',
    path: '/settings',
    kept: /^\/users$/,
    content: (page) => region(page, 'People').getByRole('listitem').first(),
  },
  {
    list: 'groups',
    path: '/settings',
    kept: /^\/groups$/,
    content: (page) => region(page, 'Groups').getByRole('button', { name: 'Bakers' }),
  },
  {
    list: 'actors',
    path: '/settings',
    kept: /^\/actors$/,
    content: (page) => region(page, 'Actors').getByText('There is no actor yet'),
  },
  {
    list: 'the runners',
    path: '/settings',
    kept: /^\/runners$/,
    content: (page) => region(page, 'Devices').getByRole('heading'),
  },
];

it.each(LISTS)('$list: ghosts while there is no answer, and nothing moves when it comes', async (given) => {
  const { path, kept, places = 1, tab, content } = given;
  const { context, page, faults } = await site.visit('/sync', { height: TALL_PX });
  await page.evaluate((value) => sessionStorage.setItem('svc:node.tab', JSON.stringify(value)), tab ?? 'detail');
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await page.route(
    ({ pathname }) => kept.test(pathname),
    async (route) => {
      await answered;
      await route.continue();
    },
  );
  await page.goto(`${site.workspace.url}/app${typeof path === 'string' ? path : path(node, agent)}`);
  const ghosts = page.locator('.ghosts');
  const waiting = page.getByRole('status', { name: /Loading|being (loaded|read)/ });
  await until('only what is asked for waits', async () => (await waiting.count()) === places);
  await ghosts.first().waitFor();
  expect(await page.evaluate("getComputedStyle(document.querySelector('.ghosts')).animationDelay")).toBe('0.15s');
  expect(await content(page).count()).toBe(0);
  answer();
  await content(page).waitFor();
  await until('no place waits', async () => (await ghosts.count()) === 0);
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
  await context.close();
});
