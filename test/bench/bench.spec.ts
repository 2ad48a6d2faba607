import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryFolder, whyNoRclone } from '@workspace-graph/testing';
import { namesOf, UsageError } from './bench-command.js';
import { CLIENT_PARTS, type ClientPart, readClientBenchOptions } from './client/options.js';
import { isFlat, trendOf } from './client/trend.js';
import type { Armed } from './load/load-process.js';
import { AnswersDiffer, compareAnswers } from './measurements/compare.js';
import { figuresOf } from './measurements/figures.js';
import type { Plan } from './measurements/measurement.js';
import { MEASUREMENTS } from './measurements/measurements.js';
import { readOptions } from './options.js';
import type { Report } from './report/report.js';
import type { FigureReport } from './report/run.js';
import { readSessionBenchOptions } from './sessions/options.js';
import type { SessionReport } from './sessions/table.js';
import { readTransferBenchOptions } from './transfer/options.js';

const root = join(import.meta.dirname, '../..');
/** Each measures a workspace, or a browser, that is started for it, on a machine that may be busy. */
import.meta.jest.setTimeout(900_000);
/** What each part of the page tells. */
const PAGE_FIGURES: Readonly<Record<ClientPart, readonly string[]>> = {
  'first-view': ['first view', 'requests of the overview'],
  graph: ['graph of 300 nodes'],
  log: ['log of 400 events', 'longest task'],
  typing: ['keys are typed'],
  live: ['shown in the detail', 'shown in the list of the graph', 'shown in the list of sessions', 'bare round trip'],
  memory: ['heap after', 'growth of heap', 'growth of nodes', 'growth of listeners'],
};
/** Parts of the page. `npm run soak` sets them, and measures everything else that takes minutes. */
const PAGE_PARTS = process.env['SVC_BENCH_PARTS'];
const measuresAll = PAGE_PARTS !== undefined;
const measuresTransfers = measuresAll && (await whyNoRclone()) === null;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function bench(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    // What the figures say is nothing to this spec: its workspaces need no disk.
    const env = { ...process.env, TMPDIR: memoryFolder() ?? tmpdir() };
    const child = execFile(
      process.execPath,
      [join(root, 'tools/bench.mjs'), ...args],
      { env },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

async function report(...args: readonly string[]): Promise<Report> {
  const { found, stdout } = await told<Report>('--connections', '2', ...args);
  for (const { title } of found.places) expect(stdout).toContain(title);
  return found;
}

/** What a run of the smallest scale writes as JSON, and what it prints. */
async function told<Found>(...args: readonly string[]): Promise<{ readonly found: Found; readonly stdout: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-spec-'));
  try {
    const file = join(folder, 'report.json');
    const { code, stdout, stderr } = await bench('--scale', 'tiny', '--json', file, ...args);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return { found: JSON.parse(await readFile(file, 'utf8')) as Found, stdout };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('the benchmark', () => {
  (measuresAll ? it : it.skip)(
    'measures everything in a local and a central workspace, with answers that equal those of the hand-written queries',
    async () => {
      const { places, restrictedNodes } = await report('--only', 'local,central');
      expect(places.map(({ name }) => name)).toEqual(['local', 'central']);
      expect(restrictedNodes).toBeGreaterThan(0);
      for (const { measurements, facts } of places) {
        expect(measurements.map(({ name }) => name)).toEqual(MEASUREMENTS.map(({ name }) => name));
        expect(measurements.every(({ compared }) => compared > 0)).toBe(true);
        const lines = measurements.flatMap((each) => each.lines);
        expect(lines.every(({ product, bare }) => product.shots > 0 && bare.shots > 0)).toBe(true);
        expect(facts.map(({ unit }) => unit)).toEqual(expect.arrayContaining(['ms', 'MB', 'per second', 'MB each']));
      }
    },
  );

  it('measures only what was asked for: the services without a surface, and a central workspace', async () => {
    const { places } = await report('--only', 'service,central,node-read,log');
    expect(places.map(({ name }) => name)).toEqual(['service', 'central']);
    for (const { measurements } of places) {
      expect(measurements.map(({ name }) => name)).toEqual(['node-read', 'log']);
      expect(measurements.every(({ compared }) => compared > 0)).toBe(true);
    }
    expect(places[0]?.facts).toEqual([]);
  });

  (measuresAll ? it : it.skip)('measures sessions and the live channel, each figure beside its limit', async () => {
    const { found, stdout } = await told<SessionReport>('--sessions');
    const parts = ['idle socket', 'appends', 'connect', 'delivery', 'replay', 'newest page', 'scope of a session'];
    for (const part of parts) expect(found.figures.filter(({ what }) => what.includes(part))).not.toEqual([]);
    for (const { what, value, beside } of found.figures) {
      expect(stdout).toContain(what);
      expect([what, Number.isFinite(value), Number.isFinite(beside?.value)]).toEqual([what, true, true]);
    }
  });

  (measuresTransfers ? it : it.skip)('measures transfers beside rclone', async () => {
    const { found, stdout } = await told<FigureReport>('--transfer', '--only', 'links,small', '--backends', 'fs');
    for (const part of ['idle link', 'stored on fs', 'pulled from fs'])
      expect(found.figures.filter(({ what }) => what.includes(part))).toHaveLength(1);
    for (const { what, value } of found.figures) {
      expect(stdout).toContain(what);
      expect([what, Number.isFinite(value)]).toEqual([what, true]);
    }
  });

  (measuresAll ? it : it.skip)('measures the parts of the page in a browser that are asked for', async () => {
    const parts = namesOf(PAGE_PARTS ?? '', CLIENT_PARTS);
    const { found, stdout } = await told<FigureReport>('--client', '--only', parts.join(','));
    const isTold = (part: ClientPart): boolean[] =>
      PAGE_FIGURES[part].map((figure) => found.figures.some(({ what }) => what.includes(figure)));
    for (const part of parts) expect([part, isTold(part)]).toEqual([part, PAGE_FIGURES[part].map(() => true)]);
    for (const { what, value } of found.figures) {
      expect(stdout).toContain(what);
      expect([what, Number.isFinite(value)]).toEqual([what, true]);
    }
  });

  it('tells its usage, and refuses what it does not know with exit code 2', async () => {
    expect(readOptions(['--help'])).toBeUndefined();
    for (const args of ['--scale huge', '--only nothing', '--seconds x', '--connections 0', '--what'])
      expect(() => readOptions(args.split(' '))).toThrow(UsageError);
    expect(readSessionBenchOptions(['--sessions', '--help'])).toBeUndefined();
    for (const args of ['--scale huge', '--only nothing', '--sockets x', '--what'])
      expect(() => readSessionBenchOptions(args.split(' '))).toThrow(UsageError);
    expect(readClientBenchOptions(['--client', '--help'])).toBeUndefined();
    expect(readClientBenchOptions(['--client'])?.parts).toEqual(new Set(CLIENT_PARTS));
    for (const args of ['--scale huge', '--only nothing', '--nodes x', '--minutes 0', '--what'])
      expect(() => readClientBenchOptions(args.split(' '))).toThrow(UsageError);
    expect(readTransferBenchOptions(['--transfer', '--help'])).toBeUndefined();
    for (const args of ['--scale huge', '--only nothing', '--backends nothing', '--count x', '--what'])
      expect(() => readTransferBenchOptions(args.split(' '))).toThrow(UsageError);
    expect(await bench('--only', 'nothing')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Usage: npm run bench'),
    });
  });
});

/** Answers the same thing each time. */
function answering(answer: unknown): Armed {
  return {
    ask: async () => answer,
    fire: () => Promise.reject(new Error('nothing is fired here')),
    close: async () => undefined,
  };
}

describe('comparing answers', () => {
  const plan = {
    calls: [{ operation: {}, input: { node_id: 'n' } }],
    baseline: { text: '', shots: [] },
    pair: (answer: unknown, rows: unknown) => ({ product: answer, bare: rows }),
  } as unknown as Plan;
  const rest = { sql: () => Promise.resolve([]), count: 5 };

  it('counts what was equal', async () => {
    const sides = { product: answering([{ id: 1 }]), bare: answering([{ id: 1 }]) };
    expect(await compareAnswers(plan, sides, rest)).toBe(1);
  });

  it('stops at the first difference and tells the call and what differs', async () => {
    const sides = { product: answering([{ id: 1 }]), bare: answering([{ id: 2 }]) };
    const failure = await compareAnswers(plan, sides, rest).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AnswersDiffer);
    expect(String(failure)).toMatch(/\{"node_id":"n"\}[\s\S]*\+ +id: 1\n- +id: 2/);
  });

  it('compares what two writes have left', async () => {
    const left = (answer: unknown): ReturnType<NonNullable<Plan['left']>> => ({ text: 'left', values: [answer] });
    const writes = { ...plan, pair: () => ({ product: 0, bare: 0 }), left };
    const sides = { product: answering('mine'), bare: answering([{ json: '"theirs"' }]) };
    const sql = async (_text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> => [
      { by: values[0] },
    ];
    await expect(compareAnswers(writes, sides, { sql, count: 1 })).rejects.toThrow(AnswersDiffer);
  });
});

describe('growth', () => {
  const of = (...ys: readonly number[]) => trendOf(ys.map((y, x) => [x * 10, y]));

  it('is the slope of the line that fits best, with its standard error', () => {
    expect(of(5, 25, 45)).toEqual({ slope: 2, error: 0 });
    const { slope, error } = of(1, 3, 2, 5);
    expect(slope).toBeCloseTo(0.11);
    expect(error).toBeCloseTo(0.052, 3);
    expect(of(1, 2).error).toBeNaN();
  });

  it('is none where it is small or within chance, and is told where it is neither', () => {
    expect(isFlat(of(100, 101, 102, 103), 1)).toBe(true);
    expect(isFlat(of(0, 900, 0, 900), 1)).toBe(true);
    expect(isFlat(of(900, 400, 0), 1)).toBe(true);
    expect(isFlat(of(0, 510, 990, 1500), 1)).toBe(false);
    // Two points tell nothing of chance: only what is small counts.
    expect(isFlat(of(0, 900), 1)).toBe(false);
  });
});

describe('figures', () => {
  it('are of all bursts together, and the rate counts what was timed', () => {
    const burst = (...tookMs: number[]) => ({ tookMs: Float64Array.from(tookMs), refused: 1, connections: 2 });
    expect(figuresOf([burst(4, 1, 3), burst(2)])).toEqual({ p50Ms: 3, p99Ms: 4, perSecond: 800, shots: 4, refused: 2 });
  });
});
