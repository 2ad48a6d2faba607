import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  adoptFiles,
  createNode,
  fileStatus,
  getSyncHealth,
  listFiles,
  moveFile,
  type OutputOf,
  renameFolder,
  STATUS_BUCKETS,
  searchFiles,
  setAccess,
  type storeFile,
} from '@workspace-graph/contracts';
import { until } from './central-world.js';
import type { RestClient } from './rest-client.js';
import { STATIONS_MS, startTwoWorkstations, type TwoWorkstations } from './two-workstations.js';
import { agentAt, mirrored, type WorkspaceAgent, type Workstation } from './workstation.js';

type Stored = OutputOf<typeof storeFile>;

let all: TwoWorkstations;
let one: Workstation;
let other: Workstation;
let node: string;
/** The folders of the node on both. */
let [here, there]: [string, string] = ['', ''];
const agents: WorkspaceAgent[] = [];

beforeAll(async () => {
  all = await startTwoWorkstations();
  [one, other] = all.stations;
}, STATIONS_MS);
beforeEach(async () => {
  ({ id: node, here, there } = await all.project());
});
afterEach(() => Promise.all(agents.splice(0).map((agent) => agent[Symbol.asyncDispose]())));
afterAll(() => all?.[Symbol.asyncDispose]());

async function agentOf({ client }: Workstation): Promise<WorkspaceAgent> {
  const agent = await agentAt(client, node);
  agents.push(agent);
  return agent;
}

const file = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');

it('a file that is moved on a workstation is moved on the remote, and goes along where it is pulled', async () => {
  const [a, b] = [await agentOf(one), await agentOf(other)];
  for (const name of ['by-hand', 'by-call', 'in-folder/deep'])
    mkdirSync(dirname(join(here, `wip/${name}.md`)), { recursive: true });
  const told = [];
  for (const name of ['by-hand', 'by-call', 'in-folder/deep']) {
    writeFileSync(join(here, `wip/${name}.md`), `content of ${name}`);
    told.push(await a.store({ node_id: node, local_path: join(here, `wip/${name}.md`) }));
  }
  for (const { file_id } of told) await b.pull({ file_id });
  const [byHand, byCall, inFolder] = told as [Stored, Stored, Stored];

  mkdirSync(join(here, 'outputs/done'), { recursive: true });
  renameSync(join(here, 'wip/by-hand.md'), join(here, 'outputs/done/by-hand.md'));
  const move = { node_id: node, file_id: byCall.file_id, new_filename: 'called.md', confirmed: true };
  expect(await one.client.call(moveFile, move)).toMatchObject({ applied: true, repair_needed: false });
  const rename = { node_id: node, old_prefix: 'wip/in-folder', new_prefix: 'resources/kept', dry_run: false };
  expect(await one.client.call(renameFolder, rename)).toMatchObject({ applied: true, remaining: 0 });
  const below = (path: string): string => join(all.storage, dirname(byHand.remote_path), '..', path);
  const paths = ['outputs/done/by-hand.md', 'wip/called.md', 'resources/kept/deep.md'];
  await until('all have followed', async () => paths.every((path) => existsSync(below(path))));
  for (const { remote_path } of told) expect(existsSync(join(all.storage, remote_path))).toBe(false);

  // Their old names are free for other files, of the same content too.
  writeFileSync(join(here, 'wip/by-hand.md'), 'content of by-hand');
  const second = await a.store({ node_id: node, local_path: join(here, 'wip/by-hand.md') });
  expect(second.file_id).not.toBe(byHand.file_id);

  // An edited copy stays where it is until somebody decides; the others go along.
  writeFileSync(join(there, 'wip/by-call.md'), 'edited there');
  await until('the edit is noticed', async () => {
    const { push_candidates } = await other.client.call(fileStatus, { node_id: node, include_discovery: false });
    return push_candidates.some(({ path }) => path === 'wip/by-call.md');
  });
  await b.pull({ file_id: byHand.file_id });
  await b.pull({ file_id: inFolder.file_id });
  expect(file(there, 'outputs/done/by-hand.md')).toBe('content of by-hand');
  expect(file(there, 'resources/kept/deep.md')).toBe('content of in-folder/deep');
  for (const path of ['wip/by-hand.md', 'wip/in-folder/deep.md']) expect(existsSync(join(there, path))).toBe(false);
  expect(await b.pull({ file_id: second.file_id })).toMatchObject({ local_path: join(there, 'wip/by-hand.md') });
  const items = (await all.wanda.call(listFiles, { node_id: node })).items.map(({ id, path }) => [id, path]);
  expect(items).toEqual(
    expect.arrayContaining([
      [byHand.file_id, 'outputs/done/by-hand.md'],
      [byCall.file_id, 'wip/called.md'],
      [inFolder.file_id, 'resources/kept/deep.md'],
      [second.file_id, 'wip/by-hand.md'],
    ]),
  );
  expect(file(there, 'wip/by-call.md')).toBe('edited there');
}, 120_000);

