import {
  addDataSource,
  addResponsibility,
  connect,
  createActor,
  createGroup,
  createMirror,
  createNode,
  createToken,
  createUser,
  logEvent,
  type Node,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { heading, LANGUAGES, Site, TITLES } from './site.js';

/** What nothing breaks into lines by itself. */
const LONG = 'Donaudampfschifffahrt'.repeat(8);
/** A telephone, and a page of 1,440 pixels at 200 %. */
const WIDTHS = [390, 720] as const;
const VIEWS = ['overview', 'graph', 'workspace', 'settings', 'events', 'transfer', 'sync'] as const;
const PARTS = ['Detail', 'Files', 'Events', 'Sessions', 'History'] as const;

let site: Site;
let node: Node;
beforeAll(async () => {
  site = await Site.start();
  node = await fill();
});
afterAll(() => site?.[Symbol.asyncDispose]());

async function fill(): Promise<Node> {
  const { workspace } = site;
  const { id: organization_id } = await site.organization();
  const made = await workspace.call(createNode, { type: 'project', name: LONG, organization_id });
  const node_id = made.id;
  const other = await workspace.call(createNode, { type: 'project', name: `${LONG}2`, organization_id });
  const actor = await workspace.call(createActor, { type: 'automation', name: LONG });
  await workspace.call(connect, { source_id: node_id, target_id: other.id, relation: 'related_to' });
  await workspace.call(addResponsibility, { node_id, title: LONG, assignee_ids: [actor.id] });
  await workspace.call(addDataSource, { node_id, name: LONG, url: `https://example.org/${LONG}` });
  await workspace.call(logEvent, { node_id, kind: 'decision', content: LONG });
  await workspace.call(createUser, { name: LONG, email: `${LONG.slice(0, 60)}@example.org`, max_scope: 'read' });
  await workspace.call(createGroup, { name: LONG, claim: LONG });
  await workspace.call(createToken, { label: LONG.slice(0, 100), scope: 'read' });
  await workspace.call(createMirror, { node_id });
  return made;
}

/**
 * Runs in the page: what can be pressed or written into, and lies beyond the window or what cuts it off, where nothing scrolls
 * to it. Of a link, whose name may be cut, some has to be in sight.
 */
const BEYOND = `
  [...document.querySelectorAll('button, summary, a[href], input, select, textarea')].flatMap((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    if (!one.checkVisibility() || width <= 1 || one.closest('.tabs, .skip')) return [];
    let [from, to] = [0, innerWidth];
    for (let around = one.parentElement; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const box = around.getBoundingClientRect();
      [from, to] = [Math.max(from, box.left), Math.min(to, box.right)];
    }
    const seen = Math.min(right, to) - Math.max(left, from);
    const isOut = one.matches('a') ? seen < 24 : seen < width - 1;
    return isOut ? [(one.ariaLabel || one.textContent || one.type).slice(0, 40)] : [];
  })`;

const beyond = (page: Page): Promise<string[]> => page.evaluate<string[]>(BEYOND);

it.each(WIDTHS)('all that can be pressed lies within a window of %d pixels, in each view', async (width) => {
  const { context, page } = await site.visit('/overview', { width, height: 844, language: 'en' });
  for (const view of VIEWS) {
    await page.goto(`${site.workspace.url}/app/${view}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect([view, await beyond(page)]).toEqual([view, []]);
  }
  await context.close();
});

/** Runs in the page: what can be pressed or written into, and is not in sight wherever somebody scrolls. */
const OUT_OF_REACH = `
  [...document.querySelectorAll('button, summary, a[href], input, select, textarea')].flatMap((one) => {
    const target = one.getBoundingClientRect().width > 1 ? one : one.closest('label');
    if (!target?.checkVisibility({ visibilityProperty: true }) || one.closest('.skip')) return [];
    target.scrollIntoView({ block: 'center', inline: 'center' });
    const { left, right, top, bottom } = target.getBoundingClientRect();
    const middle = (from, to, size) => (Math.max(0, from) + Math.min(size, to)) / 2;
    const at = document.elementFromPoint(middle(left, right, innerWidth), middle(top, bottom, innerHeight));
    return target.contains(at) || at?.closest('label, a, button')?.contains(target) ? [] : [(one.ariaLabel || one.textContent || one.type).slice(0, 40)];
  })`;

it('everything is reached where a page of 1,280 by 1,024 pixels is magnified four times', async () => {
  const { context, page } = await site.visit('/overview', { width: 320, height: 256, language: 'en' });
  const expectReach = async (what: string) => {
    await page.waitForLoadState('networkidle');
    expect([what, await page.evaluate<string[]>(OUT_OF_REACH)]).toEqual([what, []]);
  };
  for (const view of VIEWS) {
    await page.goto(`${site.workspace.url}/app/${view}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectReach(view);
  }
  await page.goto(`${site.workspace.url}/app/graph?node=${node.id}`);
  for (const part of PARTS) {
    await page.getByRole('tab', { name: part }).click();
    await expectReach(part);
  }
  await context.close();
});

it.each(LANGUAGES)('each tab of a node is in sight in a window of 320 pixels (%s)', async (language) => {
  const { context, page } = await site.visit(`/graph?node=${node.id}`, { width: 320, height: 844, language });
  await page.getByRole('tab').first().waitFor();
  const beside = await page.evaluate<string[]>(`[...document.querySelectorAll('[role=tab]')].flatMap((tab) => {
    const { left, right } = tab.getBoundingClientRect();
    return left < 0 || right > innerWidth ? [tab.textContent] : [];
  })`);
  expect(beside).toEqual([]);
  await context.close();
});

it.each(WIDTHS)('a node with long names is worked on in a window of %d pixels, in each of its parts', async (width) => {
  const { context, page } = await site.visit(`/graph?node=${node.id}`, { width, height: 844, language: 'en' });
  for (const part of PARTS) {
    await page.getByRole('tab', { name: part }).click();
    await page.waitForLoadState('networkidle');
    expect([part, await beyond(page)]).toEqual([part, []]);
  }
  await page.goto(`${site.workspace.url}/app/graph`);
  await page.getByRole('button', { name: 'New node' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Create/ })
    .waitFor();
  expect(await beyond(page)).toEqual([]);
  await context.close();
});

it('what is chosen can be told where the system chooses the colours', async () => {
  const { context, page } = await site.visit(`/graph?node=${node.id}`, { language: 'en' });
  await page.emulateMedia({ forcedColors: 'active' });
  await heading(page, TITLES.en.graph);
  await page.getByRole('radiogroup', { name: 'Sharing' }).waitFor();
  /** How many backgrounds there are among some of which one is chosen. */
  const backgrounds = (selector: string) =>
    page.evaluate<number>(
      `new Set([...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).backgroundColor)).size`,
    );
  for (const selector of ['[role=radiogroup] > label', '[role=tab]', '.rail-item'])
    expect([selector, await backgrounds(selector)]).toEqual([selector, 2]);
  // Its number, too.
  await page.getByRole('tab', { name: 'Events' }).click();
  const colours = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[role=tab][aria-selected=true], [role=tab][aria-selected=true] *')].map((one) => getComputedStyle(one).color)`,
  );
  expect(colours.length).toBeGreaterThan(1);
  expect(new Set(colours).size).toBe(1);
  // What stands over the page has an edge, for its shadow is gone.
  const edge = () => page.evaluate('getComputedStyle(document.querySelector(".mantine-Modal-content")).borderStyle');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  expect(await edge()).toBe('solid');
  await context.close();
});
