import { pathKey, segmentProblem } from '@workspace-graph/domain';
import type { FileEntryWithStats, Stats } from 'ssh2';
import {
  folderOf,
  joinPath,
  markTwins,
  type RemoteEntry,
  RemoteFailure,
  type RemoteFile,
  SharedLooks,
} from '../port/index.js';
import type { SftpFiles } from './sftp-files.js';

/** Names under which the product writes for a moment. */
export const OURS = '.svc-';

/** Where a path leads. */
export interface Place {
  readonly path: string;
  /** On the server. */
  readonly absolute: string;
  /** What lies there; null for nothing. */
  readonly found: Stats | null;
  /** The path of what is in the way: the same but for case, or a file where a folder is meant. */
  readonly occupant: string | null;
}

/**
 * Finds what lies under paths. Each step is looked at, and no link below the root is followed; one that somebody puts
 * there between the look and the use is, for the protocol has no names relative to an open folder.
 */
export class SftpTree {
  private readonly listings = new SharedLooks<FileEntryWithStats[]>();

  constructor(
    private readonly files: SftpFiles,
    private readonly root: string,
  ) {}

  /** @throws RemoteFailure `unavailable` when the root is not there */
  async locate(path: string): Promise<Place> {
    const names = path === '' ? [] : path.split('/');
    let at: Place = { path: '', absolute: this.root, found: await this.rootFolder(), occupant: null };
    for (const name of names) at = await this.step(at, name);
    return at;
  }

  /** Null where there is no such folder. */
  async entriesOf(folder: Place): Promise<RemoteEntry[] | null> {
    if (!folder.found?.isDirectory()) return null;
    const listed = await this.files.names(folder.absolute);
    const mine = listed.filter(({ filename }) => !isDots(filename) && !filename.startsWith(OURS));
    return markTwins(
      mine.map(({ filename, attrs }) => {
        const path = joinPath(folder.path, filename.normalize('NFC'));
        return segmentProblem(filename) === null ? entryOf(path, attrs) : { kind: 'other', path, hasTwin: false };
      }),
    );
  }

  /** Makes the folders down to a path. @throws RemoteFailure `exists` for what is in the way */
  async makeFolders(path: string): Promise<void> {
    const at = await this.locate(path);
    if (at.found?.isDirectory()) return;
    if (at.found || at.occupant !== null) throw new RemoteFailure('exists', { path: at.occupant ?? path });
    await this.makeFolders(folderOf(path));
    const { absolute } = await this.locate(path);
    try {
      await this.files.makeFolder(absolute);
    } catch (error) {
      // Another call may have been first.
      if (!(await this.files.lstat(absolute))?.isDirectory()) throw error;
    }
  }

  private async rootFolder(): Promise<Stats> {
    const found = await this.files.lstat(`${this.root}/.`);
    if (!found?.isDirectory()) throw new RemoteFailure('unavailable', { path: '' });
    return found;
  }

  private async step(folder: Place, name: string): Promise<Place> {
    const path = joinPath(folder.path, name);
    const absolute = `${folder.absolute}/${name}`;
    if (folder.occupant !== null || !folder.found) return { ...folder, path, absolute, found: null };
    if (!folder.found.isDirectory()) return { path, absolute, found: null, occupant: folder.path };
    const found = await this.files.lstat(absolute);
    return found ? { path, absolute, found, occupant: null } : this.underOtherForm(folder, path, name);
  }

  /** A name that is stored in another normal form is found; one that differs by case is in the way. */
  private async underOtherForm(folder: Place, path: string, name: string): Promise<Place> {
    const listed = await this.listings.take(folder.absolute, () => this.files.names(folder.absolute));
    const same = listed.find(({ filename }) => filename.normalize('NFC') === name);
    const absolute = `${folder.absolute}/${same?.filename ?? name}`;
    if (same) return { path, absolute, found: await this.files.lstat(absolute), occupant: null };
    const twin = listed.find(({ filename }) => pathKey(filename) === pathKey(name));
    const occupant = twin ? joinPath(folder.path, twin.filename.normalize('NFC')) : null;
    return { path, absolute, found: null, occupant };
  }
}

/** Whether a name stands for the folder itself or the one above. */
export function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

type Attributes = Pick<Stats, 'mode' | 'size' | 'mtime'>;
const TYPE_MASK = 0o170_000;
const TYPES: Partial<Record<number, 'file' | 'folder'>> = { [0o100_000]: 'file', [0o040_000]: 'folder' };

export function entryOf(path: string, found: Attributes): RemoteEntry {
  const kind = TYPES[found.mode & TYPE_MASK] ?? 'other';
  return kind === 'file' ? fileOf(path, found) : { kind, path, hasTwin: false };
}

/**
 * The protocol tells size and whole seconds, and nothing else. Another program's content of the same size that was saved
 * within the same second, or that was given the old time, has the revision of the one before.
 */
export function fileOf(path: string, { size, mtime }: Attributes): RemoteFile {
  const modifiedAt = new Date(mtime * 1_000).toISOString();
  return { kind: 'file', path, sizeBytes: size, revision: `${size}:${mtime}`, modifiedAt, hashes: {}, hasTwin: false };
}
