import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { median, openBare, openUntil } from './page-times.js';
import type { ClientStage } from './stage.js';

/** What is to be reached. */
const MOST = { scriptsKB: 250, usableMs: 1_500 };
/** The overview with its rows, or with the sentences that stand in place of them. */
const USABLE = 'main .card h2';

interface FirstView {
  readonly usableMs: number;
  readonly bareMs: number;
  readonly scripts: { readonly gzipKB: number; readonly sentKB: number };
  readonly overviews: number;
}

/** The overview in a browser that has never been here. */
export async function measureFirstView(stage: ClientStage): Promise<Figure[]> {
  const views: FirstView[] = [];
  for (let visit = 0; visit < stage.options.visits; visit++) views.push(await visitOnce(stage));
  const [first] = views;
  if (!first) return [];
  const [usableMs, bareMs] = [median(views.map((view) => view.usableMs)), median(views.map((view) => view.bareMs))];
  return [
    {
      what: 'scripts of the first view, gzip',
      value: first.scripts.gzipKB,
      unit: 'KB',
      beside: { name: 'as sent', value: first.scripts.sentKB },
      verdict: below(MOST.scriptsKB, first.scripts.gzipKB),
    },
    {
      what: 'first view with an empty cache, until usable, p50',
      value: usableMs,
      unit: 'ms',
      beside: { name: 'bare page with the same answers', value: bareMs },
      ratio: usableMs / bareMs,
      verdict: below(MOST.usableMs, usableMs),
    },
    { what: 'requests of the overview', value: first.overviews, unit: 'requests', verdict: below(2, first.overviews) },
  ];
}

async function visitOnce({ open, url }: ClientStage): Promise<FirstView> {
  const page = await open();
  const answers: Response[] = [];
  page.on('response', (answer) => answers.push(answer));
  const usableMs = await openUntil(page, `${url}/app/overview`, USABLE);
  const scripts = await scriptsOf(answers);
  const overviews = answers.filter((answer) => new URL(answer.url()).pathname === '/overview').length;
  await page.context().close();
  return { usableMs, scripts, overviews, bareMs: await openBare(await open(), url, ['/me', '/overview']) };
}

async function scriptsOf(answers: readonly Response[]): Promise<FirstView['scripts']> {
  const scripts = answers.filter((answer) => answer.request().resourceType() === 'script');
  const bodies = await Promise.all(scripts.map((answer) => answer.body()));
  const sizes = await Promise.all(scripts.map((answer) => answer.request().sizes()));
  const kb = (bytes: readonly number[]): number => bytes.reduce((sum, one) => sum + one, 0) / 1_000;
  return {
    gzipKB: kb(bodies.map((body) => gzipSync(body, { level: 9 }).length)),
    sentKB: kb(sizes.map(({ responseBodySize }) => responseBodySize)),
  };
}
