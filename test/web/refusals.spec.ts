import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNode, ERRORS, type Node } from '@workspace-graph/contracts';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { NodeFolders } from './node-folders.js';
import { LANGUAGES, type Language, Site } from './site.js';

type Table = Readonly<Record<string, string>>;
const TABLES = Object.fromEntries(
  await Promise.all(
    LANGUAGES.map(async (language): Promise<[Language, Table]> => {
      const path = `../../apps/desktop/web/src/i18n/${language}/refusals.js`;
      const { refusals } = (await import(path)) as { readonly refusals: { readonly refusal: Table } };
      return [language, refusals.refusal];
    }),
  ),
) as Readonly<Record<Language, Table>>;

it.each(Object.keys(ERRORS))('the refusal %s has words of its own in each language', (code) => {
  const [english = '', czech = ''] = [TABLES.en[code], TABLES.cs[code]];
  expect([english, czech]).toEqual([expect.stringMatching(/^[A-Z].+[.]$/), expect.stringMatching(/^\p{Lu}.+[.]$/u)]);
  expect(czech).not.toBe(english);
});

describe('a refusal', () => {
  let workspace: RunningWorkspace;
  let site: Site;
  let organization: Node;
  beforeAll(async () => {
    site = await Site.start();
    workspace = site.workspace;
    organization = await site.organization();
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  it.each([
    ['en', 'This node is not here.'],
    ['cs', 'Tenhle node tu není.'],
  ] as const)(
    'is told in the language of the page (%s), and in the words of the workspace below it',
    async (language, words) => {
      const node = await workspace.call(createNode, {
        type: 'project',
        name: `Plan ${language}`,
        organization_id: organization.id,
      });
      const { context, page, faults } = await site.visit(`/graph?node=${node.id}`, { language });
      faults.allow(/^404 /);
      const body = { code: 'NODE_NOT_FOUND', message: 'There is no node with this id.', request_id: 'r' };
      const part = language === 'cs' ? 'Události' : 'Events';
      await page.route('**/events?*', (route) => route.fulfill({ status: 404, json: body }));
      await page.getByRole('tab', { name: part }).click();
      const alert = page.getByRole('alert');
      await alert.getByText(words, { exact: true }).waitFor();
      const detail = alert.getByText(body.message, { exact: true });
      expect(await detail.getAttribute('lang')).toBe('en');
      await alert.getByText('NODE_NOT_FOUND', { exact: true }).waitFor();
      await context.close();
    },
  );

  it.each([
    { language: 'en', title: 'Actors', names: ['Add an actor', 'Name', 'Add'] },
    { language: 'cs', title: 'Aktéři', names: ['Přidat aktéra', 'Jméno', 'Přidat'] },
  ] as const)(
    'of what is written in a field says what belongs there ($language)',
    async ({ language, title, names }) => {
      const [add, name, submit] = names;
      const { context, page, faults } = await site.visit('/settings', { language });
      faults.allow(/^400 /);
      await page.getByRole('heading', { level: 2, name: title }).waitFor();
      await page.getByRole('button', { name: add }).click();
      const field = page.getByRole('textbox', { name, exact: true });
      const cs = language === 'cs';
      for (const [text, words] of [
        ['x'.repeat(201), cs ? 'Vejde se nejvýš 200 znaků.' : 'At most 200 characters fit in.'],
        [' ', cs ? 'Něco tu stát musí.' : 'Something must stand there.'],
      ] as const) {
        await field.fill(text);
        await page.getByRole('button', { name: submit, exact: true }).click();
        await page.getByRole('alert').getByText(words).waitFor();
      }
      await page.getByRole('alert').getByText('VALIDATION_FAILED').waitFor();
      await context.close();
    },
  );

  it('of a folder that is not wholly renamed is told in the language of the page, with the words of the workspace', async () => {
    const { node, folder } = await (await NodeFolders.in(workspace)).make();
    for (const name of ['drafts', 'letters']) mkdirSync(join(folder, 'wip', name));
    for (const name of ['drafts/one.md', 'drafts/two.md', 'letters/two.md'])
      writeFileSync(join(folder, 'wip', name), name);
    const { context, page } = await site.visit(`/graph?node=${node.id}`);
    const hint = 'An unexpected error occurred on this device. The change is recorded.';
    const answer = { applied: false, renamed: [], remaining: 2, repair_needed: true, hint };
    await page.route('**/rename-folder', (route) =>
      (route.request().postDataJSON() as { dry_run: boolean }).dry_run
        ? route.continue()
        : route.fulfill({ json: answer }),
    );
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('button', { name: 'drafts', exact: true }).hover();
    await page.getByRole('button', { name: 'Rename wip/drafts', exact: true }).click();
    await page.getByLabel('Name of the folder, with its section').fill('wip/letters');
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog');
    await question.getByText('1 file stays where it is:').waitFor();
    expect(await question.getByRole('listitem').locator('[lang=en]').textContent()).toContain('wip/letters/two.md');
    await question.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('alert').getByText('This is not finished.').waitFor();
    expect(await page.getByText(hint).getAttribute('lang')).toBe('en');
    await context.close();
  });

  it('of a text that is too long is foreseen while it is written', async () => {
    const node = await workspace.call(createNode, {
      type: 'area',
      name: 'Long',
      organization_id: organization.id,
    });
    const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
    await page.getByRole('button', { name: 'Edit: Description' }).click();
    const field = page.getByRole('textbox', { name: 'Description' });
    const told = page.getByText('At most 20,000 characters fit in, and there are 20,001');
    await field.fill('x'.repeat(20_001));
    await told.waitFor();
    await field.press('Backspace');
    await told.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await field.waitFor({ state: 'hidden' });
    expect(faults.list).toEqual([]);
    await context.close();
  });
});
