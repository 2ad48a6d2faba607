import { createNode, type Node } from '@workspace-graph/contracts';
import type { Locator, Page } from 'playwright-core';
import { Agent } from './agent.js';
import { Site, until } from './site.js';

const LINES = 120;
const EVENTS = 60;
const LISTED = 60;

let site: Site;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** What a browser does before it makes pages of paper. */
async function toPaper(page: Page): Promise<void> {
  await page.keyboard.press('Shift');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
}

/** What is cut off, by its classes. */
const CUT = `[...document.querySelectorAll('body, body *')]
  .filter((one) => getComputedStyle(one).overflowY !== 'visible' && one.clientHeight > 1 && one.scrollHeight > one.clientHeight + 1)
  .map((one) => one.className)`;

/** Whether the pages of paper go on to it, and nothing is cut off. */
async function expectWhole(page: Page, last: Locator): Promise<void> {
  expect(await page.evaluate(CUT)).toEqual([]);
  const { y = 0, height = 0 } = (await last.boundingBox()) ?? {};
  const [whole = 0, seen = 0] = await page.evaluate<number[]>('[document.documentElement.scrollHeight, innerHeight]');
  expect(y + height).toBeGreaterThan(seen);
  expect(whole).toBeGreaterThanOrEqual(y + height);
}

const background = (page: Page): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.body).getPropertyValue('--svc-surface').trim()`);

it('a node is printed whole and light, without what stands beside it', async () => {
  const description = Array.from({ length: LINES }, (_, index) => `Line ${index} of the description`).join('\n\n');
  const node = await site.workspace.call(createNode, {
    type: 'project',
    name: 'Printed',
    description,
    organization_id: organization.id,
  });
  const { context, page } = await site.visit(`/graph?node=${node.id}`, { theme: 'dark' });
  const last = page.getByText(`Line ${LINES - 1} of the description`);
  await last.waitFor();
  await toPaper(page);
  await until('the frame is gone', async () => !(await page.getByRole('heading', { level: 1 }).isVisible()));
  await expectWhole(page, last);
  expect(await background(page)).toMatch(/^#f{3}(f{3})?$/);
  expect(await page.getByRole('button', { name: 'Close', exact: true }).isVisible()).toBe(false);
  await context.close();
});

it('the list of the graph is printed with every node, and the drawing on a sheet of its own', async () => {
  const make = (_: unknown, index: number) =>
    site.workspace.call(createNode, { type: 'area', name: `Area ${index}`, organization_id: organization.id });
  await Promise.all(Array.from({ length: LISTED }, make));
  const { context, page } = await site.visit('/graph', { height: 500 });
  const drawing = page.getByRole('region', { name: 'Drawing of the graph' });
  await drawing.waitFor();
  await toPaper(page);
  expect((await drawing.boundingBox())?.height).toBeGreaterThan(400);
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await page.getByRole('button', { name: 'List', exact: true }).click();
  const rows = page.locator('[role=option]', { hasText: /Area \d/ });
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(LISTED);
  await toPaper(page);
  await until('each has its row', async () => (await rows.count()) === LISTED);
  await expectWhole(page, rows.last());
  await context.close();
});

it('the log of a session is printed as far as it has been read, one event below the other', async () => {
  const node = await site.workspace.call(createNode, {
    type: 'project',
    name: 'Logged',
    organization_id: organization.id,
  });
  await using agent = await Agent.connect(site.workspace, site.folder.token, node.id);
  for (let index = 0; index < EVENTS; index++) await agent.say(`Step ${index} is done`);
  const { context, page } = await site.visit(`/workspace?session=${agent.session.id}`, { theme: 'dark', height: 500 });
  await page.getByText(`Step ${EVENTS - 1} is done`).waitFor();
  expect(await page.getByText('Step 0 is done').count()).toBe(0);
  await toPaper(page);
  const first = page.getByText('Step 0 is done');
  await first.waitFor();
  const places = await Promise.all(
    Array.from(
      { length: EVENTS },
      async (_, index) => (await page.getByText(`Step ${index} is done`).boundingBox())?.y,
    ),
  );
  expect(places).toEqual([...places].sort((a, b) => (a ?? 0) - (b ?? 0)));
  expect(new Set(places).size).toBe(EVENTS);
  await expectWhole(page, page.getByText(`Step ${EVENTS - 1} is done`));
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await until('only what is in sight is there again', async () => (await first.count()) === 0);
  await page.getByText(`Step ${EVENTS - 1} is done`).waitFor();
  await context.close();
});