it('the state of files is told for each workstation, and for who has none', async () => {
  const [a, b] = [await agentOf(one), await agentOf(other)];
  const told: Stored[] = [];
  for (const name of ['same', 'edited', 'newer', 'both', 'gone', 'lost']) {
    writeFileSync(join(here, `wip/${name}.md`), name);
    told.push(await a.store({ node_id: node, local_path: join(here, `wip/${name}.md`) }));
  }
  for (const { file_id } of told) await b.pull({ file_id });
  writeFileSync(join(here, 'wip/mine.md'), 'not uploaded');
  for (const name of ['edited', 'both']) writeFileSync(join(here, `wip/${name}.md`), `${name} here`);
  for (const name of ['newer', 'both']) {
    writeFileSync(join(there, `wip/${name}.md`), `${name} there`);
    await b.store({ node_id: node, local_path: join(there, `wip/${name}.md`) });
  }
  unlinkSync(join(here, 'wip/gone.md'));
  const [last] = told.slice(-1) as [Stored];
  unlinkSync(join(all.storage, last.remote_path));
  const folder = join(all.storage, dirname(last.remote_path), '..');
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  writeFileSync(join(folder, 'outputs/by hand.md'), 'put there');

  const stateAt = async (who: RestClient) => {
    const status = await who.call(fileStatus, { node_id: node });
    return Object.fromEntries(
      STATUS_BUCKETS.flatMap((bucket) => status[bucket].map(({ path }) => [path.replace(/.*\//, ''), bucket])),
    );
  };
  const common = { 'by hand.md': 'new_remote', 'lost.md': 'remote_missing', 'same.md': 'clean' };
  const atOne = {
    ...common,
    'edited.md': 'push_candidates',
    'newer.md': 'pull_candidates',
    'both.md': 'conflicts',
    'gone.md': 'deleted_local',
    'mine.md': 'push_candidates',
  };
  await until('the one tells it', async () => isDeepStrictEqual(await stateAt(one.client), atOne));
  const clean = { 'edited.md': 'clean', 'newer.md': 'clean', 'both.md': 'clean', 'gone.md': 'clean' };
  // A file of another workstation that was never uploaded can be had from nowhere.
  expect(await stateAt(other.client)).toEqual({ ...common, ...clean, 'mine.md': 'remote_missing' });
  const nowhere = Object.fromEntries(Object.keys({ ...clean, 'same.md': '' }).map((name) => [name, 'pull_candidates']));
  expect(await stateAt(all.wanda)).toEqual({ ...common, ...nowhere, 'mine.md': 'remote_missing' });

  const adopted = await other.client.call(adoptFiles, { node_id: node, paths: ['outputs/by hand.md', 'wip/none.md'] });
  expect([adopted.files.map(({ path }) => path), adopted.skipped.map(({ path }) => path)]).toEqual([
    ['outputs/by hand.md'],
    ['wip/none.md'],
  ]);
  expect(await stateAt(other.client)).toMatchObject({ 'by hand.md': 'pull_candidates' });
  await b.pull({ file_id: adopted.files[0]?.id ?? '' });
  expect([file(there, 'outputs/by hand.md'), (await stateAt(other.client))['by hand.md']]).toEqual([
    'put there',
    'clean',
  ]);
  // Without its folder, the centre is asked in its place.
  const { id: elsewhere } = await all.ada.call(createNode, {
    type: 'project',
    name: 'Elsewhere',
    organization_id: all.organizationId,
  });
  expect((await one.client.call(fileStatus, { node_id: elsewhere })).counts.clean).toBe(0);
}, 120_000);

it('people do the same with the command, many files at a time', async () => {
  const svc = async ({ folder }: Workstation, ...args: string[]) => {
    const { stdout, code } = await folder.svc(['files', ...args, '--json']);
    return { code, told: JSON.parse(stdout) as Record<string, { readonly path?: string; readonly name?: string }[]> };
  };
  for (const name of ['a', 'b', 'c']) writeFileSync(join(here, `wip/${name}.md`), name);
  const sources = ['a', 'b', 'c'].map((name) => join(here, `wip/${name}.md`));
  const stored = await svc(one, 'store', node, ...sources, join(here, 'wip/none.md'));
  expect([stored.code, stored.told['stored']?.length, stored.told['failed']?.map(({ name }) => name)]).toEqual([
    1,
    3,
    [join(here, 'wip/none.md')],
  ]);
  expect((await svc(other, 'pull', node, '--dry-run')).told['would_pull']).toHaveLength(3);
  expect(existsSync(join(there, 'wip/a.md'))).toBe(false);
  expect((await svc(other, 'pull', node)).told['pulled']).toHaveLength(3);
  expect(['a', 'b', 'c'].map((name) => file(there, `wip/${name}.md`))).toEqual(['a', 'b', 'c']);
  // What was deleted here comes back for who names it.
  unlinkSync(join(there, 'wip/c.md'));
  const { told: without } = await svc(other, 'pull', node);
  expect([without['pulled'], existsSync(join(there, 'wip/c.md'))]).toEqual([[], false]);
  expect(without['left']).toContainEqual(expect.objectContaining({ path: 'wip/c.md', deleted_here: true }));
  await svc(other, 'pull', node, 'wip/c.md');
  expect(file(there, 'wip/c.md')).toBe('c');
  // A change on both sides is left, unless it is forced.
  writeFileSync(join(there, 'wip/a.md'), 'there');
  writeFileSync(join(here, 'wip/a.md'), 'here');
  await svc(one, 'store', node, join(here, 'wip/a.md'));
  const left = await svc(other, 'pull', node);
  expect([left.code, left.told['pulled'], left.told['left']?.map(({ path }) => path)]).toEqual([
    0,
    [],
    expect.arrayContaining(['wip/a.md']),
  ]);
  expect((await svc(other, 'pull', node, 'wip/a.md', '--force')).code).toBe(0);
  expect(file(there, 'wip/a.md')).toBe('here');
}, 120_000);

it('the folder of a node that is hidden goes from workstations, and nothing goes that is nowhere else', async () => {
  const a = await agentOf(one);
  writeFileSync(join(here, 'wip/plan.md'), 'uploaded');
  const { remote_path } = await a.store({ node_id: node, local_path: join(here, 'wip/plan.md') });
  writeFileSync(join(here, 'wip/mine.md'), 'not uploaded');
  await until('it is tracked', async () => (await all.wanda.call(listFiles, { node_id: node })).items.length === 2);
  await all.ada.call(setAccess, { node_id: node, visibility: 'private', confirmed: true });
  await until('both folders are gone', async () => !existsSync(here) && !existsSync(there));
  const aside = `${here} (access ended)`;
  await until('it is told', async () => {
    const { set_aside } = await one.client.call(getSyncHealth, {});
    return set_aside.some(({ path }) => path === aside);
  });
  expect([readdirSync(join(aside, 'wip')), file(aside, 'wip/mine.md'), existsSync(`${there} (access ended)`)]).toEqual([
    ['mine.md'],
    'not uploaded',
    false,
  ]);
  // On the remote everything is as it was, and with the right it all comes back.
  expect(file(all.storage, remote_path)).toBe('uploaded');
  await all.ada.call(setAccess, { node_id: node, visibility: 'everyone', confirmed: true });
  await mirrored(one.client, node);
  const [stored] = (await all.wanda.call(listFiles, { node_id: node })).items.filter(
    ({ path }) => path === 'wip/plan.md',
  );
  await a.pull({ file_id: stored?.id ?? '' });
  expect(file(here, 'wip/plan.md')).toBe('uploaded');
}, 120_000);

it('a search on a workstation finds what is here and what lies on remotes alone, and only the former without the centre [files.search.remote]', async () => {
  const word = `sourdough${Date.now()}`;
  writeFileSync(join(here, 'wip/here.md'), `the ${word} here`);
  const { id: elsewhere } = await all.ada.call(createNode, {
    type: 'project',
    name: `No folder ${word}`,
    organization_id: all.organizationId,
  });
  const made = await all.wanda.fetch(`/nodes/${elsewhere}/file?path=wip/there.md`, {
    method: 'PUT',
    body: `the ${word} there`,
    headers: { 'if-none-match': '*', 'content-type': 'application/octet-stream' },
  });
  expect(made.status).toBe(201);
  const search = () => one.client.call(searchFiles, { query: word });
  await until('what is here is indexed', async () => (await search()).hits.some(({ path }) => path === 'wip/here.md'));
  const { hits, complete } = await search();
  expect(hits.map(({ path, snippet }) => [path, snippet])).toEqual([
    ['wip/here.md', `the «${word}» here`],
    ['wip/there.md', `the «${word}» there`],
  ]);
  expect(complete).toBe(true);
  const paths = async () => (await search()).hits.map(({ path }) => path);
  const [fileService] = all.world.central.instances('file-svc');
  await fileService?.kill();
  expect(await paths().catch(() => ['refused'])).not.toContain('wip/there.md');
  await all.world.central.add('file-svc');
  await until('both are found again', async () => (await paths().catch(() => [])).length === 2);
});
