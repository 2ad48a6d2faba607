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
  const nodes = [{ key: 'o', type: 'organization', name: 'Kolonáda' }, ...areas];
  const document = JSON.stringify({ format: 'workspace-graph/1', nodes });
  expect(await site.folder.svc(['import', '-'], { input: document })).toMatchObject({ code: 0 });
});
afterAll(() => site?.[Symbol.asyncDispose]());

const SAID = {
  en: { extent: 'Kolonáda · 1,234 nodes', areas: '1,233', organizations: /^Organization 1$/ },
  cs: { extent: 'Kolonáda · 1 234 nodů', areas: '1 233', organizations: /^Organizace 1$/ },
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
