import {
  addDataSource,
  createGroup,
  createNode,
  createUser,
  getAccess,
  getNode,
  getUser,
  listGroups,
  type Node,
  setAccess,
  updateGroup,
  updateUser,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { Site, say, undo, until } from './site.js';

let site: Site;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const make = (name: string, more: object = {}): Promise<Node> =>
  site.workspace.call(createNode, { type: 'project', name, organization_id: organization.id, ...more });
const MEANWHILE =
  'Somebody has changed it meanwhile: what stands there now is shown. Choose again if you still want to.';

it('sharing that is put together is left when somebody else sets it: what is in force is shown', async () => {
  const { workspace } = site;
  const group = await workspace.call(createGroup, { name: 'Bakers' });
  const parent = await make('Shared');
  const recipients = [{ kind: 'group' as const, id: group.id, access: 'read' as const }];
  await workspace.call(setAccess, { node_id: parent.id, visibility: 'group', recipients, confirmed: true });
  const node = await make('Inherits', { parent_ids: [parent.id] });
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const sharing = page.getByRole('region', { name: 'Sharing', exact: true });
  await sharing.getByRole('button', { name: 'Set own sharing' }).click();
  await sharing.getByText('Not saved').waitFor();
  await workspace.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true });
  await sharing.getByText(MEANWHILE).waitFor();
  expect(await sharing.getByText('Not saved').count()).toBe(0);
  expect(await sharing.getByRole('radio', { name: 'Private' }).isChecked()).toBe(true);
  // Chosen once more it replaces what has been seen.
  await sharing.getByText('Everyone', { exact: true }).click();
  const ask = sharing.getByRole('alertdialog').getByRole('button', { name: 'Apply' });
  const isEverybodys = async () => {
    if ((await ask.count()) > 0) await ask.click();
    return (await workspace.call(getAccess, { node_id: node.id })).own?.visibility === 'everyone';
  };
  await until('everybody sees it', isEverybodys);
  expect(await sharing.getByText(MEANWHILE).count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a question about sharing is answered for what it was asked about', async () => {
  const { workspace } = site;
  const group = await workspace.call(createGroup, { name: 'Millers' });
  const node = await make('Listed');
  const recipients = [{ kind: 'group' as const, id: group.id, access: 'read' as const }];
  await workspace.call(setAccess, { node_id: node.id, visibility: 'group', recipients, confirmed: true });
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const sharing = page.getByRole('region', { name: 'Sharing', exact: true });
  await sharing.getByText('Everyone', { exact: true }).click();
  const apply = sharing.getByRole('alertdialog').getByRole('button', { name: 'Apply' });
  await apply.waitFor();
  await workspace.call(setAccess, { node_id: node.id, visibility: 'private', confirmed: true });
  await sharing.getByRole('radio', { name: 'Private', checked: true }).waitFor({ state: 'attached' });
  await apply.click();
  await sharing.getByText(MEANWHILE).waitFor();
  expect((await workspace.call(getAccess, { node_id: node.id })).own?.visibility).toBe('private');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a change of a person or a group is not taken back over what somebody else has made of it', async () => {
  const { workspace } = site;
  const group = await workspace.call(createGroup, { name: 'Night shift' });
  const user = await workspace.call(createUser, { name: 'Rosa', max_scope: 'read' });
  const { context, page, faults } = await site.visit('/settings#people');
  const rename = async (list: string, from: string, to: string) => {
    const region = page.getByRole('region', { name: say(list), exact: true });
    await region.getByRole('button', { name: new RegExp(from) }).click();
    await region.getByRole('textbox', { name: 'Name', exact: true }).fill(to);
    await page.keyboard.press('Enter');
    await page.locator('.toast', { hasText: to }).waitFor();
  };
  await rename('Groups', 'Night shift', 'Late shift');
  await workspace.call(updateGroup, { group_id: group.id, name: 'Evening shift' });
  await undo(page, 'Late shift');
  await page.locator('.toast', { hasText: MEANWHILE }).waitFor();
  const { items } = await workspace.call(listGroups, {});
  expect(items.map(({ name }) => name)).toContain('Evening shift');

  await rename('People', 'Rosa', 'Rosalie');
  // Another field does not matter.
  await workspace.call(updateUser, { user_id: user.id, email: 'rosa@example.org' });
  await undo(page, 'Rosalie');
  const now = () => workspace.call(getUser, { user_id: user.id });
  await until('she is called as before', async () => (await now()).name === 'Rosa');
  expect((await now()).email).toBe('rosa@example.org');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('what could not be taken back without an answer can be taken back later', async () => {
  const node = await make('Tunnel');
  await site.workspace.call(addDataSource, { node_id: node.id, name: 'Ledger' });
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  faults.allow(/net::|WebSocket/);
  await button(page, 'Remove Ledger').click();
  await page.locator('.toast', { hasText: 'Ledger' }).waitFor();
  await context.setOffline(true);
  await undo(page, 'Ledger');
  const failed = page.locator('.toast.bad');
  await failed.waitFor();
  await context.setOffline(false);
  await failed.getByRole('button', { name: 'Undo' }).click();
  await until('it is there again', async () => {
    const { data_sources } = await site.workspace.call(getNode, { node_id: node.id });
    return data_sources.length === 1;
  });
  await context.close();
});
