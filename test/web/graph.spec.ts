import {
  createNode,
  createToken,
  createUser,
  getNode,
  getSnapshot,
  type Node,
  updateNode,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { expectAccessible, heading, LOOKS, Site, say, TITLES, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  await site.folder.svc(['demo']);
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const pane = (page: Page, name: string) => page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
const options = (page: Page) => page.getByRole('listbox').getByRole('option');
const node = (name: string, more: object = {}): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name, organization_id: organization.id, ...more });

/** What is pressed and looked at, in both languages. */
const WORDS = {
  en: {
    find: 'Find a node by name',
    tabs: ['Events', 'Sessions', 'Detail'],
    forms: ['Edit: Description', 'Add edge', 'Add responsibility', 'Add data source'],
    more: 'More',
    purge: 'Remove for good…',
    list: 'List',
  },
  cs: {
    find: 'Hledat node podle názvu',
    tabs: ['Události', 'Relace', 'Detail'],
    forms: ['Upravit: Popis', 'Přidat hranu', 'Přidat odpovědnost', 'Přidat zdroj'],
    more: 'Další',
    purge: 'Odstranit nadobro…',
    list: 'Seznam',
  },
} as const;

it.each(LOOKS)(
  'drawing, list and every part of a node are accessible: $theme, $language',
  async ({ theme, language }) => {
    const words = WORDS[language];
    const { context, page, faults } = await site.visit('/graph', { language, theme });
    await heading(page, TITLES[language].graph);
    await page.getByRole('combobox', { name: words.find }).fill('second OVEN');
    await page.getByRole('option', { name: 'Second oven' }).click();
    await pane(page, 'Second oven');
    await expectAccessible(page);
    for (const tab of words.tabs) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      await expectAccessible(page);
    }
    for (const form of words.forms) await page.getByRole('button', { name: form }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: words.more, exact: true }).click();
    await page.getByRole('menuitem', { name: words.purge }).click();
    await page.getByRole('alertdialog').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: words.list, exact: true }).click();
    await options(page).first().waitFor();
    await expectAccessible(page);
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);
    await context.close();
  },
);

/** Where each node is drawn, by its id; null: nowhere yet. */
async function places(): Promise<ReadonlyMap<string, string | null>> {
  const answer = await workspace.call(getSnapshot, {});
  if (!('nodes' in answer)) throw new Error('The whole graph was asked for.');
  const { id, x, y } = answer.nodes;
  return new Map(id.map((one, row) => [one, x[row] === null ? null : `${x[row]} ${y[row]}`]));
}
/** Edges without those by which nodes are of the organization that they belong to through others. */
const edgesThatTell = async () => {
  const answer = await workspace.call(getSnapshot, {});
  if ('unchanged' in answer) throw new Error('nothing was known before');
  const { edges, relations, types, nodes } = answer;
  const all = Array.from({ length: edges.length / 3 }, (_, row) => edges.slice(row * 3, row * 3 + 3));
  const memberships = all.filter(([, , relation = -1]) => relations[relation] === 'belongs_to');
  const isOrganization = (row = -1) => types[nodes.type[row] ?? -1] === 'organization';
  const within = new Set(memberships.filter(([, to]) => !isOrganization(to)).map(([from]) => from));
  const implied = memberships.filter(([from, to]) => isOrganization(to) && within.has(from));
  expect(implied.length).toBeGreaterThan(0);
  return all.length - implied.length;
};
const allPlaced = async () => [...(await places()).values()].every((place) => place !== null);

