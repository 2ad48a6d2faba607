import { readFile, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createNode,
  createToken,
  createUser,
  GraphDocument,
  getOverview,
  LIMITS,
  listActors,
  listNodes,
  updateNode,
} from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import type { RunningWorkspace } from '../e2e/workspace-process.js';
import { expectAccessible, heading, Site, say, until } from './site.js';

let site: Site;
let workspace: RunningWorkspace;
beforeAll(async () => {
  site = await Site.start();
  workspace = site.workspace;
});
afterAll(() => site?.[Symbol.asyncDispose]());

const EMPTY = { en: 'Your workspace is empty', cs: 'Váš pracovní prostor je prázdný' };
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** Whether there are nodes of each of these names. */
const has = async (...names: readonly string[]): Promise<boolean[]> => {
  const { new_nodes } = await workspace.call(getOverview, {});
  return names.map((name) => new_nodes.some((node) => node.name === name));
};

/** A document for an import, on the disk. */
async function document(more: object): Promise<string> {
  const path = join(site.folder.root, 'document.json');
  await writeFile(path, JSON.stringify({ format: 'workspace-graph/1', nodes: [], ...more }));
  return path;
}
const choose = (page: Page, path: string) => page.locator('input[type=file]').setInputFiles(path);

it('an empty workspace begins with a name, which leads to the organization in the graph', async () => {
  await using empty = await Site.start();
  const { page, faults } = await empty.visit('/overview');
  await heading(page, EMPTY.en);
  expect(await page.title()).toBe(`${say(EMPTY.en)} · Workspace Graph`);
  await expectAccessible(page);
  await button(page, 'Create').click();
  await page.keyboard.type('Kolonáda');
  await page.keyboard.press('Escape');
  await page.reload();
  await button(page, 'Create').click();
  await page.keyboard.press('End');
  await page.keyboard.type(' <b>"\u202e');
  await page.keyboard.press('Enter');
  await heading(page, 'Graph');
  // Whoever works by keyboard goes on from what was made.
  await page.getByRole('heading', { level: 2, name: 'Kolonáda <b>"\u202e' }).and(page.locator(':focus')).waitFor();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await heading(page, 'Overview');
  // The ways to begin are found later, too.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find or do' }).fill(say('Ways to begin'));
  await page.getByRole('option', { name: 'Ways to begin' }).click();
  await heading(page, 'Ways to begin');
  expect(faults.list).toEqual([]);
  expect(await faults.shift()).toBeLessThan(0.05);
});

it('whoever is not first sees what others began; whoever may not begin is not asked to', async () => {
  await using empty = await Site.start();
  const reader = await empty.workspace.call(createUser, { name: 'Reader' });
  const { secret } = await empty.workspace.call(createToken, { user_id: reader.id, label: 'page', scope: 'read' });
  const reading = await empty.visit('/start', { token: secret });
  await reading.page.getByText('Whoever manages this workspace').waitFor();
  expect(await reading.page.getByRole('button', { name: /Choose|Create|Load/ }).count()).toBe(0);
  await reading.page.goto(`${empty.workspace.url}/app/overview`);
  await heading(reading.page, 'Overview');
  await reading.page.goto(`${empty.workspace.url}/app/transfer`);
  await reading.page.getByText('for whoever manages').waitFor();
  expect(reading.faults.list).toEqual([]);
  await reading.context.close();

  const { page, faults } = await empty.visit('/overview', { language: 'cs', theme: 'dark', width: 1024 });
  await heading(page, EMPTY.cs);
  await expectAccessible(page);
  await empty.workspace.call(createNode, { type: 'organization', name: 'Odjinud' });
  await heading(page, 'Přehled');
  await page.getByRole('link', { name: /Odjinud/ }).waitFor();
  expect(faults.list).toEqual([]);
});

