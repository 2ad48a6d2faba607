import {
  addResponsibility,
  changeGroupMembers,
  createActor,
  createGroup,
  createNode,
  createToken,
  createUser,
  explainAccess,
  listActors,
  listDuties,
  listGroupMembers,
  listGroups,
  listUsers,
  type Node,
  setAccess,
  whoami,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { expectAccessible, Site, undo, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
let organization: Node;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
  organization = await site.organization();
});
afterAll(() => site?.[Symbol.asyncDispose]());

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** Opens the row of somebody or something. */
const open = (page: Page, part: string, name: string) =>
  section(page, part).locator('.dir-row').filter({ hasText: name }).click();
/** Narrows a list by its search, until nothing moves under the pointer any more. */
const seek = async (page: Page, part: string, text: string): Promise<void> => {
  const rows = section(page, part).locator('.dir-row');
  await rows.first().waitFor();
  await section(page, part).getByRole('searchbox').fill(text);
  await rows.filter({ hasNotText: text }).first().waitFor({ state: 'detached' });
};
const user = async (name: string) => (await workspace.call(listUsers, { query: name })).items[0];
const group = async (name: string) => (await workspace.call(listGroups, { query: name })).items[0];
const actor = async (name: string) => (await workspace.call(listActors, { query: name })).items[0];

it('people are found, added, renamed and given less or more; each change is taken back from its note', async () => {
  for (let index = 0; index < 25; index++) await workspace.call(createUser, { name: `Crowd ${index}` });
  await workspace.call(createUser, { name: 'Žofie <Malá>', email: 'zofie@example.org' });
  const { context, page, faults } = await site.visit('/settings#people');
  const people = section(page, 'People');
  await people.getByText('Crowd 0').waitFor();
  expect(await people.locator('.dir-row').count()).toBe(10);
  await people.getByRole('button', { name: 'Show more' }).click();
  await until('there are more', async () => (await people.locator('.dir-row').count()) === 20);
  await page.getByRole('searchbox', { name: 'Search people' }).fill('zofie');
  await people.getByText('Crowd 0').waitFor({ state: 'hidden' });
  await open(page, 'People', 'Žofie <Malá>');
  await people.getByRole('textbox', { name: 'Name', exact: true }).fill('Žofie Velká');
  await people.getByRole('textbox', { name: 'E-mail' }).fill('');
  await button(page, 'Save').click();
  await page.getByText('Žofie Velká is saved.').waitFor();
  expect(await user('Velká')).toMatchObject({ name: 'Žofie Velká', email: null });
  await undo(page, 'Žofie Velká is saved');
  await until('it is as before', async () => (await user('Malá'))?.email === 'zofie@example.org');
  await people.getByLabel('What Žofie <Malá> may do at most').selectOption('manage');
  await until('she manages', async () => (await user('Malá'))?.max_scope === 'manage');
  await undo(page, 'Žofie <Malá>: manage');
  await until('she does not', async () => (await user('Malá'))?.max_scope === 'write');
  await page.getByRole('searchbox', { name: 'Search people' }).fill('nobody of them');
  await people.getByText('Nothing of that name.').waitFor();
  await people.getByRole('button', { name: 'Show all' }).click();
  await people.getByText('Crowd 0').waitFor();
  await button(page, 'Add a person').click();
  await people.getByRole('textbox', { name: 'Name', exact: true }).fill('Nora');
  await people.getByLabel('May at most').selectOption('read');
  await page.keyboard.press('Tab');
  await button(page, 'Add').click();
  await page.getByText('Nora is added.').waitFor();
  expect(await user('Nora')).toMatchObject({ max_scope: 'read', email: null });
  expect(faults.list).toEqual([]);
  await context.close();
});

