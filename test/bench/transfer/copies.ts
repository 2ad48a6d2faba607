import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileStatus, LIMITS, pullFiles, storeFiles } from '@workspace-graph/contracts';
import { memoryFolder } from '@workspace-graph/testing';
import { until } from '../../central/central-world.js';
import type { Figure } from '../report/figures.js';
import { atLeast, below } from '../report/judge.js';
import type { Stage, Storage } from './stage.js';

const run = promisify(execFile);
/** Files that rclone moves at once. */
const AT_ONCE = 16;
/** Calls that are under way at once. */
const CALLS = 4;
const MOST_TIMES = 2.5;
const LEAST_SHARE = 0.8;
const SMALL_BYTES = 4_096;
const MB = 1_048_576;
/** Of the large contents; page caches of both ends, and what processes take. */
const WARM_TIMES = 3;
const TRACKED_WITHIN_MS = 600_000;

/** What both sides needed, in milliseconds. */
interface Times {
  readonly store: number;
  readonly pull: number;
}

interface Content {
  readonly name: string;
  readonly bytes: number;
}

/** Many small files: what each of them costs beside its bytes. */
export function measureSmall(stage: Stage): Promise<Figure[]> {
  const { files } = stage.options;
  const contents = Array.from({ length: files }, (_none, index) => ({ name: `${index}.bin`, bytes: SMALL_BYTES }));
  const figure = (what: string, mine: number, theirs: number): Figure => ({
    what: `${files.toLocaleString('en-US')} files of 4 KB, ${what}`,
    value: mine,
    unit: 'ms',
    beside: { name: 'rclone', value: theirs },
    ratio: mine / theirs,
    verdict: below(MOST_TIMES, mine / theirs),
  });
  return measure(stage, contents, figure);
}

/** A few large ones: what their bytes cost. */
export function measureLarge(stage: Stage): Promise<Figure[]> {
  const { largeFiles, largeMB } = stage.options;
  const contents = Array.from({ length: largeFiles }, (_none, index) => ({
    name: `${index}.bin`,
    bytes: largeMB * MB,
  }));
  const rate = (ms: number): number => (largeFiles * largeMB * 1_000) / ms;
  const figure = (what: string, mine: number, theirs: number): Figure => ({
    what: `${largeFiles} files of ${largeMB} MB, ${what}`,
    value: rate(mine),
    unit: 'MB/s',
    beside: { name: 'rclone', value: rate(theirs) },
    ratio: theirs / mine,
    verdict: atLeast(LEAST_SHARE, theirs / mine),
  });
  return measure(stage, contents, figure);
}

async function measure(
  stage: Stage,
  contents: readonly Content[],
  figure: (what: string, mine: number, theirs: number) => Figure,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const backend of stage.options.backends) {
    const storage = await stage.storage(backend);
    if (!storage) {
      stage.progress(`${backend} is left out: this machine has no server for it`);
      continue;
    }
    stage.progress(`${backend}: ${contents.length} files …`);
    const source = join(stage.scratch, `${backend}-${contents.length}-${contents[0]?.bytes ?? 0}`);
    await make(source, contents);
    const theirs = await byRclone(stage, storage, source);
    const mine = await byProduct(stage, storage, source, contents);
    figures.push(figure(`stored on ${backend}`, mine.store, theirs.store));
    figures.push(figure(`pulled from ${backend}`, mine.pull, theirs.pull));
  }
  return figures;
}

/** Contents that nothing can compress, and no two alike. */
async function make(folder: string, contents: readonly Content[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, bytes } of contents) {
    await using file = await open(join(folder, name), 'w');
    for (let left = bytes; left > 0; left -= MB) await file.write(randomBytes(Math.min(left, MB)));
  }
}

async function byRclone(stage: Stage, { rcloneTarget, rcloneArgs }: Storage, source: string): Promise<Times> {
  const target = rcloneTarget(`beside/${source.split('/').at(-1) ?? ''}`);
  // Of this machine alone: settings of another storage in the environment are not for it.
  const env = { PATH: process.env['PATH'] ?? '', HOME: stage.scratch };
  const copy = (from: string, to: string) =>
    run(
      stage.rclone,
      [
        'copy',
        from,
        to,
        '--config',
        join(stage.scratch, 'none.conf'),
        '--transfers',
        `${AT_ONCE}`,
        '--checkers',
        `${AT_ONCE}`,
        ...rcloneArgs,
      ],
      { env },
    );
  const store = await timedWarm(stage, () => copy(source, target));
  const pull = await timedWarm(stage, () => copy(target, `${source}-back`));
  return { store, pull };
}

async function byProduct(stage: Stage, storage: Storage, source: string, contents: readonly Content[]): Promise<Times> {
  const { id: nodeId, here, there } = await stage.node(storage);
  await run('cp', ['-r', `${source}/.`, join(here, 'wip')]);
  await until(
    'all files are tracked',
    async () => {
      const { counts } = await stage.from.client.call(fileStatus, { node_id: nodeId, include_discovery: false });
      return counts.push_candidates === contents.length;
    },
    TRACKED_WITHIN_MS,
  );
  const ids: string[] = [];
  const parts = partsOf(contents.map(({ name }) => join(here, 'wip', name)));
  const store = await timedWarm(stage, () =>
    inTurns(parts, async (local_paths) => {
      const { stored, refused } = await stage.from.client.call(storeFiles, { node_id: nodeId, local_paths });
      if (refused.length > 0) throw new Error(`not stored: ${JSON.stringify(refused[0])}`);
      ids.push(...stored.map(({ file_id }) => file_id));
    }),
  );
  const pull = await timedWarm(stage, () =>
    inTurns(partsOf(ids), async (file_ids) => {
      const { refused } = await stage.to.client.call(pullFiles, { node_id: nodeId, file_ids });
      if (refused.length > 0) throw new Error(`not pulled: ${JSON.stringify(refused[0])}`);
    }),
  );
  await mustBeSame(source, join(there, 'wip'));
  return { store, pull };
}

/** @throws Error unless both folders hold the same */
async function mustBeSame(one: string, other: string): Promise<void> {
  const names = await readdir(one);
  for (const name of names) {
    const [mine, theirs] = await Promise.all([hashOf(join(one, name)), hashOf(join(other, name))]);
    if (mine !== theirs) throw new Error(`${name} did not arrive as it was`);
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** A file that is sparse, of which every megabyte is another. */
export async function makeHuge(path: string, megabytes: number): Promise<void> {
  await writeFile(path, '');
  await using file = await open(path, 'r+');
  for (let at = 0; at < megabytes; at += 1) await file.write(`${at} `, at * MB);
  await file.truncate(megabytes * MB);
}

/**
 * The same with memory that the machine has had before: a virtual one gets what it has not used for seconds anew from its host with each page,
 * at 400 MB/s measured here, and whoever comes first pays for it.
 */
async function timedWarm({ scratch, options }: Stage, work: () => Promise<unknown>): Promise<number> {
  // Not on a disk, which would be busy with it for a while.
  const path = join(memoryFolder() ?? scratch, `warm-${process.pid}`);
  const chunk = Buffer.alloc(MB);
  await using file = await open(path, 'wx');
  await unlink(path);
  for (let left = WARM_TIMES * options.largeFiles * options.largeMB; left > 0; left -= 1) await file.write(chunk);
  await file.truncate();
  return await timed(work);
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: CALLS }, worker));
}

function partsOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / LIMITS.filesPerBatch);
  return Array.from({ length: count }, (_none, index) =>
    items.slice(index * LIMITS.filesPerBatch, (index + 1) * LIMITS.filesPerBatch),
  );
}