it('nodes are placed once, for everybody, and stay where they are when others come', async () => {
  const { context, page, faults } = await site.visit('/graph');
  await page.getByRole('application', { name: /Drawing of/ }).waitFor();
  await until('every node has its place', allPlaced);
  const drawing = page.locator('[role=application][data-edges]');
  await drawing.waitFor();
  expect(Number(await drawing.getAttribute('data-edges'))).toBe(await edgesThatTell());
  const before = await places();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.reload();
  await page.getByRole('application', { name: /Drawing of/ }).waitFor();
  const late = await node('Late comer');
  await until('the new one has its place', async () => (await places()).get(late.id) !== null);
  const after = await places();
  for (const [id, place] of before) expect([id, after.get(id)]).toEqual([id, place]);
  // Once, for the one that had none.
  expect(asked.filter((request) => request === 'PUT /graph/positions')).toHaveLength(1);
  expect(faults.list).toEqual([]);
  await context.close();
});

/** A name as it was drawn, in pixels of the drawing. */
interface DrawnName {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}
/** Runs in the page, before anything of it: notes the names that are drawn. */
const NOTE_NAMES = `
  globalThis.names = [];
  const drawing = CanvasRenderingContext2D.prototype;
  const { clearRect, fillText } = drawing;
  const isOfNames = ({ canvas }) => canvas.classList?.contains('sigma-labels');
  drawing.clearRect = function (...box) {
    if (isOfNames(this)) names = [];
    clearRect.apply(this, box);
  };
  drawing.fillText = function (text, x, y) {
    const size = this.measureText(text);
    const [left, right] = [x - size.actualBoundingBoxLeft, x + size.actualBoundingBoxRight];
    const [top, bottom] = [y - size.actualBoundingBoxAscent, y + size.actualBoundingBoxDescent];
    if (isOfNames(this)) names.push({ text, left, top, right, bottom });
    fillText.call(this, text, x, y);
  };`;

