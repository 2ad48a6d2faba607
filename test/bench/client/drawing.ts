import type { Page } from 'playwright-core';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { itemAt } from '../world.js';
import { longestTask, median, nowIn, openBare, openUntil } from './page-times.js';
import type { ClientStage } from './stage.js';

const MOST = { interactiveMs: 5_000, taskMs: 200 };

interface Drawn {
  readonly interactiveMs: number;
  /** Until the last of its edges is there. */
  readonly edgesMs: number;
  readonly bareMs: number;
  readonly tasks: Readonly<Record<string, number>>;
}

/** A large graph: until it is drawn, and the longest time without an answer while it is used. */
export async function measureDrawing(stage: ClientStage): Promise<Figure[]> {
  const nodes = stage.options.nodes.toLocaleString('en-US');
  // Later visits find the places that this one keeps.
  const placing = await measurePlacing(stage);
  const drawn: Drawn[] = [];
  for (let visit = 0; visit < stage.options.visits; visit++) drawn.push(await drawOnce(stage, visit));
  const [ms, bareMs] = [median(drawn.map((one) => one.interactiveMs)), median(drawn.map((one) => one.bareMs))];
  return [
    {
      what: `graph of ${nodes} nodes, until drawn and usable, p50`,
      value: ms,
      unit: 'ms',
      beside: { name: 'bare page that fetches and parses it', value: bareMs },
      ratio: ms / bareMs,
      verdict: below(MOST.interactiveMs, ms),
    },
    {
      what: `graph of ${nodes} nodes, until all its edges are drawn, p50`,
      value: median(drawn.map((one) => one.edgesMs)),
      unit: 'ms',
      verdict: null,
    },
    ...Object.keys(drawn[0]?.tasks ?? {}).map((what) =>
      longest(what, median(drawn.map(({ tasks }) => tasks[what] ?? 0))),
    ),
    {
      what: `${nodes} nodes without places, until the first drawing`,
      value: placing.firstMs,
      unit: 'ms',
      verdict: null,
    },
    { what: `${nodes} nodes without places, until all are kept`, value: placing.keptMs, unit: 'ms', verdict: null },
    longest('while they are placed', placing.taskMs),
  ];
}

function longest(what: string, value: number): Figure {
  return { what: `longest task, ${what}`, value, unit: 'ms', verdict: below(MOST.taskMs, value) };
}

const isDrawn = (nodes: number): string => `[role=application][data-drawn="${nodes}"]`;

async function drawOnce(stage: ClientStage, visit: number): Promise<Drawn> {
  const { open, url, options, names } = stage;
  const page = await open();
  const interactiveMs = await openUntil(page, `${url}/app/graph`, isDrawn(options.nodes));
  await page.waitForSelector('[role=application][data-edges]');
  const edgesMs = await nowIn(page);
  const tasks: Record<string, number> = {};
  const during = async (what: string, act: () => Promise<unknown>) => {
    const sinceMs = await nowIn(page);
    await act();
    tasks[what] = await longestTask(page, sinceMs);
  };
  await during('nothing is done after it was drawn', async () => undefined);
  await during('a node is searched and selected', () => select(page, itemAt(names, visit * 4 + 3)));
  await during('the drawing is zoomed and moved', () => moveAround(page));
  await during('a filter is switched off and on', () => filter(page, options.nodes));
  await during('the list is opened and paged through', () => list(page));
  await page.context().close();
  return { interactiveMs, edgesMs, tasks, bareMs: await openBare(await open(), url, ['/graph']) };
}

async function select(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Find a node by name' }).fill(name);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Detail of the node' }).getByRole('heading', { level: 2 }).waitFor();
}

async function moveAround(page: Page): Promise<void> {
  const box = await page.getByRole('application').boundingBox();
  if (!box) throw new Error('Nothing is drawn');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  for (const delta of [-300, -300, 300]) await page.mouse.wheel(0, delta);
  await page.mouse.move(x + 5, y + 200);
  await page.mouse.down();
  await page.mouse.move(x + 80, y + 120, { steps: 6 });
  await page.mouse.up();
}

async function filter(page: Page, nodes: number): Promise<void> {
  const box = page.getByRole('checkbox', { name: /^Project/ });
  await box.uncheck();
  await page.waitForSelector(`[role=application]:not([data-drawn="${nodes}"])`);
  await box.check();
  await page.waitForSelector(isDrawn(nodes));
}

async function list(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await page.getByRole('listbox').focus();
  for (const key of ['PageDown', 'PageDown', 'End', 'Home']) await page.keyboard.press(key);
}

/** The first visit of all, which places the nodes for everybody. */
async function measurePlacing({ open, url, options }: ClientStage) {
  const page = await open();
  const kept = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/graph/positions');
  const firstMs = await openUntil(page, `${url}/app/graph`, isDrawn(options.nodes));
  await kept;
  const keptMs = await nowIn(page);
  const taskMs = await longestTask(page, firstMs);
  await page.context().close();
  return { firstMs, keptMs, taskMs };
}
