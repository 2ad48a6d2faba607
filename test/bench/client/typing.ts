import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { makeFile } from './make-file.js';
import { longestTask, median, nowIn, openUntil } from './page-times.js';
import type { ClientStage } from './stage.js';

const MOST_TASK_MS = 50;
const LINES = 5_000;
const PARAGRAPH = 8;
const KEYS = 200;
const PATH = 'wip/long.md';
const LINE = 'A line as people write them, with **strong words**, `code` and a [link](plan.md) to another file.';

interface Typed {
  readonly openMs: number;
  readonly taskMs: number;
}

/** A long file in the editor: until it can be written, and the longest time without an answer while somebody types. */
export async function measureTyping(stage: ClientStage): Promise<Figure[]> {
  const { id: nodeId } = await makeFile(stage, PATH, textOf(LINES));
  const typed: Typed[] = [];
  for (let visit = 0; visit < stage.options.visits; visit++) typed.push(await typeOnce(stage, nodeId));
  const lines = LINES.toLocaleString('en-US');
  const taskMs = median(typed.map((one) => one.taskMs));
  return [
    {
      what: `file of ${lines} lines, until it is in the editor, with an empty cache, p50`,
      value: median(typed.map(({ openMs }) => openMs)),
      unit: 'ms',
      verdict: null,
    },
    {
      what: `longest task, ${KEYS} keys are typed into a file of ${lines} lines`,
      value: taskMs,
      unit: 'ms',
      verdict: below(MOST_TASK_MS, taskMs),
    },
  ];
}

async function typeOnce({ open, url }: ClientStage, nodeId: string): Promise<Typed> {
  const page = await open();
  const address = `${url}/app/overview?${new URLSearchParams({ node: nodeId, file: PATH })}`;
  const openMs = await openUntil(page, address, '.cm-line');
  await page.locator('.cm-content').click();
  // What opening it has begun is no part of typing.
  await longestTask(page, 0);
  const typedMs = await nowIn(page);
  const keys = 'Every key is answered at once. ';
  await page.keyboard.type(keys.repeat(Math.ceil(KEYS / keys.length)).slice(0, KEYS));
  const taskMs = await longestTask(page, typedMs);
  await page.context().close();
  return { openMs, taskMs };
}

function textOf(lines: number): string {
  return Array.from({ length: lines }, (_, at) => (at % PARAGRAPH === 0 ? '' : `${at} ${LINE}`)).join('\n');
}
