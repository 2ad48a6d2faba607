import { segmentProblem } from '@workspace-graph/domain';
import type { RemoteEntry } from './entries.js';
import { RemoteFailure } from './failure.js';

const BYTES = new TextEncoder();

/** A path of a remote in NFC. @throws RemoteFailure `name_refused` for one that no remote may hold, or not this one */
export function remotePath(path: string, maxNameBytes: number): string {
  const normal = path.normalize('NFC');
  const isRefused = (name: string): boolean =>
    segmentProblem(name) !== null || BYTES.encode(name).length > maxNameBytes;
  if (normal.split('/').some(isRefused)) throw new RemoteFailure('name_refused', { path });
  return normal;
}

/** The same for a folder: '' is the root. */
export function folderPath(path: string, maxNameBytes: number): string {
  return path === '' ? '' : remotePath(path, maxNameBytes);
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** The folder of a path: '' for the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** The folders on the way to a path, from the root on, without the root. */
export function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** What a listing tells under a name: one that no remote may hold is told as something that is never read nor replaced. */
export function entryNamed(folder: string, name: string, entry: (path: string) => RemoteEntry): RemoteEntry {
  if (segmentProblem(name) === null) return entry(joinPath(folder, name.normalize('NFC')));
  return { kind: 'other', path: joinPath(folder, name), hasTwin: false };
}
