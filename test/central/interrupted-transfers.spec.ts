import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chown, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  fileStatus,
  LIMITS,
  listFiles,
  listTrash,
  type OutputOf,
  pullFiles,
  setupRemote,
  storeFiles,
} from '@workspace-graph/contracts';
import { isTemporaryName } from '@workspace-graph/disk';
import { listProcesses, type SshServer, startSshd, whyNoSshd } from '@workspace-graph/testing';
import { until } from './central-world.js';
import { routeTo, STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';
import { startWorkstation } from './workstation.js';

/** How much is on its way; more in `npm run soak`. */
const FILES = Number(process.env['SVC_TRANSFER_FILES'] ?? 180);
const LARGE_MB = Number(process.env['SVC_TRANSFER_MB'] ?? 8);
/** One that everything is killed for in turn, both ways; only there. */
const LARGEST_MB = Number(process.env['SVC_TRANSFER_LARGEST_MB'] ?? 0);
const MB = 1_048_576;
/** Of what goes on where it broke off, and of each of its parts. */
const LARGER_MB = 160;
const PART_MB = 8;
/** Asked for in one call: a kill comes while the large one among them is on its way, or about to be. */
const PART = 15;
const STORY_MS = 900_000;
/** Hidden, or not whole yet and named as such. */
const OURS = /(^|\/)\./;

/** What is killed in turn, each while files are on their way. */
const VICTIMS = ['file-svc', 'gateway', 'nats', 'postgres', 'remote', 'workstation'] as const;
type Victim = (typeof VICTIMS)[number];

let all: TwoWorkstations;
let server: SshServer;
/** The folder of the storage. */
let root: string;
let node: { readonly id: string; readonly here: string; readonly there: string };
/** Hashes of what every file is, by its name. */
const hashes = new Map<string, string>();

const withServer = (await whyNoSshd()) === null ? describe : describe.skip;

withServer('files on their way, whatever is killed meanwhile', () => {
  beforeAll(async () => {
    server = await startSshd();
    root = await mkdtemp(join(tmpdir(), 'interrupted-sftp-'));
    const { port, user: username, privateKey: private_key, hostKey: host_key, owner } = server;
    if (owner) await chown(root, owner.uid, owner.gid);
    all = await startTwoWorkstations({ durable: true });
    const config = { host: '127.0.0.1', port, username, host_key, root };
    await all.ada.call(setupRemote, { name: 'far', type: 'sftp', config, credentials: { private_key } });
    await routeTo(all.ada, 'far');
    node = await all.project('Bakery');
    await fill(join(node.here, 'wip'));
  }, STATIONS_MS);
  afterAll(async () => {
    await all[Symbol.asyncDispose]();
    await server.stop();
    await rm(root, { recursive: true, force: true });
  });

  it(
    'are all stored, each whole and once, with nothing to be done by anybody [files.central.whole-or-nothing]',
    async () => {
      await whileKilling(0, root, async (names) => {
        const local_paths = names.map((name) => join(node.here, 'wip', name));
        const { stored } = await all.stations[0].client.call(storeFiles, { node_id: node.id, local_paths });
        return stored.map(({ given }) => given.slice(given.lastIndexOf('/') + 1));
      });
      expect(await contentsBelow(root)).toEqual(hashes);
      const items = await listed();
      expect(items.map(({ filename }) => filename).toSorted()).toEqual([...hashes.keys()].toSorted());
      await expectSettled(0);
    },
    STORY_MS,
  );

  it(
    'go on where they broke off when they are large, in the same call [files.central.whole-or-nothing]',
    async () => {
      const path = join(node.here, 'wip', 'larger.bin');
      await writeFile(path, randomBytes(MB));
      await truncate(path, LARGER_MB * MB);
      hashes.set('larger.bin', await hashOf(path));
      const storing = all.stations[0].client.call(storeFiles, { node_id: node.id, local_paths: [path] });
      const names = new Set<string>();
      for (const [turn, victim] of (['file-svc', 'gateway'] as const).entries()) {
        await until(`part of it is there before ${victim} is killed`, async () => {
          const there = await growing();
          for (const [name] of there) names.add(name);
          return there.some(([, size]) => size >= (turn + 1) * 2 * PART_MB * MB);
        });
        const { central } = all.world;
        const before = central.instances(victim);
        await central.add(victim);
        await Promise.all(before.map((instance) => instance.kill()));
      }
      const { stored, refused } = await storing;
      expect([stored.length, refused]).toEqual([1, []]);
      // All that came after the first break came to what was there.
      expect([names.size, await growing()]).toEqual([1, []]);
      expect((await contentsBelow(root)).get('larger.bin')).toBe(hashes.get('larger.bin'));
    },
    STORY_MS,
  );

  (LARGEST_MB > 0 ? it : it.skip)(
    'are stored and pulled also when one has gigabytes and everything is killed while it is on its way',
    async () => {
      const path = join(node.here, 'wip', 'largest.bin');
      await writeFile(path, randomBytes(MB));
      await truncate(path, LARGEST_MB * MB);
      const sha256 = await hashOf(path);
      hashes.set('largest.bin', sha256);
      const growsOnRemote = async () => (await growing()).map(([, size]) => size);
      await killingInTurn(0, growsOnRemote, async ({ client }) => {
        const { stored } = await client.call(storeFiles, { node_id: node.id, local_paths: [path] });
        return stored.length === 1;
      });
      expect([(await contentsBelow(root)).get('largest.bin'), await growing()]).toEqual([sha256, []]);
      const items = await listed();
      const file_ids = items.flatMap(({ filename, id }) => (filename === 'largest.bin' ? [id] : []));
      await killingInTurn(1, growsThere, async ({ client }) => {
        const { pulled } = await client.call(pullFiles, { node_id: node.id, file_ids });
        return pulled.length === 1;
      });
      expect(await contentsBelow(join(node.there, 'wip'))).toEqual(new Map([['largest.bin', sha256]]));
    },
    2 * STORY_MS,
  );

  it(
    'are all pulled, each whole and once, with nothing to be done by anybody [files.central.whole-or-nothing]',
    async () => {
      const items = await listed();
      const ids = new Map(items.map(({ filename, id }) => [filename, id]));
      const namesById = new Map(items.map(({ filename, id }) => [id, filename]));
      const folder = join(node.there, 'wip');
      await whileKilling(1, folder, async (names) => {
        const file_ids = names.flatMap((name) => ids.get(name) ?? []);
        const { pulled } = await all.stations[1].client.call(pullFiles, { node_id: node.id, file_ids });
        return pulled.flatMap(({ file_id }) => namesById.get(file_id) ?? []);
      });
      expect(await contentsBelow(folder)).toEqual(hashes);
      await expectSettled(1);
    },
    STORY_MS,
  );
});

/** All files that the centre knows of. */
async function listed(): Promise<OutputOf<typeof listFiles>['items']> {
  const files: OutputOf<typeof listFiles>['items'] = [];
  let cursor: string | undefined;
  do {
    const page = await all.ada.call(listFiles, { node_id: node.id, limit: LIMITS.filesMax, ...(cursor && { cursor }) });
    files.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return files;
}

/** What the storage has of contents that are not whole: names, and how much of each is there. */
async function growing(): Promise<[string, number][]> {
  const folder = join(root, '.svc-uploads');
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map((name) => stat(join(folder, name)).catch(() => null));
  return (await Promise.all(sizes)).flatMap((found, index) => (found ? [[names[index] ?? '', found.size]] : []));
}

/** How much the other workstation has of contents that are not whole. */
async function growsThere(): Promise<number[]> {
  const entries = await readdir(node.there, { recursive: true, withFileTypes: true });
  const drafts = entries.filter((entry) => entry.isFile() && isTemporaryName(entry.name));
  const found = drafts.map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => null));
  return (await Promise.all(found)).map((draft) => draft?.size ?? 0);
}

