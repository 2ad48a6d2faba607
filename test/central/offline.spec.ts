import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createNode,
  deleteFile,
  fileStatus,
  LIMITS,
  listFiles,
  listMirrors,
  moveFile,
  readMembership,
  searchFiles,
  setRoutingPolicy,
  setupRemote,
  storeFiles,
  whoami,
} from '@workspace-graph/contracts';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { type CentralWorld, startWorld, until } from './central-world.js';
import type { RestClient } from './rest-client.js';
import { TcpProxy } from './tcp-proxy.js';
import {
  joinedFolder,
  mirrored,
  type Person,
  person,
  startWorkstation,
  untilConnected,
  type Workstation,
} from './workstation.js';

const START_MS = 240_000;
const FILES = 200;

let world: CentralWorld;
/** The network between the workstation and the centre. */
let network: TcpProxy;
let wanda: Person;
let station: Workstation;
let acme: string;
let folder: WorkspaceFolder;
/** Where the remote keeps its files. */
let storage: string;

beforeAll(async () => {
  const variables = { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_ALLOWED_HOSTS: '127.0.0.1' };
  world = await startWorld({ variables, replicas: { 'graph-svc': 1, gateway: 1 } });
  ({ id: acme } = await world.ada.call(createNode, { type: 'organization', name: 'Acme' }));
  network = await TcpProxy.listen(Number(new URL(world.urls[0]).port));
  const outside = `http://127.0.0.1:${network.port}`;
  wanda = await person(world.ada, 'Wanda');
  storage = join(world.central.volume('files'), 'folders', 'team');
  mkdirSync(storage, { recursive: true });
  await world.ada.call(setupRemote, { name: 'team', type: 'fs', config: { folder: 'team' } });
  const rule = { priority: 100, node_type: null, org_slug: null, remote_name: 'team' };
  await world.ada.call(setRoutingPolicy, { rules: [rule] });
  folder = new WorkspaceFolder({ onDisk: true });
  await joinedFolder(Object.assign(wanda.at(outside), { userId: wanda.userId }), 'laptop', folder);
  station = await startWorkstation(folder);
  await untilConnected(station);
}, START_MS);
afterEach(() => network.set('open'));
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
  await network?.[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function project(name: string): Promise<{ readonly id: string; readonly path: string }> {
  const { id } = await world.ada.call(createNode, { type: 'project', name, organization_id: acme });
  return { id, path: await mirrored(station.client, id) };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const stateOf = async (client: RestClient) => (await client.call(readMembership, {})).membership?.state;
const listedBy = async (client: Pick<RestClient, 'call'>, id: string) =>
  (await client.call(listFiles, { node_id: id, limit: LIMITS.filesMax })).items;
const pathsOf = async (id: string) => (await listedBy(wanda, id)).map(({ path }) => path).sort();
const untilTracked = (id: string, paths: readonly string[]) =>
  until(
    'the centre knows the files',
    async () => JSON.stringify(await pathsOf(id)) === JSON.stringify([...paths].sort()),
    120_000,
  );

it('works in its folders while nobody can be reached, and tells the centre all of it when it is back', async () => {
  const { id, path } = await project('Offline');
  writeFileSync(join(path, 'wip/kept.md'), 'before');
  writeFileSync(join(path, 'wip/gone.md'), 'before');
  await untilTracked(id, ['wip/gone.md', 'wip/kept.md']);

  network.set('refused');
  await until('it is told', async () => (await stateOf(station.client)) === 'unreachable');
  writeFileSync(join(path, 'wip/kept.md'), 'while away');
  unlinkSync(join(path, 'wip/gone.md'));
  const paths = Array.from({ length: FILES }, (_, index) => `wip/new-${index}.md`);
  for (const each of paths.slice(0, FILES / 2)) writeFileSync(join(path, each), each);

  // Killed, and started again without the network: what was saved in between counts as well.
  await station.running.kill();
  for (const each of paths.slice(FILES / 2)) writeFileSync(join(path, each), each);
  station = await startWorkstation(folder);
  expect(await stateOf(station.client)).toBe('unreachable');
  expect((await station.client.call(whoami, {})).user.id).toBe(wanda.userId);
  expect((await station.client.call(listMirrors, {})).items).toMatchObject([{ local_path: path }]);
  expect((await station.client.call(fileStatus, { node_id: id })).counts.push_candidates).toBeGreaterThan(0);
  const read = await station.client.fetch(`/nodes/${id}/file?path=wip/kept.md`);
  expect([read.status, await read.text()]).toEqual([200, 'while away']);
  const found = async () => (await station.client.call(searchFiles, { query: 'while away' })).hits;
  await until('it is found', async () => (await found()).length > 0);
  expect(await found()).toMatchObject([{ node_id: id, node_name: 'Offline', path: 'wip/kept.md' }]);
  expect((await station.client.call(searchFiles, { query: 'while away' })).complete).toBe(false);
  const seen = await station.client.call(listFiles, { node_id: id });
  expect([seen.stale, seen.items.map((item) => item.path).sort()]).toEqual([true, ['wip/gone.md', 'wip/kept.md']]);
  const told = await folder.svc(['status']);
  expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('cannot be reached')]);

  network.set('open');
  await untilTracked(id, ['wip/kept.md', ...paths]);
  expect(readFileSync(join(path, 'wip/kept.md'), 'utf8')).toBe('while away');
}, 300_000);

