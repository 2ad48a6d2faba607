import type { CDPSession, Page } from 'playwright-core';
import { progress } from '../bench-command.js';
import type { Figure } from '../report/figures.js';
import { itemAt } from '../world.js';
import { type FileHome, makeFile } from './make-file.js';
import { median } from './page-times.js';
import type { ClientStage } from './stage.js';
import { isFlat, trendOf } from './trend.js';

/** Looks at the memory; those of the first quarter only make everything warm, and fill what the page keeps of answers. */
const LOOKS = 24;
const WARM_SHARE = 4;
/** Growth for each round that is none: a page that is used for a day makes some thousand rounds. */
const MOST = { heapKB: 50, nodes: 1, listeners: 1 };
const TABS = ['Files', 'Events', 'Sessions', 'Detail'];
const FILE = 'wip/notes.md';

interface Look {
  readonly rounds: number;
  readonly heapKB: number;
  readonly nodes: number;
  readonly listeners: number;
}

interface Walk {
  readonly page: Page;
  readonly home: FileHome;
}

/**
 * What rounds through all of the page leave in memory. The same nodes are visited in turns: what the page keeps of answers for
 * some minutes is soon complete, so that whatever grows after that is not wanted.
 */
export async function measureMemory(stage: ClientStage): Promise<Figure[]> {
  const home = await makeFile(stage, FILE, `# Notes\n\n${'Some **words** to be read.\n\n'.repeat(40)}`);
  await stage.longLog();
  const page = await stage.open();
  await page.goto(`${stage.url}/app/overview`);
  const session = await page.context().newCDPSession(page);
  const startMs = performance.now();
  const looks = await walkAndLook(stage, { page, home }, () => lookAt(page, session));
  await page.context().close();
  return figuresOf(looks, (performance.now() - startMs) / 60_000);
}

async function walkAndLook(
  { options, names }: ClientStage,
  walk: Walk,
  look: () => Promise<Omit<Look, 'rounds'>>,
): Promise<readonly Look[]> {
  const [startMs, leastMs] = [performance.now(), options.minutes * 60_000];
  const count = Math.min(LOOKS, options.rounds);
  const perLook = Math.ceil(options.rounds / count);
  const looks: Look[] = [];
  let rounds = 0;
  for (let at = 1; at <= count; at++) {
    for (let round = 0; round < perLook || performance.now() - startMs < (leastMs * at) / count; round++)
      await goAround(walk, itemAt(names, rounds++));
    const seen = { rounds, ...(await look()) };
    looks.push(seen);
    progress(`  ${rounds} rounds: ${Math.round(seen.heapKB)} KB, ${seen.nodes} nodes, ${seen.listeners} listeners`);
  }
  return looks;
}

function figuresOf(looks: readonly Look[], minutes: number): Figure[] {
  const warm = looks.slice(Math.floor(looks.length / WARM_SHARE));
  const rounds = looks.at(-1)?.rounds ?? 0;
  const [first, last] = [warm[0]?.heapKB ?? Number.NaN, warm.at(-1)?.heapKB ?? Number.NaN];
  return [
    {
      what: `heap after ${rounds} rounds (${minutes.toFixed(1)} min)`,
      value: last / 1_000,
      unit: 'MB',
      beside: { name: `after ${warm[0]?.rounds}`, value: first / 1_000 },
      ratio: last / first,
      verdict: null,
    },
    growth('heap', 'KB/round', { points: warm.map((one) => [one.rounds, one.heapKB]), most: MOST.heapKB }),
    growth('nodes of the document', '/round', {
      points: warm.map((one) => [one.rounds, one.nodes]),
      most: MOST.nodes,
    }),
    growth('listeners', '/round', { points: warm.map((one) => [one.rounds, one.listeners]), most: MOST.listeners }),
  ];
}

interface Grown {
  readonly points: readonly (readonly [number, number])[];
  readonly most: number;
}

function growth(what: string, unit: Figure['unit'], { points, most }: Grown): Figure {
  const trend = trendOf(points);
  return {
    what: `growth of ${what}, of ${Math.round(median(points.map(([, y]) => y))).toLocaleString('en-US')}`,
    value: trend.slope,
    unit,
    beside: { name: 'standard error', value: trend.error },
    verdict: { target: `flat, or < ${most}`, reached: isFlat(trend, most) },
  };
}

/** Each view, a node with its tabs, a file in the editor and the log of a session, all of it left again. */
async function goAround({ page, home }: Walk, name: string): Promise<void> {
  await go(page, 'Graph');
  await select(page, name);
  for (const tab of TABS) await page.getByRole('tab', { name: tab }).click();
  await select(page, home.name);
  await page.getByRole('heading', { level: 2, name: home.name, exact: true }).waitFor();
  await write(page);
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await page.getByRole('listbox').getByRole('option', { selected: true }).waitFor();
  await page.getByRole('button', { name: 'Drawing', exact: true }).click();
  await page.getByRole('application').waitFor();
  await page.getByRole('button', { name: 'Hide the pane' }).click();
  await go(page, 'Workspace');
  await page.locator('.slist a').first().click();
  await page.locator('[role=log] [data-seq]').first().waitFor();
  await page.getByRole('button', { name: 'Close the log' }).click();
  await go(page, 'Settings');
  await go(page, 'Sync');
  await go(page, 'Overview');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('main .card h2').first().waitFor();
}

async function go(page: Page, view: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: view, exact: true }).waitFor();
}

async function select(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Find a node by name' }).fill(name);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Detail of the node' }).getByRole('heading', { level: 2 }).waitFor();
}

/** Something that is not kept. */
async function write(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('link', { name: 'notes.md' }).click();
  await page.getByRole('dialog').locator('.doc').waitFor();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.type('some words ');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByText('Unsaved').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Close the file' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('tab', { name: 'Detail' }).click();
}

/** What is still used, as the browser counts it after its garbage is collected. */
async function lookAt(page: Page, session: CDPSession): Promise<Omit<Look, 'rounds'>> {
  // What the benchmark itself notes grows too.
  await page.evaluate('tasks.length = 0');
  // What only the first collection sets free is collected by the second.
  for (let pass = 0; pass < 2; pass++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { heapKB: usedSize / 1_000, nodes, listeners: jsEventListeners };
}