/** Has one content moved until it is done, and kills each of the victims meanwhile, each when more of it is there. */
async function killingInTurn(
  station: 0 | 1,
  sizes: () => Promise<readonly number[]>,
  move: (workstation: TwoWorkstations['stations'][number]) => Promise<boolean>,
): Promise<void> {
  let isDone = false;
  const moving = async (): Promise<void> => {
    while (!(await move(all.stations[station]).catch(() => false))) await sleep(100);
    isDone = true;
  };
  const killing = async (): Promise<void> => {
    for (const [turn, victim] of VICTIMS.entries()) {
      const bytes = ((turn + 1) / (VICTIMS.length + 1)) * LARGEST_MB * MB;
      const isThere = async () => isDone || (await sizes()).some((size) => size >= bytes);
      await until(`part of it is there before ${victim} is killed`, isThere, STORY_MS);
      expect([victim, isDone]).toEqual([victim, false]);
      await end(victim, station);
    }
  };
  await Promise.all([moving(), killing()]);
}

/** Many small files, no two alike, and a large one on its way whenever something is killed. */
async function fill(folder: string): Promise<void> {
  const marks = VICTIMS.map((_victim, index) => markOf(index));
  for (let index = 0; index < FILES; index += 1) {
    const name = marks.includes(index) ? `${index} large.bin` : `${index}.bin`;
    const path = join(folder, name);
    await writeFile(path, randomBytes(1 + ((index * 797) % 30_000)));
    if (marks.includes(index)) await truncate(path, LARGE_MB * MB);
    hashes.set(name, await hashOf(path));
  }
}

