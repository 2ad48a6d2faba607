import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMirror, createNode, deleteFile, listFiles, type Node, setAccess } from '@workspace-graph/contracts';
import type { Locator, Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { Agent } from './agent.js';
import { expectAccessible, LOOKS, Site, until, type Visit } from './site.js';

/** More than the list of a field shows at once. */
const MANY = 14;

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
  for (let index = 0; index < MANY; index++) await make(`Oven ${index}`);
});
afterAll(() => site?.[Symbol.asyncDispose]());

const make = (name: string): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name, organization_id: organization.id });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const boxOf = async (element: Locator) => {
  const box = await element.boundingBox();
  if (!box) throw new Error('It is not shown.');
  return box;
};
const colorOf = (element: Locator): Promise<string> =>
  element.evaluate((one: { computedStyleMap(): { get(name: string): unknown } }) =>
    String(one.computedStyleMap().get('color')),
  );

describe.each(LOOKS)('what opens only when it is asked for: $theme, $language', (look) => {
  const say = (en: string, cs: string) => (look.language === 'cs' ? cs : en);
  const detail = async ({ id, name }: Node): Promise<Visit> => {
    const visit = await site.visit(`/graph?node=${id}`, look);
    await visit.page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    return visit;
  };

  /** Its items are large enough, begin on one line and are of one colour, but for what ends something. */
  const expectMenu = async (page: Page, ends?: string) => {
    const items = page.getByRole('menuitem');
    await items.first().waitFor();
    const looks: { readonly x: number; readonly color: string; readonly isEnd: boolean }[] = [];
    for (const item of await items.all()) {
      const { height } = await boxOf(item);
      const { x } = await boxOf(item.locator('[data-menu-item-label]'));
      expect(height).toBeGreaterThanOrEqual(28);
      looks.push({ x, color: await colorOf(item), isEnd: (await item.textContent()) === ends });
    }
    expect(new Set(looks.map(({ x }) => x)).size).toBe(1);
    const [ordinary, ending] = [false, true].map((isEnd) => looks.filter((one) => one.isEnd === isEnd));
    const colors = new Set(ordinary?.map(({ color }) => color));
    expect(colors.size).toBe(1);
    expect(ending?.map(({ color }) => colors.has(color))).toEqual(ends === undefined ? [] : [false]);
    await expectAccessible(page);
  };

  it('menus of the account, a node and a session', async () => {
    const node = await make('With menus');
    await using agent = await Agent.connect(workspace, site.folder.token, node.id);
    const { context, page, faults } = await detail(node);
    await button(page, say('Your account', 'Váš účet')).click();
    await expectMenu(page);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await button(page, say('More', 'Další')).click();
    await expectMenu(page, say('Remove for good…', 'Odstranit nadobro…'));
    await page.goto(`${workspace.url}/app/workspace?session=${agent.session.id}`);
    await button(page, say('More for the session', 'Další pro relaci')).click();
    await expectMenu(page, say('Close for good…', 'Uzavřít…'));
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('a new edge, with more nodes to choose from than are shown at once', async () => {
    const { context, page, faults } = await detail(await make('With edges'));
    await button(page, say('Add edge', 'Přidat hranu')).click();
    const list = page.getByRole('listbox', { name: say('Find the other node', 'Najít druhý node') });
    await list.getByRole('option').nth(10).waitFor();
    expect(await list.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)).toBe(true);
    await expectAccessible(page);
    const direction = await boxOf(page.getByRole('radiogroup', { name: say('Direction', 'Směr') }));
    const relation = await boxOf(page.getByRole('combobox', { name: say('Relation', 'Vztah') }));
    const field = await boxOf(page.getByRole('combobox', { name: say('Find the other node', 'Najít druhý node') }));
    expect(relation.y).toBeLessThan(direction.y + direction.height);
    expect(relation.width).toBeGreaterThan(field.width / 3);
    await page.getByRole('radio', { name: say('from here', 'odsud') }).press('ArrowRight');
    expect(await page.getByRole('radio', { name: say('to here', 'sem') }).isChecked()).toBe(true);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('a new node, its types in one row', async () => {
    const { context, page, faults } = await site.visit('/graph', look);
    await button(page, say('New node', 'Nový node')).click();
    const types = page.getByRole('radiogroup', { name: say('Type', 'Typ') }).locator('label');
    await types.nth(4).waitFor();
    const tops = await Promise.all((await types.all()).map(async (one) => (await boxOf(one)).y));
    expect(new Set(tops).size).toBe(1);
    await expectAccessible(page);
    await button(page, say('Close', 'Zavřít')).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('the questions before a removal and before everybody sees a node', async () => {
    const node = await make('Asked about');
    await workspace.call(setAccess, { node_id: node.id, visibility: 'private', recipients: [], confirmed: true });
    const { context, page, faults } = await detail(node);
    await page.getByText(say('Everyone', 'Všichni'), { exact: true }).click();
    await page.getByRole('alertdialog', { name: say('Make it visible to everyone?', 'Zviditelnit všem?') }).waitFor();
    await expectAccessible(page);
    await button(page, say('More', 'Další')).click();
    await page.getByRole('menuitem', { name: say('Remove for good…', 'Odstranit nadobro…') }).click();
    await page.getByRole('alertdialog').locator('input:focus').waitFor();
    await expectAccessible(page);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('the form of an event and the trash', async () => {
    const node = await make('With a trash');
    const { local_path } = await workspace.call(createMirror, { node_id: node.id });
    writeFileSync(join(local_path ?? '', 'wip', 'old.md'), 'kept');
    const file = async () => (await workspace.call(listFiles, { node_id: node.id })).items[0]?.id ?? '';
    await until('the file is tracked', async () => (await file()) !== '');
    await workspace.call(deleteFile, { node_id: node.id, file_id: await file(), confirmed: true });
    const { context, page, faults } = await detail(node);
    await page.getByRole('tab', { name: say('Events', 'Události') }).click();
    await button(page, say('Log event', 'Zapsat událost')).click();
    await page.locator('textarea:focus').waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: say('Files', 'Soubory') }).click();
    await button(page, say('Trash', 'Koš')).click();
    await page.getByText('wip/old.md').waitFor();
    await expectAccessible(page);
    expect(faults.list).toEqual([]);
    await context.close();
  });
});
