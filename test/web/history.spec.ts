import {
  addResponsibility,
  addTool,
  connect,
  createActor,
  createMirror,
  createNode,
  createToken,
  createUser,
  disconnect,
  editEvent,
  getNode,
  logEvent,
  type Node,
  removeResponsibility,
  reorderResponsibilities,
  setAccess,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { callTool, connectMcp, NEWEST } from '../central/mcp-streams.js';
import { RestClient } from '../central/rest-client.js';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { expectAccessible, LOOKS, Site, say, undo, until, type Visit, type VisitOptions } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

let count = 0;
const make = (more: object = {}): Promise<Node> =>
  workspace.call(createNode, { type: 'project', name: `Node ${++count}`, organization_id: organization.id, ...more });
const read = ({ id }: Node): Promise<Node> => workspace.call(getNode, { node_id: id });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function detail(node: Node, options: VisitOptions & { readonly token?: string } = {}): Promise<Visit> {
  const visit = await site.visit(`/graph?node=${node.id}`, options);
  await visit.page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  return visit;
}

describe('the history', () => {
  it('tells who changed what, before and after, in words; names in place of ids; long texts folded', async () => {
    const jana = await workspace.call(createActor, { type: 'person', name: 'Jana Lipová' });
    const uma = await workspace.call(createUser, { name: 'Uma' });
    const node = await make({ description: 'Před <b>změnou</b>' });
    const other = await workspace.call(createToken, { user_id: uma.id, label: 'uma', scope: 'write' });
    await workspace.call(updateNode, { node_id: node.id, lifecycle: 'in_progress', owner_id: jana.id });
    await workspace.call(updateNode, { node_id: node.id, description: `Po změně\n${'dlouhý text '.repeat(40)}konec` });
    for (const title of ['Jedna', 'Dvě']) await workspace.call(addResponsibility, { node_id: node.id, title });
    const { responsibilities } = await read(node);
    await workspace.call(reorderResponsibilities, {
      node_id: node.id,
      responsibility_ids: responsibilities.map(({ id }) => id).reverse(),
    });
    await workspace.call(setAccess, {
      node_id: node.id,
      visibility: 'group',
      recipients: [{ kind: 'user', id: uma.id, access: 'write' }],
      confirmed: true,
    });
    const { context, page, faults } = await detail(node);
    await page.getByRole('tab', { name: 'History' }).click();
    const rows = page.getByRole('list', { name: 'Changes of this node' }).getByRole('listitem');
    const row = (name: string) => rows.filter({ hasText: name });
    await row('Sharing changed')
      .getByText(`Uma (${say('write', 'zápis')})`)
      .waitFor();
    await row('Sharing changed').getByText('inherited').waitFor();
    await row('Responsibilities reordered').getByText('Dvě, Jedna').waitFor();
    const owner = rows.filter({ hasText: 'Lifecycle' }).first();
    await owner.getByText('Backlog').waitFor();
    await owner.getByText('In progress').waitFor();
    await owner.getByText('Jana Lipová').waitFor();
    await row('Created').getByText('Kolonáda').first().waitFor();
    const folded = row('Description').first();
    await folded.getByText('Před <b>změnou</b>').waitFor();
    expect(await folded.getByText('konec').isVisible()).toBe(false);
    await folded.getByText('Po změně').first().click();
    await folded.getByText('konec').waitFor();
    await expectAccessible(page);
    await page.getByLabel('What is changed').selectOption({ label: 'Access' });
    await until('only one is left', async () => (await rows.count()) === 1);
    await page.getByLabel('What is changed').selectOption({ label: 'The node itself' });
    await page.getByLabel('Kind of change').selectOption(say('Archived', 'Archivováno'));
    await page.getByText('There is no such change.').waitFor();
    await button(page, 'Show all changes').click();
    await until('all are back', async () => (await rows.count()) === 7);
    // What happens now is added at once.
    await workspace.call(updateNode, { node_id: node.id, goal: 'Nový cíl' });
    await page.getByText('Nový cíl').waitFor();
    expect(faults.list).toEqual([]);
    expect(await faults.shift()).toBeLessThan(0.05);
    await context.close();

    const reading = await detail(node, { token: other.secret });
    await reading.page.getByRole('tab', { name: 'Sessions' }).waitFor();
    expect(await reading.page.getByRole('tab', { name: 'History' }).count()).toBe(0);
    expect(reading.faults.list).toEqual([]);
    await reading.context.close();
  });

  it('is paged, filtered by who did it, and tells what others did', async () => {
    const uma = await workspace.call(createUser, { name: 'Uma Druhá', max_scope: 'manage' });
    const { secret } = await workspace.call(createToken, { user_id: uma.id, label: 'uma', scope: 'manage' });
    const node = await make();
    for (let at = 1; at <= 26; at++) await workspace.call(updateNode, { node_id: node.id, goal: `Cíl ${at}` });
    const agent = await connectMcp(new RestClient(workspace.url, site.folder.token), { pin: NEWEST });
    await callTool(agent, 'svc_update_node', { node_id: node.id, goal: 'Cíl agenta' });
    await agent.close();
    const changed = await fetch(`${workspace.url}/nodes/${node.id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ goal: 'Umin cíl' }),
    });
    expect(await changed.json()).toMatchObject({ applied: true });
    const { context, page, faults } = await detail(node, { language: 'cs', theme: 'dark', width: 1024 });
    await page.getByRole('tab', { name: 'Historie' }).click();
    const rows = page.getByRole('list', { name: 'Změny tohoto nodu' }).getByRole('listitem');
    await page.getByText('Umin cíl').waitFor();
    expect(await rows.count()).toBe(25);
    await rows.filter({ hasText: 'Cíl agenta' }).getByText('Agent účtu ').first().waitFor();
    await rows.filter({ hasText: 'Cíl agenta' }).getByRole('link', { name: 'Relace' }).first().waitFor();
    await expectAccessible(page);
    await button(page, 'Starší změny').click();
    // Before the agent changed it, it brought the node into its scope.
    await until('all are shown', async () => (await rows.count()) === 30);
    await rows.filter({ hasText: /Rozsah relace „.+“ rozšířen agentem/ }).waitFor();
    await rows.filter({ hasText: 'Založeno' }).waitFor();
    await page.getByLabel('Kdo změnil').selectOption('Uma Druhá');
    await until('hers is left', async () => (await rows.count()) === 1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1024);
    expect(faults.list).toEqual([]);
    await context.close();
  });
});

const WORDS = {
  en: {
    tab: 'History',
    list: 'Changes of this node',
    about: 'What is changed',
    filter: 'Kind of change',
    older: 'Older changes',
    titles: [
      'File “wip/a.md” removed',
      'File “wip/a.md” replaced',
      'File “wip/a.md” added',
      expect.stringMatching(/^Scope of the session “.+” widened by its agent$/),
      'Event “Zápis” changed',
      'Event “Zápis” logged',
      'Edge to “Pekárna” removed',
      'Edge to “Pekárna” added',
      'Tool “Trouba” added',
      'Responsibility “Trasy” removed',
      'Responsibility “Trasy” changed',
      'Responsibility “Trasy” added',
      'Created',
    ],
    created: 'Created',
    other: ['Edge to “Dům” removed', 'Edge to “Dům” added', 'Created'],
    abouts: {
      Edges: 2,
      Files: 3,
      Events: 2,
      Responsibilities: 3,
      'Data sources and tools': 1,
      'The node itself': 1,
      Sessions: 1,
    },
    none: 'There is no such change.',
    access: 'Access',
    everything: 'Everything',
    edges: 'Edges',
    removed: 'Edge removed',
    held: 'Held by',
  },
  cs: {
    tab: 'Historie',
    list: 'Změny tohoto nodu',
    about: 'Co se změnilo',
    filter: 'Druh změny',
    older: 'Starší změny',
    titles: [
      'Soubor „wip/a.md“ odstraněn',
      'Soubor „wip/a.md“ nahrazen',
      'Soubor „wip/a.md“ přidán',
      expect.stringMatching(/^Rozsah relace „.+“ rozšířen agentem$/),
      'Událost „Zápis“ změněna',
      'Událost „Zápis“ zapsána',
      'Hrana k nodu „Pekárna“ odebrána',
      'Hrana k nodu „Pekárna“ přidána',
      'Nástroj „Trouba“ přidán',
      'Odpovědnost „Trasy“ odstraněna',
      'Odpovědnost „Trasy“ změněna',
      'Odpovědnost „Trasy“ přidána',
      'Založeno',
    ],
    created: 'Založeno',
    other: ['Hrana k nodu „Dům“ odebrána', 'Hrana k nodu „Dům“ přidána', 'Založeno'],
    abouts: {
      Hrany: 2,
      Soubory: 3,
      Události: 2,
      Odpovědnosti: 3,
      'Zdroje dat a nástroje': 1,
      'Samotný node': 1,
      Relace: 1,
    },
    none: 'Taková změna tu není.',
    access: 'Přístup',
    everything: 'Všechno',
    edges: 'Hrany',
    removed: 'Hrana odebrána',
    held: 'Kdo odpovídá',
  },
} as const;

/** One of each kind of change, on two nodes. */
async function lead(): Promise<{ readonly house: Node; readonly bakery: Node }> {
  const [house, bakery] = [await make({ name: 'Dům' }), await make({ name: 'Pekárna' })];
  const node_id = house.id;
  const jana = await workspace.call(createActor, { type: 'person', name: 'Jana Trasová' });
  const duty = await workspace.call(addResponsibility, { node_id, title: 'Trasy' });
  const change = { responsibility_id: duty.id, description: 'Všechny', assignee_ids: [jana.id] };
  await workspace.call(updateResponsibility, change);
  await workspace.call(removeResponsibility, { responsibility_id: duty.id });
  await workspace.call(addTool, { node_id, name: 'Trouba' });
  const ends = { source_id: house.id, target_id: bakery.id, relation: 'related_to' as const };
  const { edge } = await workspace.call(connect, ends);
  await workspace.call(disconnect, { edge_id: edge?.id ?? '' });
  const event = await workspace.call(logEvent, { node_id, kind: 'note', content: 'Zápis' });
  await workspace.call(editEvent, { event_id: event.id, kind: 'decision' });
  await workspace.call(createMirror, { node_id });
  const agent = await connectMcp(new RestClient(workspace.url, site.folder.token), { pin: NEWEST });
  const made = await callTool(agent, 'svc_create_file', { node_id, filename: 'a.md', content: 'jedna' });
  const expected_sha256 = made['sha256'];
  await callTool(agent, 'svc_write_file', { node_id, path: 'wip/a.md', content: 'dvě', expected_sha256 });
  await callTool(agent, 'svc_delete_file', { file_id: made['id'], node_id, confirmed: true });
  await agent.close();
  return { house, bakery };
}

describe.each(LOOKS)('the history of all that hangs on a node ($language)', ({ language, theme }) => {
  const words = WORDS[language];

  it('tells what each change was about, by its name, is filtered by that, and asks once', async () => {
    const { house, bakery } = await lead();
    const { context, page, faults } = await detail(house, { language, theme, width: 1024 });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/audit') asked.push(request.url());
    });
    await page.getByRole('tab', { name: words.tab }).click();
    const list = page.getByRole('list', { name: words.list });
    const titles = () => list.locator('.kind').allTextContents();
    await list.getByText(words.created, { exact: true }).waitFor();
    expect(await titles()).toEqual(words.titles);
    // The same question may come again when the news of a change arrives late.
    expect(new Set(asked).size).toBe(1);
    await list.getByText(words.held, { exact: true }).first().waitFor();
    await list.getByText('Jana Trasová').first().waitFor();
    await expectAccessible(page);
    expect(await page.getByLabel(words.filter).count()).toBe(0);
    const filters = await page
      .locator('.filters select')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
    expect(new Set(filters.map(({ y, width }) => `${y} ${width}`)).size).toBe(1);
    expect(await list.locator('time').evaluateAll((all) => new Set(all.map((one) => one.clientHeight)).size)).toBe(1);
    expect(await page.getByRole('tablist').evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    for (const [about, count] of Object.entries(words.abouts)) {
      await page.getByLabel(words.about).selectOption(about);
      await until(`only ${about} are left`, async () => (await titles()).length === count);
    }
    await page.getByLabel(words.about).selectOption(words.access);
    await page.getByText(words.none).waitFor();
    await page.getByLabel(words.about).selectOption(words.edges);
    await page.getByLabel(words.filter).selectOption(words.removed);
    await until('one edge is left', async () => (await titles()).join() === words.titles[6]);
    await page.getByLabel(words.about).selectOption(words.everything);
    await until('all are back', async () => (await titles()).length === words.titles.length);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1024);
    expect(faults.list).toEqual([]);
    await context.close();

    const beyond = await detail(bakery, { language, theme });
    await beyond.page.getByRole('tab', { name: words.tab }).click();
    await beyond.page.getByText(words.other[0]).waitFor();
    expect(await beyond.page.getByRole('list', { name: words.list }).locator('.kind').allTextContents()).toEqual(
      words.other,
    );
    expect(beyond.faults.list).toEqual([]);
    await beyond.context.close();
  });
});

describe('what somebody else has chosen meanwhile', () => {
  /** The page does not hear of changes. */
  const deaf = async (node: Node): Promise<Visit> => {
    const visit = await detail(node);
    await visit.page.routeWebSocket('**/sessions/ws', () => undefined);
    await visit.page.reload();
    await visit.page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
    return visit;
  };

  it('is told with whose it is, and is kept or replaced', async () => {
    const node = await make();
    const { context, page } = await deaf(node);
    await page.getByLabel('Lifecycle').waitFor();
    await workspace.call(updateNode, { node_id: node.id, lifecycle: 'done' });
    await page.getByLabel('Lifecycle').selectOption('in_progress');
    const told = page.getByRole('alert');
    await told.getByText('Lifecycle was changed meanwhile').waitFor();
    await told.getByText('has set: ').filter({ hasText: 'Done' }).waitFor();
    await told.getByText('You chose: In progress').waitFor();
    await expectAccessible(page);
    expect((await read(node)).lifecycle).toBe('done');
    await told.getByRole('button', { name: 'Take theirs' }).click();
    await told.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Lifecycle').inputValue()).toBe('done');

    await workspace.call(updateNode, { node_id: node.id, lifecycle: 'on_hold' });
    await page.getByLabel('Lifecycle').selectOption('in_progress');
    await told.getByText('has set: ').filter({ hasText: 'On hold' }).waitFor();
    await told.getByRole('button', { name: 'Keep mine' }).click();
    await until('mine is kept', async () => (await read(node)).lifecycle === 'in_progress');
    await undo(page, 'Lifecycle: In progress');
    await until('it is taken back', async () => (await read(node)).lifecycle === 'on_hold');
    await context.close();
  });

  it('is told by names for an owner; a change that was built on is not taken back', async () => {
    const [jana, petr] = [
      await workspace.call(createActor, { type: 'person', name: 'Jana Malá' }),
      await workspace.call(createActor, { type: 'person', name: 'Petr Malý' }),
    ];
    const node = await make();
    const { context, page } = await deaf(node);
    await button(page, 'Change the owner').waitFor();
    await workspace.call(updateNode, { node_id: node.id, owner_id: petr.id });
    await button(page, 'Change the owner').click();
    await page.getByRole('combobox', { name: 'Find a person or an automation' }).fill('jana mala');
    await page.getByRole('option', { name: 'Jana Malá' }).click();
    const told = page.getByRole('alert');
    await told.getByText('has set: ').filter({ hasText: 'Petr Malý' }).waitFor();
    await told.getByText('You chose: Jana Malá').waitFor();
    await told.getByRole('button', { name: 'Keep mine' }).click();
    await until('mine is kept', async () => (await read(node)).owner?.id === jana.id);
    await workspace.call(updateNode, { node_id: node.id, owner_id: null });
    await undo(page, 'Owner: ');
    await page.getByRole('status').getByText('Somebody has changed it meanwhile').waitFor();
    expect((await read(node)).owner).toBeNull();
    await context.close();
  });
});
