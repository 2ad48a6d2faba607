import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createNode,
  fileStatus,
  listFiles,
  listMirrors,
  readMembership,
  searchFiles,
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

beforeAll(async () => {
  const variables = { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_ALLOWED_HOSTS: '127.0.0.1' };
  world = await startWorld({ variables, replicas: { 'graph-svc': 1, gateway: 1 } });
  ({ id: acme } = await world.ada.call(createNode, { type: 'organization', name: 'Acme' }));
  network = await TcpProxy.listen(Number(new URL(world.urls[0]).port));
  const outside = `http://127.0.0.1:${network.port}`;
  wanda = await person(world.ada, 'Wanda');
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

const stateOf = async (client: RestClient) => (await client.call(readMembership, {})).membership?.state;
const pathsOf = async (id: string) =>
  (await wanda.call(listFiles, { node_id: id })).items.map(({ path }) => path).sort();
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
  expect(await station.client.refusal(listFiles, { node_id: id })).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  const told = await folder.svc(['status']);
  expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('cannot be reached')]);

  network.set('open');
  await untilTracked(id, ['wip/kept.md', ...paths]);
  expect(readFileSync(join(path, 'wip/kept.md'), 'utf8')).toBe('while away');
}, 300_000);
