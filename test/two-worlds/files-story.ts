import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  adoptFiles,
  createFile,
  createMirror,
  deleteFile,
  fileStatus,
  getContext,
  getNode,
  getOverview,
  getSyncHealth,
  getSyncStatus,
  listFiles,
  listMirrors,
  listTrash,
  moveFile,
  type Operation,
  openFolder,
  readFile,
  removeMirror,
  renameFolder,
  writeFile as replaceText,
  restoreTrash,
  searchFiles,
} from '@workspace-graph/contracts';
import { until } from '../central/central-world.js';
import type { RestClient } from '../central/rest-client.js';
import { FILES, NODES } from './baseline.js';
import type { RunningWorld } from './running-world.js';
import type { Secrets } from './secrets.js';

/** What lies in folders of nodes that somebody sees: folder, path and text. Each has a time of its own in 2024. */
const SEEN: readonly (readonly [folder: string, path: string, text: string])[] = [
  ['acme/projects/beta-project', 'wip/plan.md', 'A plan for the zebra'],
  ['acme/projects/beta-project', 'wip/deep/more.md', 'Zebra stripes'],
  ['acme/projects/beta-project', 'outputs/report.pdf', 'no real report'],
  ['acme/areas/alpha-area', 'wip/notes.md', 'Notes on zebras and the zebra'],
  ['acme/projects/gamma-project', 'resources/gamma.md', 'A private zebra'],
];
const FAILING = 'acme/projects/beta-project/wip/link';
const SEEN_NODES = [NODES.beta, NODES.alpha, NODES.gamma];
/** Enough that they are still being read while the questions are asked. */
const STIRRED_FILES = 150;
const SETTLE_MS = 30_000;

/** What is in hidden folders, by names that both worlds share. */
export interface HiddenFiles {
  readonly tracked: string;
  readonly trashed: string;
  readonly entry: string;
}

/** Lays files into folders and makes those the folders of nodes; waits until everything is known. */
export async function layFiles({ root, manage }: RunningWorld, organizationKey: string): Promise<void> {
  for (const [index, [folder, path, text]] of SEEN.entries())
    await lay(join(root, folder, path), text, new Date(Date.UTC(2024, 4, 1 + index)));
  await lay(join(root, organizationKey, 'areas/tau-area/wip/tau.md'), 'Tau', new Date(Date.UTC(2024, 4, 20)));
  await symlink('/nowhere', join(root, FAILING));
  for (const node_id of [...SEEN_NODES, NODES.tau]) await manage(createMirror, { node_id });
  await until('the files are known', () => areKnown(manage), SETTLE_MS);
}

async function areKnown(manage: RunningWorld['manage']): Promise<boolean> {
  const { failures, scans } = await manage(getSyncHealth, {});
  const { items } = await manage(listFiles, { node_id: NODES.beta });
  const { hits, indexing } = await manage(searchFiles, { query: 'zebra' });
  const { items: apart } = await manage(listFiles, { node_id: NODES.tau });
  const isRead = [...items, ...apart].filter(({ sha256 }) => sha256 !== null).length === 4;
  const known = failures.length > 0 && scans.length === 0 && isRead;
  return known && indexing === 0 && hits.filter(({ node_id }) => SEEN_NODES.some((id) => id === node_id)).length === 4;
}

/** Folders of hidden nodes, with files of the same names and words, one that fails and one in the trash. */
export async function layHiddenFiles(world: RunningWorld, secrets: Secrets): Promise<HiddenFiles> {
  const { root, manage } = world;
  const elsewhere = join(root, 'hidden-elsewhere');
  await manage(createMirror, { node_id: secrets.below, custom_path: elsewhere });
  const { local_path } = await manage(createMirror, { node_id: secrets.area });
  if (local_path === null) throw new Error('Who manages is told the folder');
  for (const folder of [elsewhere, local_path]) {
    await lay(join(folder, 'wip/other.md'), 'A secret plan for the zebra zebra zebra', new Date(Date.UTC(2024, 4, 3)));
    await symlink('/nowhere', join(folder, 'wip/link'));
  }
  const manager = world.client('manager');
  const [tracked, trashed] = [
    await createText(manager, secrets.area, 'tracked.md'),
    await createText(manager, secrets.area, 'trashed.md'),
  ];
  const { trash_id } = await manage(deleteFile, { node_id: secrets.area, file_id: trashed, confirmed: true });
  await until(
    'hidden files are known',
    async () => (await manage(searchFiles, { query: 'zebra', node_id: secrets.below })).hits.length === 1,
    SETTLE_MS,
  );
  return { tracked, trashed, entry: trash_id ?? '' };
}

/** Keeps the workspace at work in a hidden folder. */
export async function stirHiddenFiles({ root }: RunningWorld): Promise<void> {
  for (let index = 0; index < STIRRED_FILES; index += 1)
    await lay(join(root, 'hidden-elsewhere/outputs', `zebra ${index}.md`), `Secret zebra ${index}`, new Date());
}

