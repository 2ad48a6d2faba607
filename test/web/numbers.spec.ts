import { LANGUAGES, Site } from './site.js';

const MANY = 1_233;

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  const areas = Array.from({ length: MANY }, (_, at) => ({
    key: `a${at}`,
    type: 'area',
    name: `Area ${at}`,
    organization: 'o',
  }));
  const organizations = ['o', 'Branch 10', 'Branch 9'].map((key) => ({ key, type: 'organization', name: key }));
  const nodes = [...organizations, ...areas];
  const document = JSON.stringify({ format: 'workspace-graph/1', nodes });
  expect(await site.folder.svc(['import', '-'], { input: document })).toMatchObject({ code: 0 });
});
afterAll(() => site?.[Symbol.asyncDispose]());

const SAID = {
  en: { extent: '1,236 nodes', areas: '1,233', organizations: /^Organization 3$/ },
  cs: { extent: '1 236 nodů', areas: '1 233', organizations: /^Organizace 3$/ },
} as const;

it.each(LANGUAGES)('a number of nodes beyond a thousand is written as the language does: %s', async (language) => {
  const { extent, areas, organizations } = SAID[language];
  const { context, page, faults } = await site.visit('/graph', { language });
  await page.getByText(extent).waitFor();
  await page.locator('label').filter({ hasText: areas }).first().waitFor();
  await page.getByRole('checkbox', { name: organizations }).first().waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('organizations whose names have numbers stand in the order of these among the filters', async () => {
  const { context, page, faults } = await site.visit('/graph');
  const labels = page.locator('label').filter({ hasText: 'Branch' });
  await labels.first().waitFor();
  expect(await labels.allTextContents()).toEqual([
    expect.stringMatching(/^Branch 9/),
    expect.stringMatching(/^Branch 10/),
  ]);
  expect(faults.list).toEqual([]);
  await context.close();
});
