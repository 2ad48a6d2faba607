import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { searchFiles } from '@workspace-graph/contracts';
import { locate, readContent } from '@workspace-graph/disk';
import { FILES_PER_NOTE } from '@workspace-graph/domain';
import { Mirrors, type WholeScan } from '../mirrors/mirrors.js';
import type { FileDelta } from '../records/file-delta.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { FileIndexer } from './file-indexer.js';
import { IndexThread } from './index/index-thread.js';

const BACKLOG = 3_000;
const SCAN: WholeScan = { startedAt: new Date(0).toISOString(), isCheck: false, seen: 0, toRead: 0 };

let device: DeviceFixture;
beforeAll(async () => {
  device = await startDevice();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => device.close());

interface Folder {
  readonly nodeId: string;
  readonly path: string;
}

async function register({ nodeId, path: root }: Folder, contents: ReadonlyMap<string, string>): Promise<void> {
  const deltas: FileDelta[] = [];
  for (const [name, content] of contents) {
    const path = `wip/${name}`;
    await writeFile(join(root, path), content);
    deltas.push({ kind: 'register', path, seen: await readContent(await locate(root, path)) });
  }
  await device.parts.files.apply(nodeId, deltas, { action: 'scan', asker: null, strict: true });
}

/** Searches until there is a hit. Answers it, and how many files still waited for the index then. */
async function found(query: string) {
  const answer = () => device.call(searchFiles, { query });
  let { hits, indexing } = await answer();
  for (; hits.length === 0; { hits, indexing } = await answer()) await delay(10);
  return { paths: hits.map(({ path }) => path), indexing };
}

describe('a new file while thousands wait to be indexed', () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await device.mirror('Alpha');
    const backlog = Array.from({ length: BACKLOG }, (_, index) => [`${index}.md`, `starší ${index}`] as const);
    // Nothing is indexed before all of it waits.
    await device.module.get(Mirrors).whileScanning(folder.nodeId, SCAN, async () => {
      await register(folder, new Map(backlog));
      await register(folder, new Map([['new.md', 'novinka']]));
    });
  });

  it('is found before they all are [files.search.new-first]', async () => {
    const { paths, indexing } = await found('novinka');
    expect(paths).toEqual(['wip/new.md']);
    expect(indexing).toBeGreaterThan(0);
    await device.module.get(FileIndexer).whenIdle();
    expect(await found(`"starší ${BACKLOG - 1}"`)).toEqual({ paths: [`wip/${BACKLOG - 1}.md`], indexing: 0 });
  });

  it('is told to the index before the next page of a folder that is compared with it [files.search.new-first]', async () => {
    await device.stop();
    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(device.parts.settings.own, `search.db${suffix}`), { force: true });
    const told: string[][] = [];
    const { note } = IndexThread.prototype;
    jest.spyOn(IndexThread.prototype, 'note').mockImplementation(async function (this: IndexThread, files, removed) {
      told.push(files.map(({ path }) => path));
      if (told.length === 2) await register(folder, new Map([['newer.md', 'čerstvinka']]));
      return note.call(this, files, removed);
    });
    device = await device.start();

    const { paths, indexing } = await found('čerstvinka');
    expect(told.slice(0, 3).map(({ length }) => length)).toEqual([FILES_PER_NOTE, FILES_PER_NOTE, 1]);
    expect(told[2]).toEqual(['wip/newer.md']);
    expect(paths).toEqual(['wip/newer.md']);
    expect(indexing).toBeGreaterThan(0);
    await device.module.get(FileIndexer).whenIdle();
    expect(new Set(told.flat()).size).toBe(BACKLOG + 2);
  });
});
