import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMirror, listFiles, listNodes, type NodeRef } from '@workspace-graph/contracts';
import type { Page } from 'playwright-core';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { Agent } from './agent.js';
import { ScriptedRun } from './scripted-run.js';
import { heading, LOOKS, Site, TITLES, until } from './site.js';

/** Where the pictures of docs/page.md go: `docs/images`. */
const PICTURES = process.env['SVC_TEST_DOCS_PICTURES'];
const withPictures = PICTURES ? describe : describe.skip;
const AGENT = 'Bakery agent';
const SIZE = { width: 1280, height: 720 };
const WALK_MS = 600_000;

const PLAN = `# Second oven

The bakery needs 40 loaves more each morning. The oven of 2011 has no room for them.

| Step | Until | Who |
| --- | --- | --- |
| Chimney inspected | Thursday | chimney sweep |
| Oven built | 12 June | Kamnářství Hora |
| First fire | 14 June | all bakers |

- [x] Offers compared
- [x] Permission of the building authority
- [ ] Chimney inspected
- [ ] Trial baking with **rye**
`;
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" rx="3" fill="#b45"/></svg>';
const OPTIONS = [
  { id: 'yes', label: 'Yes', role: 'allow_once' },
  { id: 'no', label: 'No', role: 'reject_once' },
];
const QUESTION = {
  type: 'approval',
  title: 'May the bricklayer come on Thursday?',
  text: 'He would be there together with the chimney sweep.',
  options: OPTIONS,
};

withPictures('the pictures of the documentation', () => {
  let site: Site;
  let oven: NodeRef;
  let waiting: Agent;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const root = join(tmpdir(), 'bakery');
    mkdirSync(root);
    const folder = new WorkspaceFolder({ root });
    site = stack.use(await Site.of(folder, await folder.start()));
    mkdirSync(PICTURES ?? '', { recursive: true });
    for (const { theme, language } of LOOKS) await takeFirstRun(theme, language);
    await site.folder.svc(['demo']);
    oven = await nodeNamed('Second oven');
    await placeFiles();
    await work();
  }, WALK_MS);
  afterAll(() => stack.disposeAsync());

  async function nodeNamed(name: string): Promise<NodeRef> {
    const { items } = await site.workspace.call(listNodes, { query: name, limit: 10 });
    const node = items.find((one) => one.name === name);
    if (!node) throw new Error(`The demo has no ${name}.`);
    return node;
  }

  async function placeFiles(): Promise<void> {
    const { local_path } = await site.workspace.call(createMirror, { node_id: oven.id });
    const root = local_path ?? '';
    for (const folder of ['wip/offers', 'outputs']) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'wip/plan.md'), PLAN);
    writeFileSync(join(root, 'wip/offers/kamnarstvi-hora.md'), '# Offer\n\nOne oven, built in two weeks.\n');
    writeFileSync(join(root, 'outputs/drawing.svg'), DRAWING);
    await until(
      'the files are there',
      async () => (await site.workspace.call(listFiles, { node_id: oven.id })).items.length === 3,
    );
  }

  async function work(): Promise<void> {
    const { workspace, folder } = site;
    const menu = await nodeNamed('Winter menu');
    const baker = stack.use(await Agent.connect(workspace, folder.token, menu.id, AGENT));
    await baker.call('svc_log', { node_id: menu.id, kind: 'note', content: 'Plum cake needs two trays more.' });
    waiting = stack.use(await Agent.connect(workspace, folder.token, oven.id, AGENT));
    await waiting.call('svc_log', { node_id: oven.id, kind: 'note', content: 'The chimney sweep comes on Thursday.' });
    await using run = await ScriptedRun.of(site);
    const read = (call_id: string, title: string, output_bytes: number) => [
      { kind: 'tool_call', payload: { call_id, phase: 'started', title, kind: 'read', input_summary: title } } as const,
      { kind: 'tool_call', payload: { call_id, phase: 'completed', title, kind: 'read', output_bytes } } as const,
    ];
    const owner = { role: 'owner', name: 'root' } as const;
    const asked =
      'The chimney sweep has answered. Put the date into the plan of the oven, and see whether it touches the Christmas baking.';
    await run.enter(waiting.session, [
      { kind: 'user_message', payload: { text: asked, author: owner } },
      { kind: 'reasoning', payload: { text: 'The plan has a table of steps; the inspection is the first of them.' } },
      ...read('a', 'Second oven', 5_800),
      ...read('b', 'wip/plan.md', 2_100),
      { kind: 'file_change', payload: { path: 'wip/plan.md', change: 'modified' } },
      {
        kind: 'assistant_message',
        payload: {
          text: 'Thursday is in the plan. The first fire can be lit on Friday, so the Christmas baking begins as it was agreed.\n\nOne thing is left for you: the bricklayer wants to know whether he may come on Thursday too.',
        },
      },
    ]);
    await run.ask(waiting.session, [QUESTION]);
  }

  async function keep(
    page: Page,
    name: string,
    look: { readonly theme: string; readonly language: string },
  ): Promise<void> {
    await page.locator('.sk').first().waitFor({ state: 'hidden' });
    const suffix = look.language === 'en' ? look.theme : `${look.theme}-${look.language}`;
    await page.screenshot({ path: join(PICTURES ?? '', `${name}-${suffix}.png`) });
  }

  async function takeFirstRun(theme: 'light' | 'dark', language: 'en' | 'cs'): Promise<void> {
    const { context, page } = await site.visit('/start', { theme, language, ...SIZE });
    await page.locator('main img, main svg').first().waitFor();
    await keep(page, 'first-run', { theme, language });
    await context.close();
  }

  it.each(LOOKS)(
    'show each view: $theme, $language',
    async (look) => {
      const { context, page } = await site.visit('/overview', { ...look, ...SIZE });
      const go = async (path: string): Promise<void> => {
        await page.goto(`${site.workspace.url}/app${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
      };
      await heading(page, TITLES[look.language].overview);
      await page.getByText(QUESTION.title).waitFor();
      await keep(page, 'overview', look);
      await go(`/graph?node=${oven.id}`);
      await page.locator('[role=application][data-edges]').waitFor();
      await page.getByRole('heading', { level: 2, name: oven.name, exact: true }).waitFor();
      await keep(page, 'graph', look);
      await page.getByRole('application').focus();
      await page.keyboard.press('l');
      await page.getByRole('listbox').getByRole('option', { selected: true }).waitFor();
      await page.getByRole('tab').nth(1).click();
      await page.getByText('plan.md').waitFor();
      await keep(page, 'list', look);
      await page.getByRole('tab').nth(2).click();
      await page.getByText('The chimney sweep comes on Thursday.').waitFor();
      await keep(page, 'node', look);
      await go(`/graph?node=${oven.id}&file=wip/plan.md`);
      await page.getByRole('dialog').locator('.doc table').waitFor();
      await keep(page, 'file', look);
      await go(`/workspace?session=${waiting.session.id}`);
      await page.getByRole('log').getByText('Thursday is in the plan.').waitFor();
      await keep(page, 'session', look);
      await go('/settings#mcp');
      await page.locator('#section-mcp').waitFor();
      await page.locator('#section-mcp').scrollIntoViewIfNeeded();
      await keep(page, 'settings', look);
      await go('/transfer');
      await page.locator('input[type=file]').waitFor({ state: 'attached' });
      await keep(page, 'transfer', look);
      await context.close();
    },
    WALK_MS,
  );
});
