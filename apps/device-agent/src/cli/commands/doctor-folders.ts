import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Finding, getSyncHealth, listMirrors, type Mirror, type OutputOf } from '@workspace-graph/contracts';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';
import { CliError } from '../cli-error.js';
import { everyItem } from '../every-item.js';
import { counted } from '../text.js';
import type { WorkspaceClient } from '../workspace-client.js';

type FolderFailure = OutputOf<typeof getSyncHealth>['failures'][number];

const WATCH_LIMIT = '/proc/sys/fs/inotify/max_user_watches';
/** Other programs of this user watch folders too. */
const USABLE_SHARE = 0.8;
const SHOWN_MIRRORS = 3;

/** Checks the databases of the device, whether or not the workspace runs. */
export function checkStores({ own }: WorkspacePaths): Finding[] {
  return [
    checkStore('registry', join(own, 'sync.db'), {
      state: 'failed',
      advice:
        'Stop the workspace, move sync.db and sync.db-wal away and start it again: records keep their ids; register folders again with svc mirror create.',
    }),
    checkStore('search index', join(own, 'search.db'), {
      state: 'warning',
      advice: 'Stop the workspace, remove search.db and start it again: the index is rebuilt.',
    }),
  ];
}

function checkStore(check: string, file: string, wrong: Required<Pick<Finding, 'state' | 'advice'>>): Finding {
  if (!existsSync(file)) return { check, state: 'ok', found: 'will be created at the first start' };
  const problem = storeProblem(file);
  return problem === null
    ? { check, state: 'ok', found: file }
    : { check, ...wrong, found: `${file} is damaged: ${problem}` };
}

function storeProblem(file: string): string | null {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const [answer] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
      return answer === 'ok' ? null : String(answer);
    } finally {
      database.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Checks the folders of nodes as the running workspace sees them; none in a workspace without folders. */
export async function checkFolders(client: WorkspaceClient): Promise<Finding[]> {
  const mirrors = await mirrorsOf(client);
  if (mirrors === null) return [];
  const { failures } = await client.call(getSyncHealth, {});
  const watches = unfollowedFinding(mirrors, failures) ?? (await checkWatches(mirrors));
  return [checkMirrors(mirrors), ...(watches ? [watches] : [])];
}

async function mirrorsOf(client: WorkspaceClient): Promise<Mirror[] | null> {
  try {
    return await everyItem((page) => client.call(listMirrors, page));
  } catch (error) {
    if (error instanceof CliError && error.code === 'ROUTE_NOT_FOUND') return null;
    throw error;
  }
}

/** A folder that is missing may be on a disk that is not attached: nothing in it counts as deleted. */
export function checkMirrors(mirrors: readonly Pick<Mirror, 'local_path' | 'state'>[]): Finding {
  const wrong = mirrors.filter(({ state }) => isAway(state));
  if (wrong.length === 0) return { check: 'mirrors', state: 'ok', found: counted(mirrors.length, 'folder') };
  return {
    check: 'mirrors',
    state: 'warning',
    found: shortened(wrong.map(({ local_path, state }) => `${local_path ?? 'a folder'} is ${state}`)),
    advice:
      'Attach the disk, put the folder back, give yourself permission to read it, or stop tracking it with `svc mirror remove`.',
  };
}

/** What keeps folders that are there from being followed; null for nothing. */
export function unfollowedFinding(
  mirrors: readonly Pick<Mirror, 'node' | 'state'>[],
  failures: readonly Pick<FolderFailure, 'node' | 'path' | 'message'>[],
): Finding | null {
  const there = new Set(mirrors.flatMap(({ node, state }) => (isAway(state) ? [] : node.id)));
  const wrong = failures.filter(({ node, path }) => path === '' && there.has(node.id));
  if (wrong.length === 0) return null;
  const found = shortened(wrong.map(({ node, message }) => `${node.name}: ${message}`));
  const advice = 'It is tried again by itself; `svc status` lists what is left.';
  return { check: 'watching', state: 'warning', found, advice };
}

function isAway(state: Mirror['state']): boolean {
  return state === 'missing' || state === 'unreadable';
}

function shortened(texts: readonly string[]): string {
  const more = texts.length - SHOWN_MIRRORS;
  return [...texts.slice(0, SHOWN_MIRRORS), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** Linux watches each folder by itself and has a limit for it; null elsewhere. */
async function checkWatches(mirrors: readonly Mirror[]): Promise<Finding | null> {
  const limit = Number(await readFile(WATCH_LIMIT, 'utf8').catch(() => Number.NaN));
  if (!Number.isInteger(limit)) return null;
  const paths = mirrors.flatMap(({ local_path }) => local_path ?? []);
  return watchFinding(await countFolders(paths, limit), limit);
}

export function watchFinding(folders: number, limit: number): Finding {
  const isEnough = folders <= limit * USABLE_SHARE;
  const found = `${counted(folders, 'folder')} to watch, ${limit} allowed`;
  if (isEnough) return { check: 'watching', state: 'ok', found };
  return {
    check: 'watching',
    state: 'warning',
    found: `${found}; changes may be detected late`,
    advice: `Raise the limit: sudo sysctl fs.inotify.max_user_watches=${Math.max(folders, limit) * 2}, and keep it in /etc/sysctl.d.`,
  };
}

/** Folders in these folders, and they themselves; counts no further than `limit`. Folders that cannot be read count once. */
export async function countFolders(roots: readonly string[], limit: number): Promise<number> {
  const waiting = [...roots];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined && count < limit; folder = waiting.pop()) {
    const parent = folder;
    count += 1;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) waiting.push(join(parent, entry.name));
  }
  return count;
}