it('whoever is disabled is so after it is said what that means, with what they own; oneself is warned', async () => {
  const { id, name } = await workspace.call(createUser, { name: 'Dora' });
  const { secret } = await workspace.call(createToken, { user_id: id, label: 'page', scope: 'write' });
  const { id: owner_id } = await workspace.call(createActor, { type: 'person', name: 'Dora', user_id: id });
  await workspace.call(createNode, { type: 'project', name: 'Oven', organization_id: organization.id, owner_id });
  const { context, page, faults } = await site.visit('/settings#people');
  await seek(page, 'People', 'Dora');
  await open(page, 'People', name);
  await button(page, 'Disable').click();
  const question = page.getByRole('alertdialog', { name: 'Disable Dora?' });
  await question.getByText('no token of theirs works').waitFor();
  await question.getByText('Owns 1 node.').waitFor();
  await question.getByText('Oven').waitFor();
  expect((await user('Dora'))?.disabled).toBe(false);
  await question.getByRole('button', { name: 'Disable' }).click();
  await section(page, 'People').getByText('Disabled').waitFor();
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${workspace.url}/me`, { headers })).status).toBe(401);
  await button(page, 'Enable').click();
  await until('she is enabled', async () => (await user('Dora'))?.disabled === false);
  const me = (await workspace.call(whoami, {})).user.name;
  await seek(page, 'People', me);
  await open(page, 'People', 'you');
  await page.getByLabel(/^What .* may do at most$/).selectOption('read');
  await page.getByRole('alertdialog', { name: 'Give up managing this workspace?' }).waitFor();
  await button(page, 'Back').click();
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
  await button(page, 'Disable').click();
  await page.getByText('you are signed out at once').waitFor();
  await button(page, 'Back').click();
  expect((await workspace.fetch('/me')).status).toBe(200);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a group is made, filled and deleted; whoever gains or loses a node by it is named before', async () => {
  const { id: user_id } = await workspace.call(createUser, { name: 'Gita' });
  const secret = await workspace.call(createNode, { type: 'project', name: 'Vault', organization_id: organization.id });
  const { context, page, faults } = await site.visit('/settings#groups');
  const groups = section(page, 'Groups');
  await groups.getByText('There is no group yet').waitFor();
  await button(page, 'Add a group').click();
  await groups.getByRole('textbox', { name: 'Name', exact: true }).fill('Bakers');
  await groups.getByRole('textbox', { name: 'Claim' }).fill('bakers@idp');
  await page.keyboard.press('Enter');
  await page.getByText('Group Bakers is added.').waitFor();
  const { id: group_id = '' } = (await group('Bakers')) ?? {};
  const recipients = [{ kind: 'group' as const, id: group_id, access: 'read' as const }];
  await workspace.call(setAccess, { node_id: secret.id, visibility: 'group', recipients, confirmed: true });
  const members = async () => (await workspace.call(listGroupMembers, { group_id })).items.map(({ name }) => name);
  const level = async () => (await workspace.call(explainAccess, { node_id: secret.id, user_id })).level;

  await open(page, 'Groups', 'Bakers');
  await groups.getByText('The provider fills it from the claim bakers@idp at each sign-in').waitFor();
  await groups.getByRole('combobox', { name: 'Find a person to add' }).fill('gita');
  await page.getByRole('option', { name: 'Gita' }).click();
  const adding = page.getByRole('alertdialog', { name: 'Add Gita to Bakers?' });
  await adding.getByText('1 person gains access: Gita').waitFor();
  expect(await members()).toEqual([]);
  await adding.getByRole('button', { name: 'Add' }).click();
  await groups.getByText('1 member', { exact: true }).waitFor();
  expect([await members(), await level()]).toEqual([['Gita'], 'read']);
  await groups.getByRole('combobox', { name: 'Find a person to add' }).fill('gita');
  await page.getByRole('option', { name: /is a member/ }).waitFor();
  await page.keyboard.press('Escape');
  await button(page, 'Take Gita out').click();
  await groups.getByText('0 members').waitFor();
  await undo(page, 'Gita is not in Bakers');
  await groups.getByText('1 member', { exact: true }).waitFor();
  await groups.getByRole('textbox', { name: 'Claim' }).fill('');
  await button(page, 'Save').click();
  await until('it has no claim', async () => (await group('Bakers'))?.claim === null);
  await button(page, 'Delete the group').click();
  const question = page.getByRole('alertdialog', { name: 'Delete Bakers?' });
  await question.getByText('1 person loses access: Gita').waitFor();
  expect(await level()).toBe('read');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Bakers is deleted.').waitFor();
  expect([await group('Bakers'), await level()]).toEqual([undefined, 'none']);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('an actor is added, tied to an account and handed over to another one with all that it owns and holds', async () => {
  await workspace.call(createUser, { name: 'Ivo Account' });
  const { id: owner_id } = await workspace.call(createActor, { type: 'person', name: 'Ivo' });
  await workspace.call(createActor, { type: 'automation', name: 'Ivobot' });
  const node = await workspace.call(createNode, {
    type: 'process',
    name: 'Delivery',
    organization_id: organization.id,
    owner_id,
  });
  const duty = { node_id: node.id, title: 'Routes', assignee_ids: [owner_id] };
  await workspace.call(addResponsibility, duty);
  const { context, page, faults } = await site.visit('/settings#actors');
  const actors = section(page, 'Actors');
  await seek(page, 'Actors', 'ivo');
  await actors
    .locator('.dir-row')
    .filter({ has: page.getByText('Ivo', { exact: true }) })
    .click();
  await actors.getByText('Routes').waitFor();
  await actors.getByRole('combobox', { name: 'Find the account of this person' }).fill('ivo acc');
  await page.getByRole('option', { name: 'Ivo Account' }).click();
  await button(page, 'Part from the account Ivo Account').waitFor();
  expect((await actor('Ivo'))?.user_id).toBe((await user('Ivo Account'))?.id);
  await undo(page, 'Ivo is the account Ivo Account');
  await actors.getByRole('combobox', { name: 'Find the account of this person' }).waitFor();
  await button(page, 'Delete or hand over…').click();
  const question = page.getByRole('alertdialog', { name: 'Delete Ivo?' });
  await question.getByText('Owns 1 node.').waitFor();
  await question.getByText('Holds 1 responsibility.').waitFor();
  expect(await question.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  await question.getByRole('combobox', { name: 'Who takes it over?' }).fill('ivobot');
  await page.getByRole('option', { name: 'Ivobot' }).click();
  await question.getByRole('button', { name: 'Hand over and delete' }).click();
  await page.getByText('Ivobot has taken over from Ivo.').waitFor();
  const heir = (await actor('Ivobot'))?.id ?? '';
  const { items } = await workspace.call(listDuties, { actor_id: heir });
  expect(items.map(({ role }) => role).sort()).toEqual(['assignee', 'owner']);
  await button(page, 'Add an actor').click();
  await actors.getByRole('textbox', { name: 'Name', exact: true }).fill('Unused');
  await page.keyboard.press('Enter');
  await page.getByText('Unused is added.').waitFor();
  await seek(page, 'Actors', 'unused');
  await open(page, 'Actors', 'Unused');
  await button(page, 'Delete or hand over…').click();
  await page.getByText('It owns nothing and holds no responsibility.').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await actors.getByText('Nothing of that name.').waitFor();
  expect(await actor('Unused')).toBeUndefined();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('whoever does not manage sees themselves and the actors, and nothing to change them with', async () => {
  const { id } = await workspace.call(createUser, { name: 'Reader', email: 'reader@example.org' });
  await workspace.call(createActor, { type: 'person', name: 'Somebody' });
  const { secret } = await workspace.call(createToken, { user_id: id, label: 'page', scope: 'read' });
  const { context, page, faults } = await site.visit('/settings', { token: secret });
  await section(page, 'People').getByText('reader@example.org').waitFor();
  await seek(page, 'Actors', 'somebody');
  await open(page, 'Actors', 'Somebody');
  await page.getByText('Nothing yet.').waitFor();
  expect(await section(page, 'Groups').count()).toBe(0);
  const parts = page.getByRole('region', { name: /^(People|Actors)$/ });
  expect(await parts.getByRole('button', { name: /Add|Delete|Save|Disable/ }).count()).toBe(0);
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each([
  ['en', 'light', 1440],
  ['cs', 'dark', 1024],
] as const)('its lists and what is open in them are accessible: %s, %s, %i px', async (language, theme, width) => {
  const { id } = await workspace.call(createUser, { name: `Access ${language}` });
  const { id: group_id } = await workspace.call(createGroup, {
    name: `Readers ${language}`,
    claim: `${language}${'c'.repeat(300)}`,
  });
  await workspace.call(changeGroupMembers, { group_id, add: [id], confirmed: true });
  await workspace.call(createActor, { type: 'person', name: `Actor ${language}` });
  const { context, page, faults } = await site.visit('/settings', { language, theme, width });
  const [people = '', groups = '', actors = ''] = {
    en: ['People', 'Groups', 'Actors'],
    cs: ['Lidé', 'Skupiny', 'Aktéři'],
  }[language];
  const show = async (part: string, name: string): Promise<void> => {
    await seek(page, part, name);
    await open(page, part, name);
  };
  await show(people, `Access ${language}`);
  await show(groups, `Readers ${language}`);
  await show(actors, `Actor ${language}`);
  await section(page, groups).getByText(`Access ${language}`).waitFor();
  await page.getByRole('button', { name: language === 'en' ? 'Delete or hand over…' : 'Smazat nebo předat…' }).click();
  await page.getByRole('alertdialog').waitFor();
  await expectAccessible(page);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  expect(faults.list).toEqual([]);
  await context.close();
});
