import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent, READ_FLAGS } from '@workspace-graph/disk';
import { isSection } from '@workspace-graph/domain';
import { IGNORE_FILE, IgnoreRules } from '../ignore/ignore-rules.js';
import { comparePaths } from './path-order.js';

const IGNORE_FILE_BYTES = 1_048_576;

/**
 * What a walk tells, in the order of paths. `path` is within the node and in NFC, `onDisk` the same in its own form.
 * `rules` are those of the folder, null where everything is ignored.
 */
export interface SectionVisitor {
  file(path: string, onDisk: string, rules: IgnoreRules | null): void;
  link(path: string, onDisk: string, rules: IgnoreRules | null): void;
  /** Whether to walk through a folder. */
  enters(path: string, isIgnored: boolean): boolean;
  /** A folder of whose content nothing is known. */
  unreadable(path: string, isIgnored: boolean): void;
  /** A link where a folder of this name would stand. */
  linkAsFolder(path: string): void;
}

/** One name of a folder. A link stands twice, once where a file and once where a folder of its name would stand. */
interface Entry {
  readonly key: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'link-as-folder';
}

/**
 * Walks through the sections of a node's folder. Reads names and kinds of what is there and the ignore files; follows
 * no link. Answers false, with nothing told, when the folder itself cannot be read. @throws reason of `signal`
 */
export async function walkSections(root: string, visitor: SectionVisitor, signal: AbortSignal): Promise<boolean> {
  const place: Place = { path: '', onDisk: '', root, visitor, signal, rules: IgnoreRules.NONE };
  const entries = await entriesOf(root).catch(() => null);
  if (entries === null) return false;
  await visit(entries.filter(isSectionFolder), await withOwnRules(place, entries));
  return true;
}

interface Place {
  /** Path of the folder with a slash at its end; empty for the root. */
  readonly path: string;
  readonly onDisk: string;
  readonly root: string;
  readonly visitor: SectionVisitor;
  readonly signal: AbortSignal;
  readonly rules: IgnoreRules | null;
}

async function visit(entries: readonly Entry[], place: Place): Promise<void> {
  const { visitor, rules, signal } = place;
  signal.throwIfAborted();
  for (const { kind, name } of entries) {
    const path = place.path + name.normalize('NFC');
    const onDisk = place.onDisk + name;
    if (kind === 'file') visitor.file(path, onDisk, rules);
    else if (kind === 'link') visitor.link(path, onDisk, rules);
    else if (kind === 'link-as-folder') visitor.linkAsFolder(path);
    else await enter({ ...place, path, onDisk });
  }
}

/** Below an ignored folder no rule brings anything back. */
async function enter(folder: Place): Promise<void> {
  const { path, onDisk, root, visitor } = folder;
  const rules = folder.rules?.ignores(path, true) === false ? folder.rules : null;
  if (!visitor.enters(path, rules === null)) return;
  let entries: Entry[];
  try {
    entries = await entriesOf(join(root, onDisk));
  } catch (error) {
    // What vanished meanwhile holds nothing; of what cannot be read nothing is known.
    if (!isAbsent(error)) visitor.unreadable(path, rules === null);
    return;
  }
  await visit(entries, await withOwnRules({ ...folder, path: `${path}/`, onDisk: `${onDisk}/`, rules }, entries));
}

/** The same place under the rules of its own ignore file, if it has one. */
async function withOwnRules(place: Place, entries: readonly Entry[]): Promise<Place> {
  const { rules, root, onDisk, path } = place;
  if (!rules || !entries.some(({ name, kind }) => name === IGNORE_FILE && kind === 'file')) return place;
  const text = await rulesIn(join(root, onDisk, IGNORE_FILE));
  return { ...place, rules: rules.with(path.slice(0, -1), text) };
}

/** Rules that cannot be read, or are too long to be rules, do not hold. */
async function rulesIn(file: string): Promise<string> {
  const size = await lstat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > IGNORE_FILE_BYTES) return '';
  return readFile(file, { encoding: 'utf8', flag: READ_FLAGS }).catch(() => '');
}

function isSectionFolder({ name, kind }: Entry): boolean {
  return (kind === 'folder' || kind === 'link-as-folder') && isSection(name);
}

async function entriesOf(folder: string): Promise<Entry[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).flatMap(entriesOfName);
  return entries.sort((a, b) => comparePaths(a.key, b.key));
}

function entriesOfName(found: Dirent): Entry[] {
  const { name } = found;
  const key = name.normalize('NFC');
  if (found.isFile()) return [{ key, name, kind: 'file' }];
  if (found.isDirectory()) return [{ key: `${key}/`, name, kind: 'folder' }];
  if (!found.isSymbolicLink()) return [];
  return [
    { key, name, kind: 'link' },
    { key: `${key}/`, name, kind: 'link-as-folder' },
  ];
}
