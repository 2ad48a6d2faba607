import type { CDPSession, Page } from 'playwright-core';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { itemAt } from '../world.js';
import type { ClientStage } from './stage.js';

/** Looks at the memory, after as many rounds as make everything warm. */
const LOOKS = 10;
const WARM = 2;
/** Of what was held after the warm rounds. */
const MOST_GROWTH = 1.1;
const TABS = ['Files', 'Events', 'Sessions', 'Detail'];

/** What is left in memory after going through the views again and again. */
export async function measureUse({ open, url, options, names }: ClientStage): Promise<Figure[]> {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  await page.goto(`${url}/app/graph`);
  await page.waitForSelector(`[role=application][data-drawn="${options.nodes}"]`);
  const heaps: number[] = [];
  const [startMs, leastMs] = [performance.now(), options.minutes * 60_000];
  const looks = Math.min(LOOKS, options.rounds);
  const perLook = Math.ceil(options.rounds / looks);
  let rounds = 0;
  for (let look = 1; look <= looks; look++) {
    for (let round = 0; round < perLook || performance.now() - startMs < (leastMs * look) / looks; round++)
      await goAround(page, itemAt(names, rounds++));
    heaps.push(await heapMB(session));
  }
  await page.context().close();
  const [warm, last] = [heaps[WARM - 1] ?? Number.NaN, heaps.at(-1) ?? Number.NaN];
  const minutes = Math.round((performance.now() - startMs) / 6_000) / 10;
  return [
    {
      what: `heap after ${rounds} rounds through the views (${minutes} min)`,
      value: last,
      unit: 'MB',
      beside: { name: `after ${WARM * perLook} rounds or more`, value: warm },
      ratio: last / warm,
      verdict: { ...below(MOST_GROWTH, last / warm), target: `< ${MOST_GROWTH}×` },
    },
  ];
}

async function goAround(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Find a node by name' }).fill(name);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Detail of the node' }).getByRole('heading', { level: 2 }).waitFor();
  for (const tab of TABS) await page.getByRole('tab', { name: tab }).click();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('link', { name: 'Graph', exact: true }).first().click();
  await page.getByRole('textbox', { name: 'Find a node by name' }).waitFor();
}

/** What is still used, as the browser counts it. */
async function heapMB(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1_000_000;
}
