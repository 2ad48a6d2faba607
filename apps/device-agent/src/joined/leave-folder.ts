import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OnlyHere, Uncleared } from '@workspace-graph/device';
import { syncFolder } from '@workspace-graph/platform/disk';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';
import { forgetMembership, type Membership } from './membership.js';

/** What belongs to the folder and not to its membership. */
const STAYS = new Set(['owner.lock', 'owner.pid', 'backups', 'left', 'joined.json', 'device-token']);

/**
 * Agents that start in the folders of nodes would call a workspace that does not answer. Answers where that could not be undone:
 * it keeps nobody from leaving, a damaged registry neither.
 */
export async function clearAgentFiles({ root, own }: WorkspacePaths): Promise<readonly Uncleared[]> {
  const registry = join(own, 'sync.db');
  if (!existsSync(registry)) return [];
  // All of a device takes its time to load; other commands need none of it.
  const { clearFolders } = await import('@workspace-graph/device');
  const { createProcessLogger, loadConfig } = await import('@workspace-graph/platform');
  const { config } = loadConfig('cli', { ...process.env, SVC_WORKSPACE_ROOT: root });
  return clearFolders({ own, logger: createProcessLogger('cli', config) }).catch((error: Error) => [
    { path: `the folders in ${registry}`, problem: error.message },
  ]);
}

/** Whoever leaves is told first of files that are nowhere else. A damaged registry keeps nobody from leaving. */
export async function findOnlyHere({ own }: WorkspacePaths): Promise<readonly OnlyHere[]> {
  const registry = join(own, 'sync.db');
  if (!existsSync(registry)) return [];
  const { filesOnlyHere } = await import('@workspace-graph/device');
  return filesOnlyHere(own).catch((error: Error) => [
    { path: `the folders in ${registry}`, files: null, problem: error.message },
  ]);
}

/**
 * Puts aside what this folder knew as a device of a central workspace, trash included, and forgets the membership last: whoever is
 * cut off in between leaves again. Answers where it lies now.
 */
export async function leaveFolder(paths: WorkspacePaths, membership: Membership | null): Promise<string> {
  const aside = join(paths.own, 'left', new Date().toISOString().replace(/[:.]/g, '-'));
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of await readdir(paths.own))
    if (!STAYS.has(name)) await rename(join(paths.own, name), join(aside, name));
  await syncFolder(aside);
  await syncFolder(paths.own);
  // They work nowhere any more.
  for (const name of ['token', 'credentials.json']) await rm(join(aside, name), { force: true });
  await forgetMembership(paths, membership);
  return aside;
}
