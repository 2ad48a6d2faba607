import type { Section } from '@workspace-graph/contracts';
import type { TrackedFile } from './files-query';

/** A folder with what lies in it, sorted. */
export interface Folder {
  readonly name: string;
  /** With its section, such as wip/notes. */
  readonly prefix: string;
  readonly folders: readonly Folder[];
  readonly files: readonly TrackedFile[];
  /** Files in it and below. */
  readonly count: number;
}

type Compare = (a: string, b: string) => number;

/** The folders of a section, made of the places of its files. */
export function folderTree(section: Section, files: readonly TrackedFile[], compare: Compare): Folder {
  return folderOf(
    section,
    files.filter((file) => file.section === section),
    compare,
  );
}

function folderOf(prefix: string, files: readonly TrackedFile[], compare: Compare): Folder {
  const above = prefix.split('/');
  const inside = Map.groupBy(files, ({ subpath }) => subpath?.split('/')[above.length - 1]);
  const own = inside.get(undefined) ?? [];
  inside.delete(undefined);
  const folders = [...inside].map(([child = '', ones]) => folderOf(`${prefix}/${child}`, ones, compare));
  return {
    name: above.at(-1) ?? prefix,
    prefix,
    folders: folders.sort((a, b) => compare(a.name, b.name)),
    files: [...own].sort((a, b) => compare(a.filename, b.filename)),
    count: files.length,
  };
}

/** A folder as the operations take it: its section, and the way within. */
export function placeOf(prefix: string): { readonly section: Section; readonly subpath: string | null } {
  const [section = 'wip', ...subfolders] = prefix.split('/');
  return { section: section as Section, subpath: subfolders.length > 0 ? subfolders.join('/') : null };
}