/** After so many files it is the turn of a victim. */
function markOf(index: number): number {
  return Math.floor(((index + 0.5) * FILES) / VICTIMS.length);
}

/**
 * Has everything moved, part by part, until all of it is done, and kills each of the victims in its turn meanwhile. Whatever is
 * seen in the folder to which they go is whole.
 */
async function whileKilling(
  station: 0 | 1,
  folder: string,
  move: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  const left = new Set(hashes.keys());
  const done = new AbortController();
  const moving = async (): Promise<void> => {
    try {
      while (left.size > 0) {
        // Those in the front come again when they were not moved.
        const moved = await move([...left].slice(0, PART)).catch(() => []);
        for (const name of moved) left.delete(name);
        if (moved.length === 0) await sleep(100);
      }
    } finally {
      done.abort();
    }
  };
  const killing = async (): Promise<void> => {
    for (const [index, victim] of VICTIMS.entries()) {
      await until(`it is the turn of ${victim}`, () => FILES - left.size >= markOf(index) - PART, STORY_MS);
      await end(victim, station);
    }
  };
  const looking = async (): Promise<void> => {
    while (!done.signal.aborted) {
      for (const [name, sha256] of await contentsBelow(folder))
        expect([name, sha256]).toEqual([name, hashes.get(name)]);
      await sleep(200);
    }
  };
  await Promise.all([moving(), killing(), looking()]);
}

/** Kills it, and starts it again as whoever watches over it does. */
async function end(victim: Victim, station: 0 | 1): Promise<void> {
  const { central } = all.world;
  switch (victim) {
    case 'file-svc':
    case 'gateway':
      await Promise.all(central.instances(victim).map((instance) => instance.kill()));
      await central.add(victim);
      return;
    case 'nats':
    case 'postgres':
      await central[victim].kill('SIGKILL');
      return central[victim].restart();
    case 'remote': {
      for (const pid of processesOf(server)) process.kill(pid, 'SIGKILL');
      return server.restart();
    }
    default: {
      const { running, folder } = all.stations[station];
      await running.kill();
      all.stations[station] = await startWorkstation(folder);
    }
  }
}

/** Its own, and those that serve its connections. */
function processesOf({ port }: SshServer): number[] {
  const running = listProcesses();
  const found = running.filter(({ command }) => command.includes(`ListenAddress=127.0.0.1:${port}`));
  for (const { pid } of found) found.push(...running.filter(({ parentPid }) => parentPid === pid));
  return found.map(({ pid }) => pid);
}

/** Nothing waits, nothing was displaced, and the folder has what the remote has. */
async function expectSettled(station: 0 | 1): Promise<void> {
  const { client } = all.stations[station];
  await until('all is clean', async () => {
    const { counts } = await client.call(fileStatus, { node_id: node.id, include_discovery: false });
    return counts.clean === hashes.size;
  });
  expect((await client.call(listTrash, { node_id: node.id })).items).toEqual([]);
}

/** Hashes of contents that were read before, by what tells one from another. */
const known = new Map<string, string>();

async function knownHashOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  const key = [dev, ino, size, mtimeNs, ctimeNs].join();
  const sha256 = known.get(key) ?? (await hashOf(path));
  known.set(key, sha256);
  return sha256;
}

/** Hashes of all files that anybody sees, by their names. */
async function contentsBelow(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || OURS.test(path.slice(folder.length))) continue;
    // What is replaced or moved in the same instant is seen at the next look.
    const sha256 = await knownHashOf(path).catch(() => null);
    if (sha256 !== null) found.set(entry.name, sha256);
  }
  return found;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