it('a document is checked, imported once and says what it changes; what differs is all that a second one changes', async () => {
  const nodes = [
    { key: 'o', type: 'organization', name: 'Dovoz' },
    { key: 'p', type: 'project', name: 'Pec', organization: 'o' },
  ];
  const { context, page, faults } = await site.visit('/start');
  await choose(page, await document({ nodes }));
  await heading(page, 'Import and export');
  await page.getByText('The document is valid').waitFor();
  await page.getByRole('row', { name: `${say('Nodes')} 2 0 0` }).waitFor();
  expect(await has('Dovoz', 'Pec')).toEqual([false, false]);
  await expectAccessible(page);
  await button(page, 'Import it').click();
  await page.getByText('It is imported.').waitFor();
  expect(await has('Dovoz', 'Pec')).toEqual([true, true]);

  await choose(page, await document({ nodes: [nodes[0], { ...nodes[1], name: 'Druhá pec' }] }));
  await page.getByRole('row', { name: `${say('Nodes')} 0 1 1` }).waitFor();
  await button(page, 'Import it').click();
  await page.getByText('It is imported.').waitFor();
  await choose(page, await document({ nodes: [nodes[0], { ...nodes[1], name: 'Druhá pec' }] }));
  await page.getByText('There is nothing to import').waitFor();
  expect(await button(page, 'Import it').count()).toBe(0);
  expect(await has('Dovoz', 'Druhá pec', 'Pec')).toEqual([true, true, false]);
  await button(page, 'Put it away').click();
  await page.getByText('Drop a document here').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a document with problems tells each at its place, and one that is no document too; nothing is imported', async () => {
  const { context, page, faults } = await site.visit('/transfer', { language: 'cs', theme: 'dark' });
  faults.allow(/^400 .*\/import/);
  const bad = Array.from({ length: 70 }, (_, at) => ({
    key: `n${at}`,
    type: 'area',
    name: '',
    organization: 'nobody',
  }));
  await choose(page, await document({ nodes: [{ key: 'o', type: 'organization', name: 'Dobrá' }, ...bad] }));
  await page.getByText('Dokument nebyl přijat: má 140 chyb.').waitFor();
  const issues = page.getByRole('list', { name: 'Chyby dokumentu' }).getByRole('listitem');
  await issues.filter({ hasText: 'nodes.1.name' }).filter({ hasText: 'must not be empty' }).waitFor();
  expect(await issues.count()).toBe(50);
  await expectAccessible(page);
  await button(page, 'Ukázat další').click();
  await until('more is shown', async () => (await issues.count()) === 100);
  await choose(page, join(import.meta.dirname, 'start.spec.ts'));
  await page.getByRole('alert').getByText('Dokument nebyl přijat').waitFor();
  expect(await has('Dobrá')).toEqual([false]);
  await context.close();
});

it('a document that is too large is not sent, and one that has changed since it was checked is not imported', async () => {
  const { context, page, faults } = await site.visit('/transfer');
  faults.allow(/UPLOAD_FILE_CHANGED/);
  const path = await document({ nodes: [{ key: 'changing', type: 'organization', name: 'Vyměněná' }] });
  await choose(page, path);
  await button(page, 'Import it').waitFor();
  await document({ nodes: [{ key: 'changing', type: 'organization', name: 'Podstrčená' }] });
  // Browsers tell a change by the second.
  await utimes(path, new Date(), new Date(Date.now() + 60_000));
  await button(page, 'Import it').click();
  await page.getByText('has changed since it was chosen').waitFor();
  expect(await has('Vyměněná', 'Podstrčená')).toEqual([false, false]);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await truncate(path, LIMITS.importBytes + 1);
  await choose(page, path);
  await page.getByText('The document is larger than 268 MB,').waitFor();
  expect(asked).not.toContain('/import');
  expect(faults.list.filter((fault) => !fault.includes('ERR_UPLOAD_FILE_CHANGED'))).toEqual([]);
  await context.close();
});