it('carries out calls about files in its folders meanwhile, and tells the centre of them when it is back', async () => {
  const { id, path } = await project('By call');
  for (const name of ['kept', 'moved', 'gone']) writeFileSync(join(path, `wip/${name}.md`), name);
  await untilTracked(id, ['wip/gone.md', 'wip/kept.md', 'wip/moved.md']);
  const before = await listedBy(station.client, id);
  const idOf = (name: string): string => before.find(({ filename }) => filename === name)?.id ?? '';
  const byPath = await folder.svc(['files', 'list', 'acme/projects/by-call']);
  expect([byPath.code, byPath.stdout]).toEqual([0, expect.stringContaining('wip/kept.md')]);

  network.set('refused');
  await until('it is told', async () => (await stateOf(station.client)) === 'unreachable');
  const { client } = station;
  const form = new FormData();
  form.append('file', new Blob(['made']), 'made.md');
  const created = await client.fetch(`/nodes/${id}/files`, { method: 'POST', body: form });
  expect(created.status).toBe(201);
  const made = (await listedBy(client, id)).find(({ filename }) => filename === 'made.md');
  const headers = { 'if-match': `"${sha256('kept')}"` };
  const written = await client.fetch(`/nodes/${id}/file?path=wip/kept.md`, { method: 'PUT', headers, body: 'written' });
  expect(await written.json()).toMatchObject({ file: { id: idOf('kept.md'), sha256: sha256('written') } });
  const at = (name: string) => ({ node_id: id, file_id: idOf(name), confirmed: true }) as const;
  const move = { ...at('moved.md'), new_section: 'outputs', new_filename: 'done.md' } as const;
  expect(await client.call(moveFile, move)).toMatchObject({ applied: true, file: { path: 'outputs/done.md' } });
  expect(await client.call(deleteFile, at('gone.md'))).toMatchObject({ applied: true });
  const listed = async () => (await listedBy(station.client, id)).map((item) => item.path).sort();
  const expected = ['outputs/done.md', 'wip/kept.md', 'wip/made.md'];
  expect(await listed()).toEqual(expected);
  // By its name, by its path, and by what nobody here knows.
  const told = await folder.svc(['files', 'list', 'by call']);
  const ofPath = await folder.svc(['files', 'list', 'acme/projects/by-call']);
  expect([ofPath.code, ofPath.stdout]).toEqual([0, told.stdout]);
  expect((await folder.svc(['files', 'list', 'By'])).stderr).toContain('cannot be reached');
  expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('wip/made.md')]);
  expect(told.stderr).toContain('cannot be reached');

  // Killed before anything was told: the folder and the registry know it.
  await station.running.kill();
  station = await startWorkstation(folder);
  expect((await station.client.call(listFiles, { node_id: id })).items.map((item) => item.path).sort()).toEqual(
    expected,
  );

  network.set('open');
  await untilTracked(id, expected);
  const there = await listedBy(wanda, id);
  const moved = there.find((item) => item.path === 'outputs/done.md');
  expect([moved?.id, moved?.sha256]).toEqual([idOf('moved.md'), sha256('moved')]);
  await until('what was written is told', async () => {
    const kept = (await listedBy(wanda, id)).find(({ filename }) => filename === 'kept.md');
    return kept?.sha256 === sha256('written');
  });
  // The id under which it was made is understood here from then on.
  await until('it is known by its first id', async () => {
    const again = { node_id: id, file_id: made?.id ?? '', new_filename: 'named.md', confirmed: true };
    return (await station.client.call(moveFile, again).catch(() => null))?.file?.path === 'wip/named.md';
  });
  await untilTracked(id, ['outputs/done.md', 'wip/kept.md', 'wip/named.md']);
}, 300_000);

