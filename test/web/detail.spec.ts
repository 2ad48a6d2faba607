import { randomUUID } from 'node:crypto';
import {
  addResponsibility,
  connect,
  createActor,
  createGroup,
  createNode,
  createToken,
  createUser,
  getAccess,
  getNode,
  listEvents,
  logEvent,
  type Node,
  setAccess,
  updateNode,
  updateResponsibility,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { Site, undo, until, type Visit } from './site.js';

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

/** The detail of a node, open. */
async function detail(node: Node, options: { readonly token?: string } = {}): Promise<Visit> {
  const visit = await site.visit(`/graph?node=${node.id}`, options);
  await visit.page.getByRole('heading', { level: 2, name: node.name, exact: true }).waitFor();
  return visit;
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const section = (page: Page, name: string) => page.getByRole('region', { name });

describe('texts', () => {
  it('are kept on Save, on Ctrl-Enter and for a name on Enter; Escape leaves them', async () => {
    const node = await make();
    const { context, page, faults } = await detail(node);
    await button(page, 'Edit: Description').click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Two\nlines');
    await button(page, 'Save').click();
    await page.getByText('Two\nlines').waitFor();
    await button(page, 'Edit: Goal').click();
    await page.keyboard.type('A goal');
    await page.keyboard.press('Control+Enter');
    await button(page, 'Edit: Goal').waitFor();
    await button(page, 'Edit: Name').click();
    await page.keyboard.press('Escape');
    await button(page, 'Edit: Goal').click();
    await page.keyboard.type(', and more');
    await page.keyboard.press('Escape');
    await undo(page, 'What you wrote is discarded');
    const goal = page.getByRole('textbox', { name: 'Goal' });
    const written = await goal.inputValue();
    expect([written.includes('A goal'), written.includes(', and more')]).toEqual([true, true]);
    await goal.press('Escape');
    await button(page, 'Edit: Name').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${node.name} renamed`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: `${node.name} renamed` }).waitFor();
    expect(await read(node)).toMatchObject({ name: `${node.name} renamed`, description: 'Two\nlines', goal: 'A goal' });
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('that are refused say why, and what was written stays to be mended', async () => {
    const node = await make();
    const { context, page, faults } = await detail(node);
    faults.allow(/^400 .*\/nodes\//);
    await button(page, 'Edit: Name').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('x'.repeat(500));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('VALIDATION_FAILED').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toHaveLength(500);
    expect((await read(node)).name).toBe(node.name);
    await context.close();
  });

  it('go onto what others changed beside them; the same text is shown in both versions before it is written', async () => {
    const node = await make({ description: 'Old' });
    const { context, page } = await detail(node);
    await button(page, 'Edit: Description').click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine');
    await workspace.call(updateNode, { node_id: node.id, goal: 'Theirs beside' });
    await button(page, 'Save').click();
    await button(page, 'Edit: Description').waitFor();
    expect(await read(node)).toMatchObject({ description: 'Mine', goal: 'Theirs beside' });

    await button(page, 'Edit: Description').click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Mine again');
    await workspace.call(updateNode, { node_id: node.id, description: 'Theirs' });
    await button(page, 'Save').click();
    await page.getByText('Somebody has changed this text meanwhile').waitFor();
    await page.getByRole('alert').getByText('Theirs', { exact: true }).waitFor();
    expect((await read(node)).description).toBe('Theirs');
    await button(page, 'Keep mine').click();
    await button(page, 'Edit: Description').waitFor();
    expect((await read(node)).description).toBe('Mine again');
    await context.close();
  });

  it('that are half written are there again after another node, another view and a reload', async () => {
    const node = await make();
    const { context, page } = await detail(node);
    await button(page, 'Edit: Goal').click();
    await page.keyboard.type('Half of a');
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.getByRole('link', { name: 'Graph', exact: true }).click();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Goal' }).inputValue()).toBe('Half of a');
    await context.close();
  });
});

describe('what is chosen', () => {
  it('is in force at once, and is taken back from its note or by Ctrl-Z', async () => {
    const node = await make();
    const { context, page, faults } = await detail(node);
    await page.getByLabel('Lifecycle').selectOption('in_progress');
    await until('it is in progress', async () => (await read(node)).lifecycle === 'in_progress');
    await undo(page, 'Lifecycle: In progress');
    await until('it is taken back', async () => (await read(node)).lifecycle === 'backlog');
    await page.getByLabel('Health').selectOption('off_track');
    await until('it is off track', async () => (await read(node)).health === 'off_track');
    await page.getByRole('heading', { level: 2 }).click();
    await page.keyboard.press('Control+z');
    await until('it is taken back', async () => (await read(node)).health === 'on_track');
    await page.getByLabel('Health').selectOption('off_track');
    await page.getByLabel('Reason').fill('No oven');
    await page.keyboard.press('Enter');
    await until('it is told', async () => (await read(node)).health_report?.note === 'No oven');
    expect((await read(node)).health).toBe('off_track');
    await page.getByRole('heading', { level: 2 }).click();
    await page.keyboard.press('Control+z');
    await until('its reason is taken back', async () => (await read(node)).health_report?.note !== 'No oven');
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('keeps the reason of a state that could not be written, and takes one back', async () => {
    const node = await make();
    await workspace.call(updateNode, { node_id: node.id, health: 'at_risk', health_note: 'No flour' });
    const note = async () => (await read(node)).health_report?.note;
    const { context, page, faults } = await detail(node);
    faults.allow(/ERR_FAILED/);
    const field = page.getByRole('textbox', { name: 'Reason' });
    await page.route(`**/nodes/${node.id}`, (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await field.fill('No flour and no yeast');
    await field.press('Enter');
    await page.getByRole('alert').waitFor();
    expect([await field.inputValue(), await note()]).toEqual(['No flour and no yeast', 'No flour']);
    await page.unroute(`**/nodes/${node.id}`);
    await field.press('Enter');
    await until('it is written', async () => (await note()) === 'No flour and no yeast');
    await undo(page, 'Reason: No flour and no yeast');
    await until('it is as before', async () => (await note()) === 'No flour');
    await until('it is shown as before', async () => (await field.inputValue()) === 'No flour');
    await context.close();
  });

  it('finds an owner by part of a name, and gives the node to nobody', async () => {
    const [node, actor] = [await make(), await workspace.call(createActor, { type: 'person', name: 'Žofie Malá' })];
    const { context, page, faults } = await detail(node);
    await button(page, 'Change the owner').click();
    await page.getByRole('combobox', { name: 'Find a person or an automation' }).fill('zofie');
    await page.getByRole('option', { name: 'Žofie Malá' }).click();
    await until('she owns it', async () => (await read(node)).owner?.id === actor.id);
    await button(page, 'Change the owner').click();
    await page.getByRole('option', { name: 'Nobody' }).click();
    await until('nobody owns it', async () => (await read(node)).owner === null);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('archives and restores; what is removed for good shows what goes with it and needs the name', async () => {
    const node = await make();
    await workspace.call(logEvent, { node_id: node.id, kind: 'note', content: 'Goes too' });
    const { context, page } = await detail(node);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByText('Nothing of it is lost').waitFor();
    expect((await read(node)).status).toBe('archived');
    await undo(page, 'is archived');
    await until('it is back', async () => (await read(node)).status === 'active');
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Remove for good…' }).click();
    const dialog = page.getByRole('alertdialog', { name: `Remove ${node.name} for good?` });
    await dialog.getByText('1 event').waitFor();
    // A person can press it nevertheless: it is told to be off, and does nothing.
    await dialog.getByRole('button', { name: 'Remove for good' }).dispatchEvent('click');
    expect((await read(node)).id).toBe(node.id);
    await dialog.locator('input:focus').waitFor();
    await dialog.getByRole('textbox').fill(node.name);
    await dialog.getByRole('button', { name: 'Remove for good' }).click();
    await page.getByText(`${node.name} is removed.`).waitFor();
    await expect(read(node)).rejects.toThrow('NODE_NOT_FOUND');
    await context.close();
  });
});

describe('sharing', () => {
  const own = async ({ id }: Node) => (await workspace.call(getAccess, { node_id: id })).own;

  it('an empty group is not kept; every change after its first recipient is; the last one is asked about', async () => {
    const node = await make();
    await workspace.call(createGroup, { name: 'Pekaři' });
    const { context, page, faults } = await detail(node);
    const sharing = section(page, 'Sharing');
    await sharing.getByText('Group', { exact: true }).click();
    await sharing.getByText('Not saved').waitFor();
    expect(await own(node)).toBeNull();
    await sharing.getByRole('combobox', { name: 'Add a person or a group' }).fill('pekari');
    await page.getByRole('option', { name: /Pekaři/ }).click();
    await until('it is shared', async () => (await own(node))?.recipients.length === 1);
    await sharing.getByLabel('Access of Pekaři').selectOption('write');
    await until('they may write', async () => (await own(node))?.recipients[0]?.access === 'write');
    await sharing.getByText('Saved').waitFor();
    await button(page, 'Remove Pekaři').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Back' }).click();
    expect((await own(node))?.recipients).toHaveLength(1);
    await sharing.getByText('Everyone', { exact: true }).click();
    await page
      .getByRole('alertdialog', { name: 'Make it visible to everyone?' })
      .getByText(/open to everyone/)
      .waitFor();
    expect((await own(node))?.visibility).toBe('group');
    const sent: string[] = [];
    page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()));
    await button(page, 'Apply').evaluate((apply: { click(): void }) => {
      apply.click();
      apply.click();
    });
    await until('everybody sees it', async () => (await own(node))?.visibility === 'everyone');
    await button(page, 'Apply').waitFor({ state: 'hidden' });
    expect(sent).toHaveLength(1);
    await button(page, 'Drop own sharing and inherit').click();
    await until('it inherits', async () => (await own(node)) === null);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('what is inherited is shown with where it comes from, and is the beginning of a setting that is sent on Save', async () => {
    const group = await workspace.call(createGroup, { name: 'Vedení' });
    const area = await make({ type: 'area', name: 'Closed area' });
    await workspace.call(setAccess, {
      node_id: area.id,
      visibility: 'group',
      recipients: [{ kind: 'group', id: group.id, access: 'read' }],
      confirmed: true,
    });
    const node = await make({ parent_ids: [area.id] });
    const { context, page } = await detail(node);
    const sharing = section(page, 'Sharing');
    await sharing.getByRole('link', { name: /Closed area/ }).waitFor();
    await sharing.getByText('Vedení').waitFor();
    await button(page, 'Set own sharing').click();
    await sharing.getByText('Private', { exact: true }).click();
    await sharing.getByText('Nothing changes until you save').waitFor();
    expect(await own(node)).toBeNull();
    await button(page, 'Cancel').click();
    await button(page, 'Set own sharing').click();
    await sharing.getByText('Private', { exact: true }).click();
    await button(page, 'Save').click();
    await until('it is private', async () => (await own(node))?.visibility === 'private');
    await context.close();
  });
});

describe('responsibilities, links and edges', () => {
  const titles = async (node: Node) => (await read(node)).responsibilities.map(({ title }) => title);

  it('are added, moved by keys and by the pointer, given to people, removed and put back where they were', async () => {
    const node = await make();
    const person = `Jan Kovář ${randomUUID().slice(0, 6)}`;
    await workspace.call(createActor, { type: 'person', name: person });
    for (const title of ['One', 'Two']) await workspace.call(addResponsibility, { node_id: node.id, title });
    const { context, page, faults } = await detail(node);
    const duties = section(page, 'Responsibilities');
    await button(page, 'Add responsibility').click();
    await page.keyboard.type('Three');
    await page.keyboard.press('Enter');
    await until('it is added', async () => (await titles(node)).join() === 'One,Two,Three');
    await duties.getByRole('button', { name: 'Three', exact: true }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await until('it is moved', async () => (await titles(node)).join() === 'One,Three,Two');
    const [from, to] = [await duties.getByText('One').boundingBox(), await duties.getByText('Two').boundingBox()];
    if (!from || !to) throw new Error('Nothing to drag.');
    await duties.getByText('One').hover();
    await page.mouse.move(from.x - 14, from.y + from.height / 2);
    await page.mouse.down();
    await page.mouse.move(from.x - 14, to.y + to.height / 2, { steps: 8 });
    await page.mouse.up();
    await until('it is dragged', async () => (await titles(node)).join() === 'Three,Two,One');
    await duties.getByRole('button', { name: 'Two', exact: true }).click();
    await page.getByRole('combobox', { name: 'Assign somebody' }).fill('kovar');
    await page.getByRole('option', { name: person }).click();
    await until('he has it', async () => (await read(node)).responsibilities[1]?.assignees.length === 1);
    await button(page, 'Remove responsibility').click();
    await until('it is gone', async () => (await titles(node)).join() === 'Three,One');
    await undo(page, 'Removed: ');
    await until('it is back', async () => (await titles(node)).join() === 'Three,Two,One');
    expect((await read(node)).responsibilities[1]?.assignees).toMatchObject([{ name: person }]);
    expect(faults.list).toEqual([]);
    await context.close();
  });

  it('are changed onto what others have made of them meanwhile; the same text is shown in both versions first', async () => {
    const node = await make();
    const people = [`Ida ${randomUUID().slice(0, 6)}`, `Oto ${randomUUID().slice(0, 6)}`] as const;
    const [ida, oto] = await Promise.all(
      people.map((name) => workspace.call(createActor, { type: 'person' as const, name })),
    );
    const duty = await workspace.call(addResponsibility, { node_id: node.id, title: 'Ovens', description: 'Heat.' });
    const now = async () => (await read(node)).responsibilities[0];
    const { context, page, faults } = await detail(node);
    faults.allow(/^409 .*\/responsibilities\//);
    const [title, description] = [0, 1].map((at) => section(page, 'Responsibilities').getByRole('textbox').nth(at));
    if (!title || !description) throw new Error('Nothing to write in.');
    await button(page, 'Ovens').click();
    await title.fill('Two ovens');
    const given = { responsibility_id: duty.id, description: 'Clean them.', assignee_ids: [ida?.id ?? ''] };
    await workspace.call(updateResponsibility, given);
    await page.getByRole('combobox', { name: 'Assign somebody' }).fill(people[1]);
    await page.getByRole('option', { name: people[1] }).click();
    await until('both hold it', async () => (await now())?.assignees.length === 2);
    await button(page, 'Save').click();
    await until('the title is written alone', async () => (await now())?.title === 'Two ovens');
    expect(await now()).toMatchObject({ description: 'Clean them.' });
    expect((await now())?.assignees.map(({ id }) => id).toSorted()).toEqual([ida?.id, oto?.id].toSorted());
    // The new title is told before the answer closes the form, and would close it as well.
    const closed = page.getByRole('button', { name: 'Two ovens', exact: true, expanded: false });
    await closed.click();
    await description.fill('Mine.');
    await workspace.call(updateResponsibility, { responsibility_id: duty.id, description: 'Theirs.' });
    await button(page, 'Save').click();
    const alert = page.getByRole('alert');
    await alert.getByText('Theirs.').waitFor();
    expect((await now())?.description).toBe('Theirs.');
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await until('mine is written', async () => (await now())?.description === 'Mine.');
    await closed.click();
    await description.fill('Mine again.');
    await workspace.call(updateResponsibility, { responsibility_id: duty.id, description: 'Theirs again.' });
    await button(page, 'Save').click();
    await alert.getByRole('button', { name: 'Take theirs' }).click();
    await until('theirs is shown', async () => (await description.inputValue()) === 'Theirs again.');
    await context.close();
  });

  it('links are added with an address or without one, and taken back', async () => {
    const node = await make();
    const { context, page, faults } = await detail(node);
    faults.allow(/^400 .*\/tools$/);
    await button(page, 'Add tool').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Oven');
    await page.getByRole('textbox', { name: 'Address (optional)' }).fill('javascript:alert(1)');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('VALIDATION_FAILED').waitFor();
    await page.getByRole('textbox', { name: 'Address (optional)' }).fill('https://oven.example.org/a');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Oven' }).waitFor();
    expect((await read(node)).tools).toMatchObject([{ name: 'Oven', url: 'https://oven.example.org/a' }]);
    await section(page, 'Tools').getByRole('link', { name: 'Oven' }).hover();
    await button(page, 'Remove Oven').click();
    await until('it is gone', async () => (await read(node)).tools.length === 0);
    await undo(page, 'Removed: Oven');
    await until('it is back', async () => (await read(node)).tools.length === 1);
    await context.close();
  });

  it('edges lead to their node; one is added by search and removed, and none of what exists is offered', async () => {
    const [node, other, third] = [await make(), await make(), await make({ name: 'Žitný chléb' })];
    await workspace.call(connect, { source_id: other.id, target_id: node.id, relation: 'related_to' });
    const { context, page, faults } = await detail(node);
    await button(page, 'Add edge').click();
    await page.getByLabel('Relation').selectOption('informed_by');
    await page.getByRole('combobox', { name: 'Find the other node' }).fill('zitny');
    await page.getByRole('option', { name: 'Žitný chléb' }).click();
    const edges = async () => (await read(node)).edges.items.filter(({ node: { id } }) => id === third.id);
    await until('they are joined', async () => (await edges()).length === 1);
    expect(await edges()).toMatchObject([{ direction: 'outgoing', relation: 'informed_by' }]);
    await button(page, 'Add edge').click();
    await page.getByLabel('Relation').selectOption('informed_by');
    await page.getByRole('combobox', { name: 'Find the other node' }).fill('zitny');
    await page.getByRole('option', { name: /already joined/ }).waitFor();
    await button(page, 'Cancel').click();
    await section(page, 'Edges').getByText('Žitný chléb').hover();
    await button(page, 'Remove the edge to Žitný chléb').click();
    await until('it is gone', async () => (await edges()).length === 0);
    await undo(page, 'Edge to Žitný chléb removed');
    await until('it is back', async () => (await edges()).length === 1);
    await section(page, 'Edges')
      .getByRole('link', { name: new RegExp(other.name) })
      .click();
    await page.getByRole('heading', { level: 2, name: other.name }).waitFor();
    expect(faults.list).toEqual([]);
    await context.close();
  });
});

it('events are logged, resolved and replaced where they stand, and filtered by kind', async () => {
  const node = await make();
  await workspace.call(logEvent, { node_id: node.id, kind: 'blocker', content: 'No flour' });
  const { context, page, faults } = await detail(node);
  await page.getByRole('tab', { name: 'Events' }).click();
  await button(page, 'Log event').click();
  await page.getByLabel('Kind', { exact: true }).selectOption('decision');
  await page.getByRole('textbox', { name: 'What happened or was decided' }).fill('We bake rye.');
  await page.keyboard.press('Control+Enter');
  const told = page.getByRole('paragraph').filter({ hasText: 'We bake rye.' });
  await told.waitFor();
  await button(page, 'Resolved').first().click();
  await page.getByText('Blocker, resolved').waitFor();
  await told.hover();
  await button(page, 'Replace').first().click();
  await page.getByRole('textbox', { name: 'What happened or was decided' }).fill('We bake wheat.');
  await page.keyboard.press('Control+Enter');
  const kept = async () => {
    const status = ['active', 'resolved', 'superseded'] as const;
    const { items } = await workspace.call(listEvents, { node_id: node.id, status: [...status] });
    return items.map(({ kind, status, content }) => `${kind} ${status} ${content}`).sort();
  };
  await until('it is replaced', async () => (await kept()).length === 3);
  expect(await kept()).toEqual([
    'blocker resolved No flour',
    'decision active We bake wheat.',
    'decision superseded We bake rye.',
  ]);
  await page.getByLabel('Kinds of events').selectOption('milestone');
  await page.getByText('There is no event of this kind.').waitFor();
  await button(page, 'Show all kinds').click();
  await page.getByText('No flour').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('whoever may only read sees everything of a node and nothing to change it with', async () => {
  const node = await make({ description: 'To be read' });
  await workspace.call(addResponsibility, { node_id: node.id, title: 'Reading aloud' });
  const reader = await workspace.call(createUser, { name: 'Reader' });
  const { secret } = await workspace.call(createToken, { user_id: reader.id, label: 'page', scope: 'read' });
  const { context, page, faults } = await detail(node, { token: secret });
  await page.getByText('To be read').waitFor();
  await section(page, 'Responsibilities').getByText('Reading aloud').waitFor();
  const pane = page.getByRole('complementary', { name: 'Detail of the node' });
  await pane.getByText('Everyone').waitFor();
  expect(await pane.getByRole('button', { name: /Edit|Add|Change|More|Remove/ }).count()).toBe(0);
  expect(await pane.getByRole('combobox').count()).toBe(0);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByText('Nothing has been logged yet').waitFor();
  expect(await button(page, 'Log event').count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});
