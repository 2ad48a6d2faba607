import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** One burst of saves that another program makes in a file. */
export interface Burst {
  readonly path: string;
  readonly seed: number;
  /** Time until the first save begins, in microseconds. */
  readonly delayUs: number;
  /** So many at most: the burst ends when something else than the last save lies there. */
  readonly saves: number;
  readonly kind: 'in-place' | 'rename' | 'both';
}

const GAP_US = 300;

/** Saves as it is told, one burst for each line of JSON, and answers each with what the last completed save holds. */
for await (const line of createInterface({ input: process.stdin })) {
  const burst = JSON.parse(line) as Burst;
  process.stdout.write(`${JSON.stringify(runBurst(burst))}\n`);
}

function runBurst({ path, seed, delayUs, saves, kind }: Burst): string {
  const random = randomFrom(seed);
  let last: string | null = null;
  pause(delayUs);
  for (let index = 0; index < saves; index += 1) {
    const next = `save ${seed} ${index} ${'x'.repeat(Math.floor(random() * 2_000))}`;
    const isInPlace = kind === 'both' ? random() < 0.5 : kind === 'in-place';
    const save = isInPlace ? saveInPlace : saveByRename;
    if (!inFolder(path, () => save({ path, content: next, last, random }))) break;
    last = next;
    pause(random() * GAP_US);
  }
  return last ?? '';
}

interface Save {
  readonly path: string;
  readonly content: string;
  readonly last: string | null;
  readonly random: () => number;
}

/** The folder may have gone with its last file. */
function inFolder(path: string, save: () => boolean): boolean {
  try {
    return save();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true });
    return inFolder(path, save);
  }
}

function isStillThere({ path, last }: Save): boolean {
  if (last === null) return true;
  try {
    return readFileSync(path, 'utf8') === last;
  } catch {
    // Nothing lies there: it was taken away.
    return false;
  }
}

function saveInPlace(save: Save): boolean {
  const { path, content, random } = save;
  if (!isStillThere(save)) return false;
  const half = Math.floor(content.length / 2);
  const file = openSync(path, 'w');
  pause(random() * GAP_US);
  writeSync(file, content.slice(0, half));
  pause(random() * GAP_US);
  writeSync(file, content.slice(half));
  closeSync(file);
  return true;
}

function saveByRename(save: Save): boolean {
  writeFileSync(`${save.path}.tmp`, save.content);
  if (!isStillThere(save)) return false;
  renameSync(`${save.path}.tmp`, save.path);
  return true;
}

/** Nothing waits so shortly but a loop. */
function pause(us: number): void {
  const until = process.hrtime.bigint() + BigInt(Math.floor(us * 1_000));
  while (process.hrtime.bigint() < until);
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
