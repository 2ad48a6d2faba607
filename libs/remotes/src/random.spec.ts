import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { bytesOf, failureOf, Stage } from './conformance/stage.js';
import { driveWorld } from './drive/drive.fixture.js';
import { DriveServer } from './drive/emulator/drive-server.fixture.js';
import { DropboxServer } from './filehost/emulator/dropbox-server.fixture.js';
import { filehostWorld } from './filehost/filehost.fixture.js';
import { FsRemote } from './fs/fs.remote.js';
import { memoryWorld } from './memory/memory.fixture.js';
import type { Remote } from './port/index.js';

const RUNS = Number(process.env['SVC_REMOTE_RUNS'] ?? 40);
const PATHS = ['a.txt', 'b.txt', 'folder/a.txt', 'folder/deep/b.txt'];

/** What each file holds. */
type Model = Map<string, string>;
interface Step {
  readonly kind: 'write' | 'move' | 'copy' | 'remove' | 'race';
  readonly path: string;
  readonly to: string;
  readonly content: string;
  /** Whether the caller knows what lies there, or what lay there before. */
  readonly isStale: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('write', 'move', 'copy', 'remove', 'race'),
    path: fc.constantFrom(...PATHS),
    to: fc.constantFrom(...PATHS),
    content: fc.string({ maxLength: 20 }),
    isStale: fc.boolean(),
  }),
  { maxLength: 25 },
);

class Run {
  private readonly model: Model = new Map();
  private readonly stage: Stage;

  constructor(private readonly remote: Remote) {
    this.stage = new Stage({
      remote,
      plant: async () => undefined,
      break: async () => undefined,
      mend: async () => undefined,
      leftOvers: async () => [],
      close: async () => undefined,
    });
  }

  async play(step: Step): Promise<void> {
    const expected = await this.expectedOf(step);
    if (step.kind === 'write') await this.write(step, expected);
    else if (step.kind === 'race') await this.race(step, expected);
    else await this.transfer(step, expected);
  }

  async compare(): Promise<void> {
    const files = (await this.stage.listed('', true)).filter(({ kind }) => kind === 'file').map(({ path }) => path);
    const held = await Promise.all(files.map(async (path) => [path, await this.stage.textOf(path)] as const));
    expect(new Map(held)).toEqual(new Map([...this.model].sort()));
  }

  /** A stale caller takes a file for absent, and what is absent for a file. */
  private async expectedOf({ path, isStale }: Step): Promise<string | null> {
    const entry = await this.remote.stat(path);
    const revision = entry?.kind === 'file' ? entry.revision : null;
    if (!isStale) return revision;
    return revision === null ? '1:1:1' : null;
  }

  private async write({ path, content, isStale }: Step, expected: string | null): Promise<void> {
    const done = this.remote.write(path, bytesOf(content), { expected });
    if (isStale) expect(await failureOf(done)).toBe(expected === null ? 'exists' : 'changed');
    else {
      await done;
      this.model.set(path, content);
    }
  }

  private async race({ path, content }: Step, expected: string | null): Promise<void> {
    const contents = [1, 2, 3].map((writer) => `${content} of writer ${writer}`);
    const ends = await Promise.allSettled(contents.map((text) => this.remote.write(path, bytesOf(text), { expected })));
    const winner = ends.findIndex(({ status }) => status === 'fulfilled');
    const count = ends.filter(({ status }) => status === 'fulfilled').length;
    const mayWin = (expected === null) === !this.model.has(path);
    expect(count).toBe(mayWin ? 1 : 0);
    if (mayWin) this.model.set(path, contents[winner] ?? '');
  }

  private async transfer({ kind, path, to }: Step, known: string | null): Promise<void> {
    const expected = known ?? '1:1:1';
    const content = this.model.get(path);
    const isKnown = content !== undefined && known !== null;
    const isFree = kind === 'remove' || !this.model.has(to);
    const done =
      kind === 'remove' ? this.remote.remove(path, { expected }) : this.remote[kind as 'move'](path, to, { expected });
    if (!isKnown || !isFree) {
      const reasons = ['changed', 'exists'];
      expect(content === undefined ? ['not_found'] : reasons).toContain(await failureOf(done));
      return;
    }
    await done;
    if (kind !== 'copy') this.model.delete(path);
    if (kind !== 'remove') this.model.set(to, content);
  }
}

async function inFolder(work: (remote: Remote) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'random-remote-'));
  try {
    await using remote = await FsRemote.open(root);
    await work(remote);
  } finally {
    await rm(root, { recursive: true });
  }
}

describe('random calls, races among them', () => {
  let server: DropboxServer;
  let drive: DriveServer;
  beforeAll(async () => {
    [server, drive] = await Promise.all([DropboxServer.start(), DriveServer.start()]);
  });
  afterAll(() => Promise.all([server.close(), drive.close()]));

  it.each([
    ['memory', RUNS, async (work: (remote: Remote) => Promise<void>) => work((await memoryWorld()).remote)],
    ['fs', RUNS, inFolder],
    [
      'filehost',
      Math.ceil(RUNS / 10),
      async (work: (remote: Remote) => Promise<void>) => work((await filehostWorld(server)).remote),
    ],
    [
      'drive',
      Math.ceil(RUNS / 10),
      async (work: (remote: Remote) => Promise<void>) => work((await driveWorld(drive)).remote),
    ],
  ])('leave in %s what a plain map of names and contents holds', async (_name, numRuns, within) => {
    await fc.assert(
      fc.asyncProperty(steps, (played) =>
        within(async (remote) => {
          const run = new Run(remote);
          for (const step of played) {
            await run.play(step);
            await run.compare();
          }
        }),
      ),
      { numRuns },
    );
  });
});
