import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  adoptFiles,
  fileStatus,
  type InputOf,
  listFiles,
  type Operation,
  pullFile,
  pullFiles,
  SECTIONS,
  storeFile,
  storeFiles,
} from '@workspace-graph/contracts';
import { isTemporaryName } from '@workspace-graph/disk';
import { SmallDisk } from '@workspace-graph/testing';
import { hashesBelow } from '../e2e/sample-files.js';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { until } from './central-world.js';
import { STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';

const DISK_MB = 320;
/** Free bytes with which all is tried: from nothing at all to what some of the files need. */
const ROOM = [0, 12_000, 60_000, 400_000, 4_000_000];
const SMALL_FILES = 40;
const SMALL_BYTES = 20_000;
/** Too large to travel with others. */
const LARGE_FILES = 4;
const LARGE_BYTES = 2_000_000;
const STORY_MS = 300_000;

/** Only root can make a small disk to fill. */
const onSmallDisk = SmallDisk.available() ? describe : describe.skip;

onSmallDisk('a workstation whose disk fills up', () => {
  let disk: SmallDisk;
  let all: TwoWorkstations;
  /** A folder on another disk. */
  let outside: string;
  let node: { readonly id: string; readonly here: string; readonly there: string };

  beforeAll(async () => {
    disk = new SmallDisk(DISK_MB);
    outside = mkdtempSync(join(tmpdir(), 'full-disk-'));
    all = await startTwoWorkstations({ other: new WorkspaceFolder({ root: join(disk.folder, 'workspace') }) });
  }, STATIONS_MS);
  beforeEach(async () => {
    disk.clear();
    node = await all.project();
  });
  afterAll(async () => {
    disk.clear();
    await all?.[Symbol.asyncDispose]();
    rmSync(outside, { recursive: true });
    disk[Symbol.dispose]();
  });

  function leave(bytes: number): void {
    disk.clear();
    disk.fill(bytes);
  }

  /** At the workstation whose disk fills up: how the call ends. */
  async function outcomeOf<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<string> {
    const response = await all.stations[1].client.send(operation, input);
    const { code } = (await response.json()) as { readonly code?: string };
    return response.ok ? 'done' : `${response.status} ${code}`;
  }

  /** Writes files into a folder and answers their hashes, by their paths within it. */
  function written(folder: string, files: Readonly<Record<string, number>>): Map<string, string> {
    return new Map(
      Object.entries(files).map(([path, sizeBytes]) => {
        const content = randomBytes(sizeBytes);
        mkdirSync(join(folder, path, '..'), { recursive: true });
        writeFileSync(join(folder, path), content);
        return [path, createHash('sha256').update(content).digest('hex')];
      }),
    );
  }

  /** What people find in the folder of the node on the small disk. */
  function visible(): Map<string, string> {
    const found = SECTIONS.flatMap((section) =>
      [...hashesBelow(join(node.there, section))].map(([name, hash]) => [`${section}/${name}`, hash] as const),
    );
    return new Map(found.filter(([path]) => !path.split('/').some(isTemporaryName)));
  }

  /** Until the folder, the records and the small disk's registry say the same, and nothing is left of what broke off. */
  async function agreed(hashes: ReadonlyMap<string, string>): Promise<void> {
    await until('all agrees', async () => {
      const { items } = await all.wanda.call(listFiles, { node_id: node.id, limit: 500 });
      const { counts } = await all.stations[1].client.call(fileStatus, { node_id: node.id });
      const { clean, ...others } = counts;
      const told = new Map(items.map(({ path, sha256 }) => [path, sha256]));
      return (
        [told, visible()].every((side) => isDeepStrictEqual(side, hashes)) &&
        clean === hashes.size &&
        Object.values(others).every((count) => count === 0) &&
        readdirSync(node.there, { recursive: true, encoding: 'utf8' }).every(
          (path) => !isTemporaryName(path.split('/').at(-1) ?? ''),
        )
      );
    });
  }

  it(
    'pulls what there is room for, whole, refuses the rest, and pulls that once there is room [files.central.whole-or-nothing]',
    async () => {
      const small = Array.from({ length: SMALL_FILES }, (_, index) => [`wip/d${index % 5}/${index}.bin`, SMALL_BYTES]);
      const large = Array.from({ length: LARGE_FILES }, (_, index) => [`outputs/${index}.bin`, LARGE_BYTES]);
      const hashes = written(node.here, Object.fromEntries([...small, ...large]));
      const local_paths = [...hashes.keys()].map((path) => join(node.here, path));
      const { stored } = await all.stations[0].client.call(storeFiles, { node_id: node.id, local_paths });
      const file_ids = stored.map(({ file_id }) => file_id);
      expect(file_ids).toHaveLength(hashes.size);

      const outcomes = new Set<string>();
      for (const bytes of ROOM) {
        leave(bytes);
        for (const file_id of file_ids.slice(-2)) outcomes.add(await outcomeOf(pullFile, { file_id }));
        const { refused } = await all.stations[1].client.call(pullFiles, { node_id: node.id, file_ids });
        expect([...new Set(refused.map(({ code }) => code))]).toEqual(['STORAGE_FULL']);
        for (const [path, hash] of visible()) expect([path, hash]).toEqual([path, hashes.get(path)]);
      }
      expect([...outcomes].toSorted()).toEqual(['507 STORAGE_FULL', 'done']);

      disk.clear();
      const { pulled, refused } = await all.stations[1].client.call(pullFiles, { node_id: node.id, file_ids });
      expect([pulled.length, refused]).toEqual([hashes.size, []]);
      await agreed(hashes);
    },
    STORY_MS,
  );

  it(
    'stores and tracks what there is room for, and the rest once there is room [files.central.whole-or-nothing]',
    async () => {
      const hashes = new Map<string, string>();
      const outcomes = new Set<string>();
      const changes: (readonly [typeof storeFile, InputOf<typeof storeFile>])[] = [];
      for (const bytes of ROOM) {
        const names = { [`${bytes}.md`]: 5_000, [`${bytes}.bin`]: LARGE_BYTES };
        for (const [name, hash] of written(outside, names)) hashes.set(`wip/${name}`, hash);
        leave(bytes);
        for (const name of Object.keys(names)) {
          const change = [storeFile, { node_id: node.id, local_path: join(outside, name) }] as const;
          changes.push(change);
          outcomes.add(await outcomeOf(...change));
        }
        for (const [path, hash] of visible()) expect([path, hash]).toEqual([path, hashes.get(path)]);
      }
      expect([...outcomes].toSorted()).toEqual(['507 STORAGE_FULL', 'done']);

      disk.clear();
      for (const change of changes) expect(await outcomeOf(...change)).toBe('done');
      await agreed(hashes);
    },
    STORY_MS,
  );

  it('tracks a file of the remote, or says that the disk is full, and has one record of it in the end', async () => {
    const { local_path } = await all.stations[0].client.call(storeFile, {
      node_id: node.id,
      local_path: join(node.here, [...written(node.here, { 'wip/stored.md': 100 }).keys()][0] ?? ''),
    });
    expect(local_path).toBe(join(node.here, 'wip/stored.md'));
    const [stored = ''] = readdirSync(all.storage, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('wip/stored.md'),
    );
    written(join(all.storage, stored, '../..'), { 'wip/by-hand.md': 100 });
    const paths = ['wip/by-hand.md'];
    leave(0);
    expect(['done', '507 STORAGE_FULL']).toContain(await outcomeOf(adoptFiles, { node_id: node.id, paths }));
    disk.clear();
    await outcomeOf(adoptFiles, { node_id: node.id, paths });
    const { items } = await all.wanda.call(listFiles, { node_id: node.id });
    expect(items.map(({ path }) => path).toSorted()).toEqual(['wip/by-hand.md', 'wip/stored.md']);
  });
});
