import type { Page } from 'playwright-core';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { longestTask, median, nowIn, openBare, openUntil } from './page-times.js';
import type { ClientStage } from './stage.js';

const MOST = { usableMs: 1_500, taskMs: 200 };
const ROW = '[role=log] [data-seq]';
/** Turns of a wheel, and how far each moves. */
const TURNS = 60;
const TURN_PX = 400;

interface Read {
  readonly usableMs: number;
  readonly bareMs: number;
  readonly tasks: Readonly<Record<string, number>>;
}

/** The long log of a session: until its end is shown, and the longest time without an answer while it is scrolled. */
export async function measureLog(stage: ClientStage): Promise<Figure[]> {
  const sessionId = await stage.longLog();
  const reads: Read[] = [];
  for (let visit = 0; visit < stage.options.visits; visit++) reads.push(await readOnce(stage, sessionId));
  const [usableMs, bareMs] = [median(reads.map((one) => one.usableMs)), median(reads.map((one) => one.bareMs))];
  return [
    {
      what: `log of ${stage.options.events.toLocaleString('en-US')} events, until usable, p50`,
      value: usableMs,
      unit: 'ms',
      beside: { name: 'bare page with the same answers', value: bareMs },
      ratio: usableMs / bareMs,
      verdict: below(MOST.usableMs, usableMs),
    },
    ...Object.keys(reads[0]?.tasks ?? {}).map((what): Figure => {
      const value = median(reads.map(({ tasks }) => tasks[what] ?? 0));
      return { what: `longest task, ${what}`, value, unit: 'ms', verdict: below(MOST.taskMs, value) };
    }),
  ];
}

async function readOnce({ open, url }: ClientStage, sessionId: string): Promise<Read> {
  const page = await open();
  const usableMs = await openUntil(page, `${url}/app/workspace?session=${sessionId}`, ROW);
  const tasks: Record<string, number> = {};
  const during = async (what: string, act: () => Promise<unknown>) => {
    const sinceMs = await nowIn(page);
    await act();
    tasks[what] = await longestTask(page, sinceMs);
  };
  await during('the log is scrolled from its end', () => turnWheel(page));
  await during('the log is shown from its beginning', () => goToBeginning(page));
  await page.context().close();
  const paths = ['/me', `/sessions/${sessionId}`, `/sessions/${sessionId}/events?newest=true&limit=100`];
  return { usableMs, tasks, bareMs: await openBare(await open(), url, paths) };
}

async function turnWheel(page: Page): Promise<void> {
  await page.getByRole('log').hover();
  for (let turn = 0; turn < TURNS; turn++) await page.mouse.wheel(0, -TURN_PX);
}

async function goToBeginning(page: Page): Promise<void> {
  await page.getByRole('log').focus();
  await page.keyboard.press('Home');
  await page.waitForSelector('[role=log] [data-seq="1"]');
}
