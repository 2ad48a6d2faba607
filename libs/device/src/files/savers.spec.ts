import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  createFile,
  deleteFile,
  moveFile,
  renameFolder,
  restoreTrash,
  ServiceError,
  type TrackedFile,
  writeFile,
} from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { AsideFiles } from '../trash/aside-files.js';
import { Trash } from '../trash/trash.js';
import type { Burst } from './saver.fixture.js';

const DAY_MS = 24 * 60 * 60_000;
const ROUNDS = Number(process.env['SVC_SAVER_ROUNDS'] ?? 40);
const SEED = Number(process.env['SVC_SAVER_SEED'] ?? 1);
/** At most in one burst. */
const SAVES = 60;
const KINDS = ['in-place', 'rename', 'both'] as const;

let device: DeviceFixture;
let nodeId: string;
let folder: string;
let saver: Saver;
beforeAll(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
  saver = new Saver();
});
afterAll(async () => {
  await saver.close();
  await device.close();
});

/** Another program, which saves files while the product works with them. */
class Saver {
  private readonly child: ChildProcess;
  private readonly answers: AsyncIterator<string>;

  constructor() {
    const program = fileURLToPath(new URL('./saver.fixture.ts', import.meta.url));
    this.child = spawn(process.execPath, ['--no-warnings', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    if (!this.child.stdout) throw new Error('it has an output');
    this.answers = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** What the last completed save holds. */
  async run(burst: Burst): Promise<string> {
    this.child.stdin?.write(`${JSON.stringify(burst)}\n`);
    return JSON.parse((await this.answers.next()).value);
  }

  async close(): Promise<void> {
    this.child.stdin?.end();
    await once(this.child, 'exit');
  }
}

interface Round {
  readonly file: TrackedFile;
  /** Of the file within its section, unlike those of other rounds. */
  readonly path: string;
}

const sha = (content: string) => createHash('sha256').update(content).digest('hex');
const whereIs = (content: string, paths: readonly string[]): string | null => {
  const holds = (path: string) => existsSync(path) && readFileSync(path, 'utf8') === content;
  const place = paths.find((path) => holds(join(folder, path)));
  if (place !== undefined) return place;
  const trash = device.module.get(Trash);
  return device.parts.store.trashEntries({ limit: 100 }).some((entry) => holds(trash.pathOf(entry))) ? 'trash' : null;
};

/**
 * Rounds of one change each, while a burst of saves falls on the same file. Whatever was saved last must be somewhere,
 * and nothing may be left aside.
 */
async function storm(
  change: (round: Round) => Promise<unknown>,
  { besides }: { readonly besides: (path: string) => string[] },
): Promise<{ refused: number; lost: string[]; left: string[] }> {
  let refused = 0;
  const lost: string[] = [];
  const left: string[] = [];
  // The bursts begin at any moment of a change, however long one takes on this machine.
  let usualUs = 10_000;
  for (let round = 0; round < ROUNDS; round += 1) {
    const seed = SEED * 1_000_003 + round;
    const path = `${round}/a.md`;
    const input = { node_id: nodeId, filename: 'a.md', subpath: `${round}`, content: 'old' };
    const file = await device.call(createFile, input);
    const delayUs = (((seed * 7_919) % 1_000) / 1_000) * usualUs;
    const kind = KINDS[seed % 3] ?? 'both';
    const burst: Burst = { path: join(folder, file.path), seed, delayUs, saves: SAVES, kind };
    const startMs = performance.now();
    const done = settle(change({ file, path })).then((code) => ({ code, us: (performance.now() - startMs) * 1_000 }));
    const [last, { code, us }] = await Promise.all([saver.run(burst), done]);
    usualUs = (usualUs * 9 + us) / 10;
    if (code !== null) refused += 1;
    const paths = [file.path, ...besides(path)];
    // What is saved into a file that was taken away is in the trash a day later.
    await device.module.get(AsideFiles).sweep(Date.now() + 2 * DAY_MS);
    if (whereIs(last, paths) === null) lost.push(`${round} ${kind} ${code}`);
    left.push(...(await namesAside(paths)));
    await tidy(paths);
  }
  const name = expect.getState().currentTestName ?? '';
  process.stdout.write(`${name}: ${ROUNDS} rounds, ${refused} refused, ${lost.length} lost\n`);
  return { refused, lost, left };
}

async function namesAside(paths: readonly string[]): Promise<string[]> {
  const folders = [folder, ...paths.map((path) => dirname(join(folder, path)))];
  const names = await Promise.all(folders.filter(existsSync).map((each) => readdir(each)));
  return names.flat().filter((name) => name.startsWith('.svc-'));
}

async function settle(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

async function tidy(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(dirname(join(folder, path)), { recursive: true, force: true });
  const trash = device.module.get(Trash);
  for (const entry of device.parts.store.trashEntries({ limit: 100 })) await trash.forget(entry);
}

describe('a save of another program in the same instant', () => {
  it('is not lost by a move [files.save.not-lost]', async () => {
    const { lost, left } = await storm(
      ({ file }) => device.call(moveFile, { file_id: file.id, new_section: 'outputs', confirmed: true }),
      { besides: (path) => [`outputs/${path}`] },
    );
    expect({ lost, left }).toEqual({ lost: [], left: [] });
  }, 3_600_000);

  it('is not lost by a replacement that builds on what was there before', async () => {
    const write = { node_id: nodeId, content: 'new', expected_sha256: sha('old') };
    const { lost, left } = await storm(({ file }) => device.call(writeFile, { ...write, path: file.path }), {
      besides: () => [],
    });
    expect({ lost, left }).toEqual({ lost: [], left: [] });
  }, 3_600_000);

  it('is not lost by a deletion', async () => {
    const { lost, left } = await storm(({ file }) => device.call(deleteFile, { file_id: file.id, confirmed: true }), {
      besides: () => [],
    });
    expect({ lost, left }).toEqual({ lost: [], left: [] });
  }, 3_600_000);

  it('is not lost by a folder that is renamed', async () => {
    const { lost, left } = await storm(
      ({ file }) => {
        const { subpath } = file;
        const input = {
          node_id: nodeId,
          old_prefix: `wip/${subpath}`,
          new_prefix: `outputs/${subpath}`,
          dry_run: false,
        };
        return device.call(renameFolder, input);
      },
      { besides: (path) => [`outputs/${path}`] },
    );
    expect({ lost, left }).toEqual({ lost: [], left: [] });
  }, 3_600_000);

  it('is not lost by content that comes back from the trash', async () => {
    const { lost, left } = await storm(
      async ({ file }) => {
        const { trash_id } = await device.call(deleteFile, { file_id: file.id, confirmed: true });
        await device.call(restoreTrash, { trash_id: trash_id ?? '' });
      },
      { besides: () => [] },
    );
    expect({ lost, left }).toEqual({ lost: [], left: [] });
  }, 3_600_000);
});
