import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createMirror, getSyncHealth } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { Mirrors } from './mirrors.js';

let device: DeviceFixture;
let nodeId: string;
let folder: string;

beforeEach(async () => {
  device = await startDevice({ settings: { sharesRecords: true, watch: true } });
  nodeId = device.records.node({ name: 'Bakery' });
  const { local_path } = await device.call(createMirror, { node_id: nodeId, targets: ['local'] }, device.person());
  folder = local_path ?? '';
});
afterEach(() => device.close());

const write = (path: string, content: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};
const known = () => [...device.parts.store.filesOf(nodeId)];
/** As after an upload, or a pull. */
const noteStored = (...paths: string[]): void =>
  device.parts.store.changeFiles({
    put: known().flatMap((file) =>
      paths.includes(file.path) ? [{ ...file, wasPushed: true, lastSyncedHash: file.sha256 }] : [],
    ),
  });
const tracked = (...paths: string[]) =>
  eventually('they are tracked', () => paths.every((path) => known().some((file) => file.path === path)));
const hide = (): void => {
  device.records.nodes.delete(nodeId);
  device.module.get(Mirrors).doubt(nodeId);
};
const isGone = () => eventually('the registration is gone', () => device.parts.store.mirror(nodeId) === null);
const setAside = async (who = device.person()) => (await device.call(getSyncHealth, {}, who)).set_aside;
const trashed = () =>
  device.parts.store
    .trashEntries({ limit: 100, nodeId })
    .map(({ path }) => path)
    .sort();
const below = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name).slice(root.length + 1)] : []))
    .sort();

it('goes to the trash as far as all of it is on the remote, and is no folder any more', async () => {
  write('wip/deep/one.md', 'one');
  write('outputs/two.md', 'two');
  await tracked('wip/deep/one.md', 'outputs/two.md');
  noteStored('wip/deep/one.md', 'outputs/two.md');
  hide();
  await isGone();
  expect([existsSync(folder), trashed(), await setAside()]).toEqual([false, ['outputs/two.md', 'wip/deep/one.md'], []]);
});

it('is set aside with what was edited, never uploaded, or never tracked, and told to its person', async () => {
  for (const name of ['clean', 'edited', 'mine']) write(`wip/${name}.md`, name);
  await tracked('wip/clean.md', 'wip/edited.md', 'wip/mine.md');
  noteStored('wip/clean.md', 'wip/edited.md');
  write('wip/edited.md', 'edited since');
  write('elsewhere/notes.txt', 'of nobody');
  hide();
  await isGone();
  const [aside, ...others] = await setAside();
  expect([others, aside?.path, aside?.files]).toEqual([[], `${folder} (access ended)`, 3]);
  expect(below(aside?.path ?? '')).toEqual(['elsewhere/notes.txt', 'wip/edited.md', 'wip/mine.md']);
  expect(readFileSync(join(aside?.path ?? '', 'wip/edited.md'), 'utf8')).toBe('edited since');
  expect([trashed(), existsSync(folder)]).toEqual([['wip/clean.md'], false]);
  expect(await setAside(device.caller('write'))).toEqual([]);
  device = await device.restart();
  expect(await setAside()).toHaveLength(1);
});

it('stays as it is while nobody can be asked, and comes to the same end after a process that ended in between', async () => {
  for (const name of ['a', 'b', 'c']) write(`wip/${name}.md`, name);
  await tracked('wip/a.md', 'wip/b.md', 'wip/c.md');
  noteStored('wip/a.md', 'wip/b.md');
  device.records.failures.set('find_places', new Error('away'));
  hide();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([device.parts.store.mirror(nodeId) !== null, below(folder).filter((path) => path.startsWith('wip/'))]).toEqual(
    [true, ['wip/a.md', 'wip/b.md', 'wip/c.md']],
  );
  device.records.failures.clear();
  device = await device.restart();
  await isGone();
  expect([trashed(), below(`${folder} (access ended)`)]).toEqual([['wip/a.md', 'wip/b.md'], ['wip/c.md']]);
});

it('takes a free name where there is such a folder already', async () => {
  mkdirSync(`${folder} (access ended)`);
  write('wip/mine.md', 'mine');
  await tracked('wip/mine.md');
  hide();
  await isGone();
  expect(below(`${folder} (access ended) 2`)).toEqual(['wip/mine.md']);
});

it('stays where it is in a workspace of this machine alone', async () => {
  await using local = await startDevice();
  const { nodeId: id, path } = await local.mirror('Bakery');
  mkdirSync(join(path, 'wip'), { recursive: true });
  writeFileSync(join(path, 'wip/one.md'), 'one');
  local.records.nodes.delete(id);
  local.module.get(Mirrors).doubt(id);
  await eventually('the registration is gone', () => local.parts.store.mirror(id) === null);
  expect(readFileSync(join(path, 'wip/one.md'), 'utf8')).toBe('one');
});

async function eventually(what: string, isSo: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !isSo(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > deadline) throw new Error(`it did not come about that ${what}`);
}
