import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS, listFiles, type Node } from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { NodeFolders } from './node-folders.js';
import { Site, say, until } from './site.js';

/** Beyond what a page of an answer has where nothing is asked for. */
const MANY = LIMITS.filesDefault + 100;

let site: Site;
let folders: NodeFolders;
beforeAll(async () => {
  site = await Site.start();
  folders = await NodeFolders.in(site.workspace);
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** Files one after the other into two folders, the first half of them into the first one. */
function write(folder: string, from: number, to: number): void {
  for (const name of ['first', 'second']) mkdirSync(join(folder, 'wip', name), { recursive: true });
  for (let i = from; i < to; i++)
    writeFileSync(join(folder, 'wip', i < MANY / 2 ? 'first' : 'second', `file ${i}.md`), `${i}`);
}

async function known({ id }: Node, count: number): Promise<void> {
  const input = { node_id: id, limit: LIMITS.filesMax };
  await until(`${count} files are known`, async () => {
    const { items, next_cursor } = await site.workspace.call(listFiles, input);
    return next_cursor === null && items.length === count;
  });
}

const count = (page: Page, folder: string) => page.locator(`[data-folder="${folder}"] > .tree .count`);

it('of many files each folder is there with its number, and one more asks for no other page', async () => {
  const { node, folder } = await folders.make();
  write(folder, 0, MANY);
  await known(node, MANY);
  const { context, page } = await site.visit(`/graph?node=${node.id}`);
  const asked: string[] = [];
  page.on('request', (request) => /\/files\?/.test(request.url()) && asked.push(request.url()));
  await page.getByRole('tab', { name: 'Files' }).click();
  await count(page, 'wip').waitFor();
  const counts = ['wip', 'wip/first', 'wip/second'].map((one) => count(page, one).textContent());
  expect(await Promise.all(counts)).toEqual([`${MANY}`, `${MANY / 2}`, `${MANY / 2}`]);
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  writeFileSync(join(folder, 'wip', 'one more.md'), 'new');
  await page.getByRole('link', { name: 'one more.md' }).waitFor();
  expect(await count(page, 'wip').textContent()).toBe(`${MANY + 1}`);
  expect(asked.filter((url) => url.includes('cursor='))).toEqual([]);
  await context.close();
});

it('where not all files are shown, numbers say that there are more', async () => {
  const { node, folder } = await folders.make();
  write(folder, 0, 6);
  await known(node, 6);
  const { context, page } = await site.visit(`/graph?node=${node.id}`);
  // A node with as many files as no answer has takes long to make: here an answer has four.
  await page.route(/\/files\?/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=4'),
    }),
  );
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByText('There are more, also in folders that are not shown yet.').waitFor();
  expect(await count(page, 'wip').textContent()).toBe('4+');
  expect(await count(page, 'wip').getAttribute('title')).toBe(
    say('At least 4 files: not all files are shown yet', 'Nejméně 4 soubory: všechny soubory ještě nejsou vidět'),
  );
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('link', { name: 'file 0.md' }).waitFor();
  expect(await count(page, 'wip').textContent()).toBe('6');
  await context.close();
});