it('an import that gives somebody access asks first; one on its way is abandoned and leaves nothing behind', async () => {
  const person = await workspace.call(createUser, { name: 'Uma' });
  const { id } = await workspace.call(createNode, { type: 'organization', name: 'Tajná', visibility: 'private' });
  const nodes = [{ key: id, id, type: 'organization', name: 'Tajná', sharing: { visibility: 'everyone' } }];
  const { context, page, faults } = await site.visit('/transfer');
  await choose(page, await document({ nodes }));
  const question = page.getByRole('alertdialog');
  await question.getByText(/Uma/).waitFor();
  let isHeld = false;
  await page.route('**/import?dry_run=false*', () => {
    isHeld = true;
  });
  await question.getByRole('button', { name: 'Import it anyway' }).click();
  await until('it is on its way', async () => isHeld);
  await button(page, 'Abandon').click();
  await question.waitFor();
  await page.unroute('**/import?dry_run=false*');
  const seen = async () => {
    const { secret } = await workspace.call(createToken, { user_id: person.id, label: 'look', scope: 'read' });
    const answer = await fetch(`${workspace.url}/nodes/${id}`, { headers: { authorization: `Bearer ${secret}` } });
    await answer.text();
    return answer.status;
  };
  expect(await seen()).toBe(404);
  await question.getByRole('button', { name: 'Import it anyway' }).click();
  await page.getByText('It is imported.').waitFor();
  expect(await seen()).toBe(200);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('an answer that was lost is asked for again, and the import has happened once', async () => {
  const { context, page, faults } = await site.visit('/transfer');
  faults.allow(/^net::ERR_FAILED .*\/import/);
  const path = await document({ nodes: [{ key: 'once', type: 'organization', name: 'Jednou' }] });
  await choose(page, path);
  await button(page, 'Import it').waitFor();
  const whole = await readFile(path, 'utf8');
  await page.route(
    '**/import?dry_run=false*',
    async (route) => {
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': route.request().headers()['idempotency-key'] ?? '',
      };
      const url = route.request().url();
      await page.evaluate((sent) => fetch(sent.url, { method: 'POST', headers: sent.headers, body: sent.whole }), {
        url,
        headers,
        whole,
      });
      await route.abort();
    },
    { times: 1 },
  );
  await button(page, 'Import it').click();
  await page.getByText('The workspace does not answer').waitFor();
  const { new_nodes } = await workspace.call(getOverview, {});
  const { id = '' } = new_nodes.find(({ name }) => name === 'Jednou') ?? {};
  await workspace.call(updateNode, { node_id: id, name: 'Dvakrát' });
  await button(page, 'Try again').click();
  await page.getByText('It is imported.').waitFor();
  expect(await has('Jednou', 'Dvakrát')).toEqual([false, true]);
  await context.close();
});

it('everything is downloaded as the document that the workspace exports', async () => {
  await workspace.call(createNode, { type: 'organization', name: 'Vývoz' });
  const { context, page, faults } = await site.visit('/transfer');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download everything' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^workspace-graph-\d{4}-\d\d-\d\d\.json$/);
  const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as {
    format: string;
    nodes: { name: string }[];
  };
  expect([saved.format, saved.nodes.some(({ name }) => name === 'Vývoz')]).toEqual(['workspace-graph/1', true]);
  expect(faults.list).toEqual([]);
  await context.close();
});

describe('the demo', () => {
  it('is loaded in the language of the page, shown in the graph and removed as a whole; what was added is told', async () => {
    await using empty = await Site.start();
    const { page, faults } = await empty.visit('/overview', { language: 'cs' });
    await page.getByText('Vymyšlená organizace o 21 nodech').waitFor();
    await button(page, 'Načíst ukázku').click();
    await heading(page, 'Graf');
    await page.getByText('Lipová pekárna · 21 nodů').first().waitFor();
    const all = async () => (await empty.workspace.call(listNodes, { limit: 100 })).items;
    const organization = (await all()).find(({ type }) => type === 'organization');
    expect(organization?.name).toBe('Lipová pekárna');
    await empty.workspace.call(createNode, {
      type: 'project',
      name: 'Vlastní',
      organization_id: organization?.id ?? '',
    });
    await page.goto(`${empty.workspace.url}/app/transfer`);
    await button(page, 'Odstranit ukázku…').click();
    const question = page.getByRole('alertdialog');
    await question.getByText('Zmizí 22 nodů').waitFor();
    await question.getByText('1 z nich k ukázce nepatří').waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Odstranit nadobro' }).click();
    await page.getByText('Ukázka je odstraněná.').waitFor();
    expect(await all()).toEqual([]);
    expect((await empty.workspace.call(listActors, { query: 'Lipová' })).items).toEqual([]);
    await page.getByRole('link', { name: 'Přehled', exact: true }).click();
    await heading(page, EMPTY.cs);
    // It can be loaded again.
    await button(page, 'Načíst ukázku').click();
    await page.getByText('Lipová pekárna · 21 nodů').first().waitFor();
    expect(faults.list).toEqual([]);
  });

  it('names the same records in both languages, and as many nodes as the page says', async () => {
    const [english, czech] = await Promise.all(
      ['', '.cs'].map(async (part) => {
        const path = join(import.meta.dirname, `../../apps/device-agent/demo/linden-bakery${part}.json`);
        return GraphDocument.parse(JSON.parse(await readFile(path, 'utf8')));
      }),
    );
    const recordsOf = ({ nodes, actors, events, edges }: GraphDocument) => ({
      nodes: nodes.map(({ key, id, type, lifecycle, owner, health }) => ({ key, id, type, lifecycle, owner, health })),
      actors: actors.map(({ key, id, type }) => ({ key, id, type })),
      events: events.map(({ key, node, kind, occurred_at }) => ({ key, node, kind, occurred_at })),
      edges,
    });
    if (!english || !czech) throw new Error('There are two documents.');
    expect(recordsOf(czech)).toEqual(recordsOf(english));
    expect(new Set(english.nodes.map(({ id }) => id)).size).toBe(21);
  });
});
