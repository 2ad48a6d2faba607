import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { NodeFolders } from './node-folders.js';
import { Site, until } from './site.js';

let site: Site;
let folders: NodeFolders;
let outside: string;
beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'dropped-'));
  site = await Site.start();
  folders = await NodeFolders.in(site.workspace);
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  rmSync(outside, { recursive: true, force: true });
});

/** Drops what lies on this machine, as a person does with the mouse. */
async function drop(page: Page, paths: readonly string[]): Promise<void> {
  const box = await page.locator('.files').boundingBox();
  const at = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 20 };
  const browser = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await browser.send('Input.dispatchDragEvent', {
      type,
      ...at,
      data: { items: [], files: [...paths], dragOperationsMask: 1 },
    });
  await browser.detach();
}

it('a folder that is dropped is taken in with what lies in its folders; an empty one is said to be', async () => {
  const { node, folder } = await folders.make();
  const letters = join(outside, 'Dopisy');
  mkdirSync(join(letters, '2026', 'leden'), { recursive: true });
  mkdirSync(join(outside, 'Empty'));
  writeFileSync(join(outside, 'beside.txt'), 'beside');
  writeFileSync(join(letters, 'first.txt'), 'first');
  writeFileSync(join(letters, '.DS_Store'), 'litter');
  // More than browsers list at once.
  for (let each = 0; each < 120; each++) writeFileSync(join(letters, '2026', 'leden', `${each}.txt`), `${each}`);
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('button', { name: 'New file', exact: true }).waitFor();
  await drop(page, [letters, join(outside, 'beside.txt')]);
  await page.getByText(/^and \d+ more files?$/).waitFor();
  const onTheirWay = page.getByRole('list', { name: 'Files on their way' }).getByRole('listitem');
  await page.getByRole('link', { name: 'beside.txt', exact: true }).waitFor();
  await until('all have arrived', async () => (await onTheirWay.count()) === 0);
  await page.getByRole('link', { name: '119.txt', exact: true }).waitFor();
  expect(readdirSync(join(folder, 'wip')).sort()).toEqual(['Dopisy', 'beside.txt']);
  expect(readdirSync(join(folder, 'wip/Dopisy')).sort()).toEqual(['2026', 'first.txt']);
  expect(readdirSync(join(folder, 'wip/Dopisy/2026/leden'))).toHaveLength(120);
  expect(readFileSync(join(folder, 'wip/Dopisy/2026/leden/7.txt'), 'utf8')).toBe('7');
  await drop(page, [join(outside, 'Empty')]);
  await page.getByRole('alert').getByText('There is no file in what was dropped.').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});