async function createText(client: RestClient, nodeId: string, filename: string): Promise<string> {
  const body = JSON.stringify({ filename, content: 'a zebra' });
  const headers = { 'content-type': 'application/json' };
  const answer = await client.fetch(`/nodes/${nodeId}/files`, { method: 'POST', headers, body });
  return ((await answer.json()) as { id: string }).id;
}

async function lay(file: string, text: string, at: Date): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await utimes(file, at, at);
}

/** Asks an operation over every surface that has it; answers the value of the last one. */
export type AskOperation = (operation: Operation, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
/** Sends a request for bytes, or with some. */
export type AskBytes = (path: string, init?: RequestInit) => Promise<void>;

export interface Hidden {
  readonly secrets: Secrets;
  readonly files: HiddenFiles;
}

/** Everything that can be asked about files and folders, of what is seen and of what is not. */
export async function readFiles(ask: AskOperation, fetch: AskBytes, { secrets, files }: Hidden): Promise<void> {
  const nodeIds = [NODES.beta, NODES.gamma, NODES.kappa, NODES.tau, secrets.area, secrets.below, secrets.purged];
  for (const operation of [getSyncHealth, getOverview]) await ask(operation, {});
  for (const operation of [listMirrors, listTrash, listFiles]) {
    await ask(operation, {});
    await pages(ask, operation, { limit: 1 });
  }
  await ask(listFiles, { status: 'wip' });
  for (const query of ['zebra', 'secret', '"secret plan"', 'tracked'])
    for (const limit of [1, 50]) await ask(searchFiles, { query, limit });
  for (const more of [{}, { limit: 1 }, { classes: ['new_local'] }, { path_prefix: 'wip' }])
    await ask(fileStatus, more);
  for (const node_id of nodeIds) {
    for (const operation of [listFiles, listTrash, fileStatus, getSyncStatus, getNode, getContext])
      await ask(operation, { node_id });
    await ask(searchFiles, { query: 'zebra', node_id });
    for (const path of ['wip/plan.md', 'wip/link', 'wip/tau.md']) await readOne({ ask, fetch, node_id, path });
  }
  await ask(moveFile, { node_id: NODES.beta, file_id: files.tracked, new_filename: 'x.md' });
}

interface ReadOne {
  readonly ask: AskOperation;
  readonly fetch: AskBytes;
  readonly node_id: string;
  readonly path: string;
}

async function readOne({ ask, fetch, node_id, path }: ReadOne): Promise<void> {
  for (const as_path of [false, true]) await ask(readFile, { node_id, path, as_path });
  const address = `/nodes/${node_id}/file?path=${encodeURIComponent(path)}`;
  for (const headers of [{}, { range: 'bytes=2-4' }]) await fetch(address, { headers });
  await fetch(address, { method: 'HEAD' });
}

/** What changes something, or tries to. */
export async function changeFiles(ask: AskOperation, fetch: AskBytes, { secrets, files }: Hidden): Promise<void> {
  const sha = 'a'.repeat(64);
  for (const node_id of [NODES.kappa, NODES.beta, NODES.tau, secrets.area, secrets.purged]) {
    const path = 'wip/other.md';
    await ask(createFile, { node_id, filename: 'other.md', content: 'mine' });
    await ask(replaceText, { node_id, path, content: 'theirs', expected_sha256: sha });
    const address = `/nodes/${node_id}/file?path=wip%2Ftracked.md`;
    for (const condition of [{ 'if-none-match': '*' }, { 'if-match': `"${sha}"` }])
      await fetch(address, { method: 'PUT', body: 'mine', headers: { ...condition, 'content-type': 'text/plain' } });
    const form = new FormData();
    form.append('file', new Blob(['mine']), 'form.md');
    await fetch(`/nodes/${node_id}/files`, { method: 'POST', body: form });
    await ask(adoptFiles, { node_id, paths: ['wip/other.md', 'wip/link'] });
    await ask(renameFolder, { node_id, old_prefix: 'wip/deep', new_prefix: 'wip/low' });
  }
  for (const new_node_id of [secrets.area, secrets.below])
    for (const confirmed of [false, true])
      await ask(moveFile, { node_id: NODES.beta, file_id: FILES.report, new_node_id, confirmed });
  for (const file_id of [files.tracked, files.trashed]) {
    for (const node_id of [secrets.area, NODES.beta]) {
      await ask(moveFile, { node_id, file_id, new_node_id: NODES.beta, confirmed: true });
      await ask(deleteFile, { node_id, file_id, confirmed: true });
    }
  }
  await ask(restoreTrash, { trash_id: files.entry });
  await ask(deleteFile, { node_id: NODES.beta, file_id: FILES.plan, confirmed: true });
  for (const node_id of [NODES.kappa, secrets.area, secrets.below, secrets.purged]) await ask(openFolder, { node_id });
  await ask(createMirror, { node_id: secrets.area });
  await ask(removeMirror, { node_id: secrets.below });
}

/** Every page of a list, one after the other. */
async function pages(ask: AskOperation, operation: Operation, input: Readonly<Record<string, unknown>>): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await ask(operation, { ...input, ...(cursor === undefined ? {} : { cursor }) });
    cursor = (page as { next_cursor?: string | null } | undefined)?.next_cursor ?? null;
  }
}
