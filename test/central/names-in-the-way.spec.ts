import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  adoptFiles,
  deleteFile,
  fileStatus,
  listFiles,
  listTrash,
  moveFile,
  pullFile,
  pullFiles,
  purgeNode,
  storeFiles,
} from '@workspace-graph/contracts';
import { until } from './central-world.js';
import { STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';
import { startWorkstation, untilConnected } from './workstation.js';

let all: TwoWorkstations;
let node: string;
/** The folders of the node on both. */
let [here, there]: [string, string] = ['', ''];

beforeAll(async () => {
  all = await startTwoWorkstations();
}, STATIONS_MS);
beforeEach(async () => {
  ({ id: node, here, there } = await all.project());
});
afterAll(() => all?.[Symbol.asyncDispose]());

const content = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const recorded = async () => (await all.wanda.call(listFiles, { node_id: node })).items;
const recordOf = async (path: string) => (await recorded()).find((file) => file.path === path);

function store(station: 0 | 1, ...paths: readonly string[]) {
  const local_paths = paths.map((path) => join(station === 0 ? here : there, path));
  return all.stations[station].client.call(storeFiles, { node_id: node, local_paths });
}

async function stored(...paths: readonly string[]): Promise<string[]> {
  for (const path of paths) writeFileSync(join(here, path), `${path} of the one`);
  const answer = await store(0, ...paths);
  expect(answer.refused).toEqual([]);
  return answer.stored.map(({ file_id }) => file_id);
}

async function pulled(file_ids: readonly string[]) {
  return all.stations[1].client.call(pullFiles, { node_id: node, file_ids: [...file_ids] });
}

it('a file that somebody has stored stays when a copy of the same name that never was is removed elsewhere', async () => {
  writeFileSync(join(here, 'wip/plan.md'), 'of the one');
  await until('it is recorded', async () => (await recordOf('wip/plan.md')) !== undefined);
  const { version } = (await recordOf('wip/plan.md')) ?? {};
  writeFileSync(join(there, 'wip/plan.md'), 'of the other');
  await until('the other is as well', async () => (await recordOf('wip/plan.md'))?.version !== version);
  const [{ file_id, remote_path } = { file_id: '', remote_path: '' }] = (await store(0, 'wip/plan.md')).stored;

  unlinkSync(join(there, 'wip/plan.md'));
  writeFileSync(join(there, 'wip/next.md'), 'noticed after that');
  await until('the removal was noticed', async () => (await recordOf('wip/next.md')) !== undefined);
  expect(await recordOf('wip/plan.md')).toMatchObject({ id: file_id, remote_name: 'team' });
  expect(await pulled([file_id])).toMatchObject({ pulled: [{ file_id, changed: true }], refused: [] });
  expect([content(there, 'wip/plan.md'), content(all.storage, remote_path)]).toEqual(['of the one', 'of the one']);
}, 120_000);

it('a file whose record somebody else has removed is told as that, and stored as a new one', async () => {
  const [file_id = ''] = await stored('wip/plan.md');
  await pulled([file_id]);
  await all.stations[0].client.call(deleteFile, { node_id: node, file_id, confirmed: true });
  expect(await recorded()).toEqual([]);
  const state = await all.stations[1].client.call(fileStatus, { node_id: node });
  expect([state.clean, state.deleted_remote]).toMatchObject([[], [{ path: 'wip/plan.md' }]]);
  const { stored: again, refused } = await store(1, 'wip/plan.md');
  expect(refused).toEqual([]);
  expect(again).toMatchObject([{ local_path: join(there, 'wip/plan.md'), remote_name: 'team' }]);
  expect(again[0]?.file_id).not.toBe(file_id);
  expect(content(all.storage, again[0]?.remote_path ?? '')).toBe('wip/plan.md of the one');
}, 120_000);

it('what was deleted or moved elsewhere comes not back when a workstation with unchanged copies starts again', async () => {
  const file_ids = await stored('wip/deleted.md', 'wip/moved.md', 'wip/edited.md');
  await pulled(file_ids);
  const [one, other] = all.stations;
  const [deleted = '', moved = '', edited = ''] = file_ids;
  const away = await all.project();
  for (const file_id of [deleted, edited])
    await one.client.call(deleteFile, { node_id: node, file_id, confirmed: true });
  await one.client.call(moveFile, { node_id: node, file_id: moved, new_node_id: away.id, confirmed: true });
  await other.running.stop();
  writeFileSync(join(there, 'wip/edited.md'), 'edited meanwhile');
  all.stations[1] = await startWorkstation(other.folder);
  await untilConnected(all.stations[1]);
  // What its owner went on with is a file again: by then all of the node was compared.
  await until('the records were compared', async () => (await recordOf('wip/edited.md')) !== undefined);
  expect((await recorded()).map(({ path }) => path)).toEqual(['wip/edited.md']);
  const { deleted_remote } = await all.stations[1].client.call(fileStatus, { node_id: node });
  expect(deleted_remote.map(({ path }) => path).toSorted()).toEqual(['wip/deleted.md', 'wip/moved.md']);
  expect(content(there, 'wip/deleted.md')).toBe('wip/deleted.md of the one');
}, 240_000);

it('nothing counts as stored that only has a name like a stored file', async () => {
  const [file_id = ''] = await stored('wip/PLAN.md');
  writeFileSync(join(here, 'wip/plan.md'), 'another one');
  const { stored: none, refused } = await store(0, 'wip/plan.md');
  expect(none).toEqual([]);
  expect(refused).toMatchObject([
    { code: 'DESTINATION_EXISTS', message: expect.stringContaining('differs from wip/PLAN.md only by case') },
  ]);
  expect(await recorded()).toMatchObject([{ id: file_id, size_bytes: 'wip/PLAN.md of the one'.length, version: 1 }]);
}, 120_000);

it("what a purged node has left on a remote is in nobody else's way, also what no record knew", async () => {
  const name = `Secret ${Math.random()}`;
  const { id, here: folder } = await all.project(name);
  const path = 'wip/plan.md';
  writeFileSync(join(folder, path), 'of the purged one');
  const { stored: first } = await all.stations[0].client.call(storeFiles, {
    node_id: id,
    local_paths: [join(folder, path)],
  });
  const left = first[0]?.remote_path ?? '';
  const loose = join(all.storage, dirname(left), 'loose.md');
  writeFileSync(loose, 'put there by another program');
  await all.ada.call(purgeNode, { node_id: id, confirmed: true });
  await until('its folder is gone', () => !existsSync(folder));

  const { id: again, here: other } = await all.project(name);
  for (const client of [all.ada, all.wanda, all.stations[1].client]) {
    expect((await client.call(fileStatus, { node_id: again })).new_remote).toEqual([]);
    const { files, skipped } = await client.call(adoptFiles, { node_id: again, paths: [path] });
    expect([files, skipped]).toMatchObject([[], [{ path }]]);
  }
  const paths = [path, 'wip/loose.md'];
  for (const each of paths) writeFileSync(join(other, each), 'of the next one');
  const local_paths = paths.map((each) => join(other, each));
  expect(await all.stations[0].client.call(storeFiles, { node_id: again, local_paths })).toMatchObject({ refused: [] });
  expect([content(all.storage, left), readFileSync(loose, 'utf8')]).toEqual([
    'of the purged one',
    'put there by another program',
  ]);
}, 120_000);

it('a name that only Windows refuses is pulled where it can be', async () => {
  const paths = ['wip/What: now?.md', 'wip/con.txt', 'wip/ends with a dot.'];
  const ids = await stored(...paths);
  const [first = '', ...others] = ids;
  await all.stations[1].client.call(pullFile, { file_id: first });
  expect((await pulled(others)).refused).toEqual([]);
  for (const path of paths) expect(content(there, path)).toBe(`${path} of the one`);
}, 120_000);

it('what is no file in the place of some files keeps no other from being pulled, and those can be deleted', async () => {
  const ids = await stored('wip/a.md', 'wip/b.md', 'wip/c.md');
  await pulled(ids);
  for (const path of ['wip/a.md', 'wip/b.md']) unlinkSync(join(there, path));
  mkdirSync(join(there, 'wip/a.md'));
  symlinkSync('c.md', join(there, 'wip/b.md'));
  writeFileSync(join(here, 'wip/c.md'), 'newer');
  await store(0, 'wip/c.md');

  const { client } = all.stations[1];
  const { preview } = await client.call(pullFile, { node_id: node });
  const told = preview?.files.map((file) => [file.path, file.class, file.message]) ?? [];
  expect(told.sort()).toEqual([
    ['wip/a.md', 'conflict', expect.stringContaining('is no ordinary file')],
    ['wip/b.md', 'conflict', expect.stringContaining('symbolic link')],
    ['wip/c.md', 'updated', undefined],
  ]);
  const answer = await pulled(ids);
  expect(answer.pulled).toMatchObject([{ file_id: ids[2], changed: true }]);
  expect(answer.refused.map(({ file_id, code }) => [file_id, code])).toEqual([
    [ids[0], 'DESTINATION_EXISTS'],
    [ids[1], 'VALIDATION_FAILED'],
  ]);
  expect(content(there, 'wip/c.md')).toBe('newer');

  const deletion = { node_id: node, file_id: ids[0] ?? '' };
  expect(await client.call(deleteFile, deletion)).toMatchObject({ removes: ['record', 'remote_object'] });
  expect(await client.call(deleteFile, { ...deletion, confirmed: true })).toMatchObject({ applied: true });
  expect((await recorded()).map(({ path }) => path).sort()).toEqual(['wip/b.md', 'wip/c.md']);
}, 120_000);

it('a new file takes the name of one that was deleted or moved elsewhere, of which an unchanged copy lies here', async () => {
  const { client } = all.stations[0];
  const [gone = '', moved = ''] = await stored('wip/a.md', 'wip/b.md');
  await all.wanda.call(deleteFile, { node_id: node, file_id: gone, confirmed: true });
  await all.wanda.call(moveFile, { node_id: node, file_id: moved, new_filename: 'c.md', confirmed: true });
  const headers = { 'if-none-match': '*', 'content-type': 'application/octet-stream' };
  for (const name of ['a', 'b'])
    await all.wanda.fetch(`/nodes/${node}/file?path=wip/${name}.md`, { method: 'PUT', headers, body: `new ${name}` });
  const ids = [(await recordOf('wip/a.md'))?.id ?? '', (await recordOf('wip/b.md'))?.id ?? ''];
  const { preview } = await client.call(pullFile, { node_id: node });
  expect(preview?.files.filter(({ file_id }) => ids.includes(file_id)).map((file) => file.class)).toEqual([
    'updated',
    'updated',
  ]);
  expect(await client.call(pullFiles, { node_id: node, file_ids: ids })).toMatchObject({ refused: [] });
  expect([content(here, 'wip/a.md'), content(here, 'wip/b.md')]).toEqual(['new a', 'new b']);
  // What lay there is in the trash, and what was moved comes to its new place.
  const { items } = await client.call(listTrash, { node_id: node });
  expect(items.map(({ path, reason }) => [path, reason]).sort()).toEqual([
    ['wip/a.md', 'replaced'],
    ['wip/b.md', 'replaced'],
  ]);
  await client.call(pullFiles, { node_id: node, file_ids: [moved] });
  expect(content(here, 'wip/c.md')).toBe('wip/b.md of the one');
  const { counts } = await client.call(fileStatus, { node_id: node });
  expect([counts.clean, counts.conflicts, counts.push_candidates, counts.pull_candidates]).toEqual([3, 0, 0, 0]);
}, 120_000);

it('a file takes the name of a folder that files have left, and of none in which some are', async () => {
  mkdirSync(join(here, 'wip/drafts/old'), { recursive: true });
  await stored('wip/drafts/old/a.md', 'wip/b.md');
  rmSync(join(here, 'wip/drafts'), { recursive: true });
  writeFileSync(join(here, 'wip/drafts'), 'a file by now');
  expect((await store(0, 'wip/drafts')).refused).toMatchObject([
    { code: 'DESTINATION_EXISTS', message: expect.stringContaining('is a folder with files in it on the remote') },
  ]);
  const file_id = (await recordOf('wip/drafts/old/a.md'))?.id ?? '';
  await all.stations[0].client.call(deleteFile, { node_id: node, file_id, confirmed: true });
  const { stored: now } = await store(0, 'wip/drafts');
  expect(content(all.storage, now[0]?.remote_path ?? '')).toBe('a file by now');

  mkdirSync(join(here, 'wip/later'));
  await stored('wip/later/c.md');
  renameSync(join(here, 'wip/later/c.md'), join(here, 'wip/c.md'));
  rmSync(join(here, 'wip/later'), { recursive: true });
  await until('it has moved there', async () => {
    const file = await recordOf('wip/c.md');
    return file !== undefined && isThere(file.remote_path);
  });
  renameSync(join(here, 'wip/b.md'), join(here, 'wip/later'));
  await until('it follows', async () => {
    const path = (await recordOf('wip/later'))?.remote_path;
    return path !== undefined && isThere(path);
  });
}, 120_000);

/** Whether a file, and no folder, lies there on the remote. */
function isThere(path: string): boolean {
  try {
    return content(all.storage, path).length > 0;
  } catch {
    return false;
  }
}
