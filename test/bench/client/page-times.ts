import type { Page } from 'playwright-core';

interface Task {
  readonly startMs: number;
  readonly tookMs: number;
}

/** Opens an address. @returns milliseconds until the page shows what matches the selector, and has painted it */
export async function openUntil(page: Page, address: string, selector: string): Promise<number> {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForSelector(selector, { state: 'attached' });
  return page.evaluate<number>(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))',
  );
}

/** A document without our scripts that asks the same. @returns milliseconds until all answers are parsed */
export async function openBare(page: Page, url: string, paths: readonly string[]): Promise<number> {
  await page.route('**/*.js', (route) => route.abort());
  await page.goto(`${url}/app/`, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(`Promise.all(${JSON.stringify(paths)}.map((path) =>
    fetch(path).then((answer) => answer.json()))).then(() => performance.now())`);
  await page.context().close();
  return ms;
}

/** Milliseconds that have passed in the page. */
export const nowIn = (page: Page): Promise<number> => page.evaluate<number>('performance.now()');

/** The longest time since then for which the page answered nothing; 0 where it was always short. */
export async function longestTask(page: Page, sinceMs: number): Promise<number> {
  // What has just ended is told a moment later.
  await page.evaluate('new Promise((done) => requestIdleCallback(() => setTimeout(done, 100), { timeout: 5_000 }))');
  const tasks = await page.evaluate<Task[]>('tasks');
  return Math.max(0, ...tasks.filter(({ startMs }) => startMs >= sinceMs).map(({ tookMs }) => tookMs));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
