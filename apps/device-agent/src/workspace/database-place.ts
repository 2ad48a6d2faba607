import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import type { WorkspacePaths } from './workspace-paths.js';
import type { WorkspaceState } from './workspace-state.js';

/** Where the data of a running workspace lies when that is not within its folder; else null. */
export function databaseOutside(
  { database_folder }: Pick<WorkspaceState, 'database_folder'>,
  { root }: Pick<WorkspacePaths, 'root'>,
): string | null {
  return database_folder === null || isWithin(realpathSync(root), database_folder) ? null : database_folder;
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !(isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`));
}