it.each([
  ['together', ['one.md', 'two.md', 'three.md'], 0],
  ['alone', ['large.bin'], LIMITS.batchedFileBytes],
] as const)(
  'files that were sent %s without an answer, and edited since, build on what was sent',
  async (way, names, bytes) => {
    const { id, path } = await project(`Lost ${way}`);
    // What is looked for as it passes stands there often: it may be cut anywhere.
    const textOf = (name: string, round: string) => `${'x'.repeat(bytes)}${`${name} ${round}. `.repeat(40)}`;
    const local_paths = names.map((name) => join(path, 'wip', name));
    const store = () => station.client.call(storeFiles, { node_id: id, local_paths });
    const write = (round: string) =>
      names.forEach((name) => {
        writeFileSync(join(path, 'wip', name), textOf(name, round));
      });
    const isStored = (round: string) =>
      names.every((name) => {
        const at = join(storage, `acme/projects/lost-${way}/wip`, name);
        return existsSync(at) && readFileSync(at, 'utf8') === textOf(name, round);
      });
    write('at first');
    expect((await store()).refused).toEqual([]);
    expect(isStored('at first')).toBe(true);
    for (const round of ['second', 'third']) {
      write(round);
      network.muteAfter(`${names.at(-1)} ${round}`);
      const broken = store();
      await until('it has arrived', () => isStored(round), 120_000);
      network.set('refused');
      expect(await broken).toMatchObject({ stored: [] });
      write(`${round} edited`);
      network.set('open');
      await untilConnected(station);
      await until('they are to be uploaded', async () => {
        const { counts } = await station.client.call(fileStatus, { node_id: id });
        expect(counts.conflicts).toBe(0);
        return counts.push_candidates === names.length;
      });
      expect(await store()).toMatchObject({ refused: [] });
      expect(isStored(`${round} edited`)).toBe(true);
    }
  },
  240_000,
);

it('deletes a file of the remote there too when the centre is back', async () => {
  const { id, path } = await project('Stored');
  writeFileSync(join(path, 'wip/stored.md'), 'stored');
  const { client } = station;
  const { stored } = await client.call(storeFiles, { node_id: id, local_paths: [join(path, 'wip/stored.md')] });
  const [{ file_id = '', remote_path = '' } = {}] = stored;
  const object = join(storage, remote_path);
  expect(readFileSync(object, 'utf8')).toBe('stored');
  await listedBy(client, id);

  network.set('refused');
  await until('it is told', async () => (await stateOf(client)) === 'unreachable');
  const deleted = await client.call(deleteFile, { node_id: id, file_id, confirmed: true });
  expect(deleted).toMatchObject({ applied: true, removes: ['record', 'local_copy', 'remote_object'] });
  expect([await listedBy(client, id), existsSync(object)]).toEqual([[], true]);
  await station.running.kill();
  station = await startWorkstation(folder);
  network.set('open');
  await untilTracked(id, []);
  await until('the object is gone', () => !existsSync(object));
}, 300_000);
