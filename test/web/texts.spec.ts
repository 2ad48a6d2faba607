import {
  addDataSource,
  addResponsibility,
  addTool,
  connect,
  createActor,
  createGroup,
  createNode,
  createToken,
  createUser,
  getNode,
  logEvent,
  type Node,
  resolveEvent,
  updateNode,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { MARKDOWN_PAYLOADS, NAMES, PAYLOADS } from './payloads.js';
import { Site, say, until } from './site.js';

const EACH = [...PAYLOADS, ...MARKDOWN_PAYLOADS, ...NAMES];
/** By themselves; out of an attribute; out of a comment, a script and a title, with what texts of the page are put together by. */
const TEXTS = [
  ...EACH,
  ...EACH.map((text) => `"'>${text}`),
  ...EACH.map((text) => `--></script></title>${text} $t(edit.save) {{name}}`),
];
/** What names may be. */
const SHORT = TEXTS.filter((text) => text.length <= 180 && !/[\n\t]/.test(text));
const NAMED = 30;

let workspace: RunningWorkspace;
let site: Site;
let node: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  node = await fill();
});
afterAll(() => site?.[Symbol.asyncDispose]());

/** A node with every text in every kind of field that takes it, and what else can be named. */
async function fill(): Promise<Node> {
  const organization = await workspace.call(createNode, { type: 'organization', name: SHORT[0] ?? '' });
  const make = (name: string): Promise<Node> =>
    workspace.call(createNode, { type: 'project', name, organization_id: organization.id });
  const made = await make('Hostile');
  const node_id = made.id;
  const actor = await workspace.call(createActor, { type: 'automation', name: SHORT[1] ?? '' });
  for (const [row, name] of SHORT.slice(0, NAMED).entries()) {
    const neighbour = await make(name);
    await workspace.call(connect, { source_id: node_id, target_id: neighbour.id, relation: 'related_to' });
    await workspace.call(addResponsibility, { node_id, title: name, description: name, assignee_ids: [actor.id] });
    await workspace.call(addDataSource, { node_id, name });
    await workspace.call(addTool, { node_id, name, url: `https://example.org/#${name.replaceAll(' ', '')}` });
    await workspace.call(createActor, { type: 'automation', name: `${name} ${row}` });
    await workspace.call(createGroup, { name, claim: name });
    await workspace.call(createUser, { name, max_scope: 'read' });
    await workspace.call(createToken, { label: name, scope: 'read' });
  }
  for (const content of TEXTS) {
    const event = await workspace.call(logEvent, { node_id, kind: 'note', content });
    if (content.startsWith('"')) await workspace.call(resolveEvent, { event_id: event.id, resolution: content });
  }
  const { version } = await workspace.call(getNode, { node_id });
  const texts = { description: TEXTS.join('\n'), goal: TEXTS.toReversed().join('\n'), health_note: SHORT.join(' ') };
  await workspace.call(updateNode, { node_id, ...texts, health: 'at_risk', expected_version: version });
  return made;
}

/** What somebody reads there, without regard to where lines are broken. */
const read = (page: Page): Promise<string> => page.evaluate<string>(`document.body.innerText.replace(/\\s+/g, ' ')`);
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();

async function expectShown(page: Page, texts: readonly string[]): Promise<void> {
  const missing = async () => {
    const shown = await read(page);
    return texts.map(plain).filter((text) => !shown.includes(text));
  };
  await until('every text is shown as it was written', async () => (await missing()).length === 0).catch(async () =>
    expect(await missing()).toEqual([]),
  );
}

it('200 texts that try to run are texts in every field, and run nowhere', async () => {
  expect(new Set(TEXTS).size).toBeGreaterThan(200);
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('heading', { level: 2, name: 'Hostile' }).waitFor();
  await expectShown(page, [...TEXTS, ...SHORT.slice(0, NAMED)]);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page
    .getByText('Course')
    .or(page.getByText(plain(TEXTS.at(-1) ?? '')))
    .first()
    .waitFor();
  // Looked for and pressed at once: it is gone when the last ones have come.
  const press = `(() => {
    const found = [...document.querySelectorAll('button')].find(({ innerText }) => innerText === '${say('Older events')}');
    found?.click();
    return found === undefined;
  })()`;
  await until('the last event is there', () => page.evaluate<boolean>(press));
  await expectShown(page, TEXTS);
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('tabpanel').getByRole('listitem').first().waitFor();
  await page.getByRole('tab', { name: 'Detail' }).click();
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('[role=combobox]:focus').fill(SHORT[2] ?? '');
  await page.getByRole('listbox', { name: 'Found' }).getByRole('option').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'New nodes' }).waitFor();
  await expectShown(page, SHORT.slice(NAMED - 20, NAMED));
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'Actors' }).waitFor();
  await expectShown(page, SHORT.slice(NAMED - 5, NAMED));
  expect(await page.evaluate('globalThis.__xss')).toBeUndefined();
  expect([dialogs, faults.list]).toEqual([[], []]);
  await context.close();
});
