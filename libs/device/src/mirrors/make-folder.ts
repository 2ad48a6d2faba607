import { constants } from 'node:fs';
import { access, lstat, mkdir, rmdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { SECTIONS } from '@workspace-graph/contracts';
import { folderError, pathRefused, realFolder } from './folder-rules.js';

/**
 * Makes the folder of a node with its sections; what is there already is kept. On a refusal nothing is left behind.
 * @throws ServiceError MIRROR_PATH_REFUSED, STORAGE_FULL
 */
export async function makeFolder(path: string, sections: readonly string[]): Promise<void> {
  await refuseBlocked(path, sections);
  const made: string[] = [];
  try {
    for (const folder of [path, ...sections.map((section) => join(path, section))])
      made.push(...(await makeAll(folder)));
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    await removeFolders(made);
    throw folderError(error);
  }
  if ((await realFolder(path)) === path) return;
  await removeFolders(made);
  throw pathRefused('unusable', 'The path leads through a link that has just changed. Try again.');
}

/** Makes a folder and those above it; answers the ones that were made, outermost first. */
export async function makeAll(path: string): Promise<string[]> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return [];
  const below = relative(first, path).split(sep);
  const made = [first];
  for (const name of below) if (name !== '') made.push(join(made.at(-1) ?? first, name));
  return made;
}

/** Removes folders that were made, unless somebody put something into them. */
export async function removeFolders(made: readonly string[]): Promise<void> {
  for (const folder of made.toReversed()) {
    try {
      await rmdir(folder);
    } catch {
      // It is in use by now, and so are those above it.
      return;
    }
  }
}

/** The sections of a node; an organization has none. */
export function sectionsOf(type: string): readonly string[] {
  return type === 'organization' ? [] : SECTIONS;
}

async function refuseBlocked(path: string, sections: readonly string[]): Promise<void> {
  const found = await kindOf(path);
  if (found === 'other') throw pathRefused('not_a_folder', 'There is a file at this path. Choose a folder.');
  if (found === 'missing') return;
  for (const section of sections)
    if ((await kindOf(join(path, section))) === 'other')
      throw pathRefused(
        'section_blocked',
        `The folder contains something named ${section} that is not an ordinary folder. Move it away first.`,
      );
}

async function kindOf(path: string): Promise<'folder' | 'missing' | 'other'> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw folderError(error);
  }
}