/** Names behind which a picture of the nodes alone shows one; the picture itself shows some. */
async function namesOverNodes(page: Page): Promise<string[]> {
  const nodesAlone = `for (const one of document.querySelectorAll('.gcanvas canvas:not(.sigma-nodes), .gtools'))
    one.style.visibility = 'hidden'`;
  await page.evaluate(nodesAlone);
  const picture = (await page.getByRole('application').screenshot()).toString('base64');
  return page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${picture}'), (character) => character.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const isNodeIn = ({ left, top, right, bottom }) => {
      const [x, y] = [Math.ceil(left), Math.ceil(top)];
      const { data } = context.getImageData(x, y, Math.floor(right) - x, Math.floor(bottom) - y);
      return data.some((part, at) => part !== data[at % 4]);
    };
    if (!isNodeIn({ left: 0, top: 0, right: picture.width, bottom: picture.height })) return ['nothing is drawn'];
    return names.filter(isNodeIn).map(({ text }) => text);
  })()`);
}

it.each([
  { where: 'in the whole width', width: 1440, isSelected: false },
  { where: 'beside the detail in a narrow window', width: 1024, isSelected: true },
])(
  '$where, names are over no other name and over no node, and few nodes have theirs without being selected',
  async ({ width, isSelected }) => {
    const { context, page, faults } = await site.visit(isSelected ? `/graph?node=${organization.id}` : '/graph', {
      width,
    });
    await until('every node has its place', allPlaced);
    await page.addInitScript(NOTE_NAMES);
    await page.reload();
    await page.locator('[role=application][data-edges]').waitFor();
    const names = await page.evaluate<readonly DrawnName[]>('names');
    if (isSelected) await pane(page, organization.name);
    // An area, a process, a principle and a project, which is the smallest.
    for (const type of ['Bakehouse', 'Daily baking', 'Open books', 'Third cargo bike'])
      expect(names.map(({ text }) => text)).toContain(type);
    const isOver = (a: DrawnName, b: DrawnName) =>
      a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const pairs = names.flatMap((a, index) => names.slice(index + 1).map((b) => [a, b] as const));
    expect(pairs.filter(([a, b]) => isOver(a, b))).toEqual([]);
    expect(await namesOverNodes(page)).toEqual([]);
    expect(faults.list).toEqual([]);
    await context.close();
  },
);

it('a node that is dragged stays there, for everybody', async () => {
  const lone = await workspace.call(createNode, { type: 'organization', name: 'Dragged' });
  const { context, page, faults } = await site.visit(`/graph?node=${lone.id}`);
  await pane(page, 'Dragged');
  await until('it has its place', async () => (await places()).get(lone.id) !== null);
  const before = (await places()).get(lone.id);
  // With the filters of the other organizations off it is alone, in the middle.
  for (const name of ['Linden Bakery', 'Kolonáda']) {
    const box = page.getByRole('checkbox', { name: new RegExp(name) });
    if ((await box.count()) > 0) await box.uncheck();
  }
  await page.getByRole('button', { name: 'Whole graph (0)' }).click();
  const canvas = await page.getByRole('application').boundingBox();
  if (!canvas) throw new Error('Nothing is drawn.');
  const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 2];
  await until('it was dragged', async () => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 60, { steps: 4 });
    await page.mouse.up();
    return (await places()).get(lone.id) !== before;
  });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the list says what each node belongs to, under headings', async () => {
  const area = await node('Listed area', { type: 'area' });
  await node('Listed project', { parent_ids: [area.id] });
  const { context, page, faults } = await site.visit('/graph');
  await page.getByRole('button', { name: 'List', exact: true }).click();
  expect(await page.locator('.titles > .cut').allTextContents()).toEqual([
    say('Name', 'Název'),
    ...['Belongs to', 'Lifecycle', 'Edges'].map((one) => say(one)),
  ]);
  const project = options(page).filter({ hasText: 'Listed project' });
  await project.getByText('Listed area').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('Enter in the list opens the node that somebody has gone to, also where others were made meanwhile', async () => {
  const { context, page, faults } = await site.visit('/graph');
  await page.keyboard.press('l');
  await page.getByRole('listbox').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  const name = (await page.locator('.trow.active .med').textContent()) ?? '';
  await node('  1st of all');
  await options(page).filter({ hasText: '1st of all' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Detail of the node' }).getByRole('heading', { level: 2 }).waitFor();
  await pane(page, name);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('filters, search and the list tell of the same nodes, and the keyboard does all of it', async () => {
  const { context, page, faults } = await site.visit('/graph');
  await page.keyboard.press('l');
  await options(page).first().waitFor();
  const count = () => page.getByRole('listbox').getByRole('option').first().getAttribute('aria-setsize');
  const all = Number(await count());
  expect(all).toBe((await places()).size);
  // How many there are stands at one place, and what resets the filters only where they hide something.
  const extent = page.getByText(`${all} nodes`);
  await extent.waitFor();
  expect(await extent.count()).toBe(1);
  const filters = page.getByRole('complementary', { name: 'Filters' });
  expect(await filters.getByRole('button', { name: 'Reset filters' }).count()).toBe(0);
  await page.getByRole('checkbox', { name: /^Project/ }).uncheck();
  await until('projects are left out', async () => Number(await count()) < all);
  const left = await count();
  await page.getByRole('status').getByText(`${left} of ${all} nodes`).waitFor();
  // What is left out is found nevertheless.
  await page.keyboard.press('/');
  await page.keyboard.type('SECOND ov');
  await page.locator('[data-combobox-selected]', { hasText: 'Second oven' }).waitFor();
  await page.keyboard.press('Enter');
  await pane(page, 'Second oven');
  expect(new URL(page.url()).searchParams.get('node')).toMatch(/^[0-9a-f-]{36}$/);
  await page.getByRole('checkbox', { name: /^Project/ }).check();
  await page.getByRole('listbox').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const last = page.getByRole('listbox', { name: 'Nodes of the graph' }).getByRole('option', { selected: true });
  await last.waitFor();
  expect(await last.getAttribute('aria-posinset')).toBe(String(all));
  await page.keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Detail of the node' }).waitFor({ state: 'hidden' });
  expect(new URL(page.url()).searchParams.has('node')).toBe(false);
  for (const name of ['Organization', 'Area', 'Process', 'Project', 'Principle'])
    await page
      .getByRole('group', { name: 'Type' })
      .getByRole('checkbox', { name: new RegExp(`^${name}`) })
      .uncheck();
  await page.getByText(/The filters hide/).waitFor();
  await filters.getByRole('button', { name: 'Reset filters' }).click();
  await options(page).first().waitFor();
  expect(await filters.getByRole('button', { name: 'Reset filters' }).count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what changes elsewhere is shown, without asking for it again and again', async () => {
  const changing = await node('Before');
  const { context, page, faults } = await site.visit(`/graph?node=${changing.id}`);
  await pane(page, 'Before');
  await page.keyboard.press('l');
  await page.getByRole('option', { name: /Before/ }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await workspace.call(updateNode, { node_id: changing.id, name: 'After', description: 'Told at once' });
  await pane(page, 'After');
  await page.getByText('Told at once').waitFor();
  await page.getByRole('option', { name: /After/ }).waitFor();
  // One round for one change: the graph's difference, the node and its sharing; and the one with which the channel begins,
  // where it was slow to open.
  const round = ['/graph', `/nodes/${changing.id}`, `/nodes/${changing.id}/access`];
  expect([...new Set(asked)].sort()).toEqual(round);
  for (const path of round) expect(asked.filter((one) => one === path).length).toBeLessThanOrEqual(2);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a workspace that is away is told, and what changed meanwhile is shown when it is back', async () => {
  const changing = await node('While away');
  const { context, page } = await site.visit(`/graph?node=${changing.id}`);
  await pane(page, 'While away');
  // The channel breaks and is not made again until the change has happened.
  let isCut = true;
  await page.routeWebSocket('**/sessions/ws', (socket) =>
    isCut ? void socket.close() : void socket.connectToServer(),
  );
  await page.reload();
  await pane(page, 'While away');
  await page.getByText('The connection is lost').waitFor();
  await workspace.call(updateNode, { node_id: changing.id, name: 'Back again' });
  isCut = false;
  await page.getByText('The connection is lost').waitFor({ state: 'hidden' });
  await pane(page, 'Back again');
  await context.close();
});

it('a hidden node exists nowhere: not on the page, not in what is sent to it; it can be asked for', async () => {
  const secret = await node('Tajemství', { visibility: 'private' });
  const reader = await workspace.call(createUser, { name: 'Reader' });
  const { secret: token } = await workspace.call(createToken, { user_id: reader.id, label: 'page', scope: 'read' });
  const { context, page, faults } = await site.open();
  faults.allow(/^404 .*\/nodes\//);
  const sent: string[] = [];
  page.on(
    'response',
    (answer) =>
      void answer.text().then(
        (text) => sent.push(text),
        () => undefined,
      ),
  );
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => sent.push(String(payload))));
  await page.goto(`${workspace.url}/app/`);
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await heading(page, 'Overview');
  await page.goto(`${workspace.url}/app/graph?node=${secret.id}`);
  await page.getByText('This node is not here.').waitFor();
  await page.keyboard.press('l');
  await options(page).first().waitFor();
  await page.getByRole('combobox', { name: 'Find a node by name' }).fill('tajemstvi');
  await page.getByText('Nothing of that name.').waitFor();
  await workspace.call(updateNode, { node_id: secret.id, description: 'Nobody hears of this' });
  const seen = await node('Seen by all');
  await page.keyboard.press('Escape');
  await page.getByRole('option', { name: /Seen by all/ }).waitFor();
  expect(seen.id).not.toBe(secret.id);
  expect(sent.join('\n')).not.toMatch(/Tajemství|Nobody hears/);
  expect(sent.filter((text) => text.includes(secret.id)).every((text) => text.includes('NODE_NOT_FOUND'))).toBe(true);
  await page.getByLabel('What do you need it for?').fill('Curiosity');
  await page.getByRole('button', { name: 'Ask for access' }).click();
  await page.getByText('Asked. Whoever manages').waitFor();
  expect(faults.list.filter((fault) => !fault.includes('404'))).toEqual([]);
  await context.close();
});

it('the palette finds nodes by any word and does what the page can do, by keys alone', async () => {
  const { context, page, faults } = await site.visit('/settings');
  const field = page.getByRole('combobox', { name: 'Find or do' });
  const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
  const takesKeys = () => page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.press('Control+k');
  await takesKeys();
  await expectAccessible(page);
  await page.keyboard.type('second oven');
  const nodes = page.getByRole('group', { name: 'Nodes' }).getByRole('option');
  await nodes.filter({ hasText: 'Second oven' }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await pane(page, 'Second oven');
  await field.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Find or do…' }).click();
  await takesKeys();
  await page.keyboard.type(say('Overview').slice(0, 5).toLowerCase());
  await options.filter({ hasText: 'Overview' }).waitFor();
  await until(
    'the action is the first',
    async () => (await options.first().textContent())?.startsWith(say('Overview')) ?? false,
  );
  await page.keyboard.press('Enter');
  await heading(page, 'Overview');
  await page.keyboard.press('Control+k');
  await takesKeys();
  await page.keyboard.type('zzzz');
  await page.getByText('Nothing of that name.').waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'hidden' });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what is written to ask for a hidden node stays while the page looks again whether it is there', async () => {
  const secret = await node('Skryté', { visibility: 'private' });
  const { id } = await workspace.call(createUser, { name: 'Asks' });
  const { secret: token } = await workspace.call(createToken, { user_id: id, label: 'page', scope: 'read' });
  const { context, page, faults } = await site.visit('/settings', { token });
  faults.allow(/^404 .*\/nodes\//);
  let isCut = true;
  await page.routeWebSocket('**/sessions/ws', (socket) =>
    isCut ? void socket.close() : void socket.connectToServer(),
  );
  await page.goto(`${workspace.url}/app/graph?node=${secret.id}`);
  await page.getByText('The connection is lost').waitFor();
  const reason = page.getByRole('textbox', { name: 'What do you need it for?' });
  await reason.fill('Half a sentence');
  const asked = page.waitForResponse((answer) => new URL(answer.url()).pathname === `/nodes/${secret.id}`);
  isCut = false;
  expect((await asked).status()).toBe(404);
  await page.getByText('The connection is lost').waitFor({ state: 'hidden' });
  expect(await reason.inputValue()).toBe('Half a sentence');
  await context.close();
});

it('a node is made from everywhere, beside the one that is selected', async () => {
  const area = await node('Parent area', { type: 'area' });
  const { context, page, faults } = await site.visit(`/overview?node=${area.id}`);
  faults.allow(/^400 .*\/nodes$/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type(say('New node').toLowerCase());
  await page.getByRole('option', { name: 'New node' }).click();
  const form = page.getByRole('dialog', { name: 'New node' });
  await form.getByText('Parent area').waitFor();
  await expectAccessible(page);
  expect(faults.list).toEqual([]);
  await page.keyboard.press('Enter');
  await form.getByRole('alert').getByText('VALIDATION_FAILED').waitFor();
  await form.getByText('Process', { exact: true }).click();
  await form.getByLabel('Name').fill('Made in the browser');
  await page.keyboard.press('Enter');
  await pane(page, 'Made in the browser');
  const id = new URL(page.url()).searchParams.get('node') ?? '';
  const made = await workspace.call(getNode, { node_id: id });
  expect(made).toMatchObject({ type: 'process', organization: { id: organization.id } });
  expect(made.edges.items.map(({ relation, node }) => [relation, node.name]).sort()).toEqual([
    ['belongs_to', 'Kolonáda'],
    ['belongs_to', 'Parent area'],
  ]);
  await context.close();
});
