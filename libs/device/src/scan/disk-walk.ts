import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { stampOf } from '@workspace-graph/disk/stamp';
import { IGNORE_FILE, IgnoreRules } from '../ignore/ignore-rules.js';

/** A file that is new or may have changed, as it stands on disk. */
export interface WalkedFile {
  /** Within the node, in NFC. */
  readonly path: string;
  /** The same as its names stand on disk. */
  readonly onDisk: string;
  readonly stamp: string;
  /** Null on another volume than the mirror's. */
  readonly inode: string | null;
  readonly mtimeMs: number;
}

/** Something on disk that cannot be taken in. */
export interface WalkProblem {
  readonly path: string;
  readonly message: string;
}

export interface WalkOrder {
  readonly root: string;
  /** Paths within the mirror, files or folders; those of the sections for all of it. */
  readonly scope: readonly string[];
  /** What is known in that scope, in lines of `ScanStore.knownLines`. */
  readonly known: string;
  /** Only paths from the first up to the second one, in the order of their characters; null for no bound. */
  readonly range?: { readonly from: string | null; readonly to: string | null };
}

/** A part of what a walk finds. */
export interface WalkPart {
  readonly found: WalkedFile[];
  /** Regular files so far, unchanged ones too. */
  readonly seen: number;
  readonly end: WalkEnd | null;
}

export interface WalkEnd {
  /** Known paths under which there is nothing. */
  readonly missing: string[];
  /** Symbolic links in the place of folders in which some of them lay. */
  readonly links: string[];
  /** Sections in which some of them lay and that are not there at all. */
  readonly absentSections: string[];
  readonly problems: WalkProblem[];
  /** Regular files that have other names besides, changed or not, as they stand on disk. */
  readonly linked: string[];
  /** Names that were read, of files and folders. */
  readonly entries: number;
  /** True when folders changed during the walk: something may have been moved past it. */
  readonly isRestless: boolean;
}

const FILES_PER_PART = 4_000;
/** A thread that walks answers other questions in between. */
const FOLDERS_PER_PART = 500;
const IGNORE_FILE_BYTES = 1_048_576;
const NO_ACCESS = new Set(['EACCES', 'EPERM', 'EIO', 'ELOOP', 'ESTALE', 'EMFILE', 'ENFILE', 'ENOMEM', 'EBUSY']);

interface Folder {
  readonly path: string;
  readonly onDisk: string;
  readonly rules: IgnoreRules;
}

/**
 * Walks through a part of a mirror and compares it with what is known, with synchronous calls: for a worker thread. It
 * enters no symbolic link and no ignored folder; what is known is found under ignored names too.
 */
export class DiskWalk {
  private readonly root: string;
  private readonly rootDevice: bigint;
  private readonly known = new Map<string, string>();
  private readonly folders: Folder[] = [];
  private readonly visited = new Map<string, bigint>();
  private readonly kinds = new Map<string, 'folder' | 'link' | 'none'>();
  private readonly unreadable: string[] = [];
  private readonly otherVolumes: string[] = [];
  private problems: WalkProblem[] = [];
  private found: WalkedFile[] = [];
  private seen = 0;
  private entries = 0;
  private readonly linked: string[] = [];
  private readonly scope: string[];
  private readonly from: string | null;
  private readonly to: string | null;

  constructor({ root, scope, known, range }: WalkOrder) {
    this.from = range?.from ?? null;
    this.to = range?.to ?? null;
    this.root = root;
    this.rootDevice = statSync(root, { bigint: true }).dev;
    for (const line of known === '' ? [] : known.split('\n')) {
      const at = line.indexOf('\t');
      this.known.set(line.slice(0, at), line.slice(at + 1));
    }
    this.scope = [...scope].reverse();
  }

  next(): WalkPart {
    for (let steps = 0; steps < FOLDERS_PER_PART && this.found.length < FILES_PER_PART; steps += 1) {
      const folder = this.folders.pop();
      if (folder) this.walk(folder);
      else {
        const path = this.scope.pop();
        if (path === undefined) return this.part(this.finish());
        this.start(path);
      }
    }
    return this.part(null);
  }

  private part(end: WalkEnd | null): WalkPart {
    const { found } = this;
    this.found = [];
    return { found, seen: this.seen, end };
  }

  /** Begins at a path of the scope: the folders above it count with their rules. */
  private start(path: string): void {
    const names = path.split('/');
    let folder: Folder = {
      path: '',
      onDisk: '',
      rules: this.rulesIn({ path: '', onDisk: '', rules: IgnoreRules.NONE }),
    };
    for (const [index, segment] of names.entries()) {
      const name = this.nameOnDisk(folder.onDisk, segment);
      if (name === null) return;
      if (index === names.length - 1) return this.visit(folder, name, false);
      const next = this.enter(folder, name);
      if (!next) return;
      folder = { ...next, rules: this.rulesIn(next) };
    }
  }

  /** A folder on the way to a path of the scope. */
  private enter(above: Folder, name: string): Folder | null {
    const folder = inFolder(above, name);
    const stat = this.lstat(folder);
    if (stat?.isSymbolicLink()) this.problems.push(linkProblem(folder.path));
    if (!stat?.isDirectory() || above.rules.ignores(folder.path, true)) return null;
    return folder;
  }

  private walk(folder: Folder): void {
    const entries = this.entriesOf(folder);
    if (!entries) return;
    this.entries += entries.length;
    const hasRules = entries.some((entry) => entry.name === IGNORE_FILE && entry.isFile());
    const inside = hasRules ? { ...folder, rules: this.rulesIn(folder) } : folder;
    for (const entry of entries) {
      if (entry.isDirectory()) this.visitFolder(inside, entry.name);
      else if (this.isInRange(inFolder(inside, entry.name).path)) this.visit(inside, entry.name, entry.isFile());
    }
  }

  private isInRange(path: string): boolean {
    return (this.from === null || path >= this.from) && (this.to === null || path < this.to);
  }

  /** Whether paths in a folder are in range: they lie between its path with a slash and with the character after it. */
  private mayHoldRange({ path }: Folder): boolean {
    return (this.from === null || `${path}0` > this.from) && (this.to === null || `${path}/` < this.to);
  }

  private entriesOf(folder: Folder): Dirent[] | null {
    try {
      const { dev, mtimeNs } = statSync(this.at(folder.onDisk), { bigint: true });
      this.visited.set(folder.onDisk, mtimeNs);
      if (dev !== this.rootDevice) this.otherVolumes.push(folder.path);
      return readdirSync(this.at(folder.onDisk), { withFileTypes: true });
    } catch (error) {
      if (isNoAccess(error)) this.cannotRead(folder.path, error);
      else this.visited.set(folder.onDisk, -1n);
      return null;
    }
  }

  private visitFolder(above: Folder, name: string): void {
    const folder = inFolder(above, name);
    if (!this.mayHoldRange(folder)) return;
    if (!above.rules.ignores(folder.path, true) && !this.hasTwin(above, name)) this.folders.push(folder);
  }

  private visit(folder: Folder, name: string, isFile: boolean): void {
    const { path, onDisk } = inFolder(folder, name);
    const stat = this.lstat({ path, onDisk });
    if (!stat) return;
    if (stat.isDirectory()) return this.visitFolder(folder, name);
    if (this.hasTwin(folder, name)) return;
    const isIgnored = folder.rules.ignores(path, false);
    if (isIgnored && !(isFile && this.known.has(path))) return;
    if (stat.isSymbolicLink()) this.problems.push(linkProblem(path));
    else if (stat.isFile()) this.compare(path, onDisk, stat);
    else this.problems.push({ path, message: 'It is not an ordinary file but a pipe, a socket or a device.' });
  }

  /** Of names that are one name in NFC, the one that is written so counts. */
  private hasTwin(folder: Folder, name: string): boolean {
    const form = name.normalize('NFC');
    if (form === name) return false;
    const own = inFolder(folder, name);
    const twin = inFolder(folder, form);
    const found = lstatSync(this.at(twin.onDisk), { bigint: true, throwIfNoEntry: false });
    if (!found || found.ino === lstatSync(this.at(own.onDisk), { bigint: true, throwIfNoEntry: false })?.ino)
      return false;
    this.problems.push({
      path: own.path,
      message: 'Its name exists here twice, in two Unicode forms; rename one of them.',
    });
    return true;
  }

  private compare(path: string, onDisk: string, stat: BigIntStats): void {
    this.seen += 1;
    const stamp = stampOf(stat);
    const inode = stat.dev === this.rootDevice ? `${stat.ino}` : null;
    const isKnown = this.known.get(path) === `${stamp}|${inode ?? ''}`;
    this.known.delete(path);
    if (stat.nlink > 1n) this.linked.push(onDisk);
    if (!isKnown) this.found.push({ path, onDisk, stamp, inode, mtimeMs: Number(stat.mtimeNs / 1_000n) / 1_000 });
  }

  /** Null when there is nothing; what cannot be looked at is noted. */
  private lstat({ path, onDisk }: Pick<Folder, 'path' | 'onDisk'>): BigIntStats | null {
    try {
      const stat = lstatSync(this.at(onDisk), { bigint: true, throwIfNoEntry: false });
      if (!stat && onDisk.includes('\uFFFD'))
        this.problems.push({ path, message: 'Its name is not valid Unicode text.' });
      return stat ?? null;
    } catch (error) {
      if (isNoAccess(error)) this.cannotRead(path, error);
      return null;
    }
  }

  private finish(): WalkEnd {
    const { problems, linked, entries } = this;
    const absent: string[] = [];
    for (const path of this.known.keys()) {
      if (isUnder(path, this.unreadable)) continue;
      const stat = this.realFile(path);
      if (stat) this.compare(path, path, stat);
      else if (!isUnder(path, this.unreadable)) absent.push(path);
    }
    const missing = absent.filter((path) => this.isAbsentForSure(path));
    const isRestless = missing.length > 0 && this.changedMeanwhile();
    return { missing, ...this.hiding(missing), problems, linked, entries, isRestless };
  }

  /** Where the ways to missing paths end. */
  private hiding(missing: readonly string[]): Pick<WalkEnd, 'links' | 'absentSections'> {
    const [links, absentSections] = [new Set<string>(), new Set<string>()];
    for (const path of missing) {
      const end = this.endOfWay(path);
      if (end === null) continue;
      if (this.kindOf(end) === 'link') links.add(end);
      else if (!end.includes('/')) absentSections.add(end);
    }
    return { links: [...links], absentSections: [...absentSections] };
  }

  /** The first on the way to a path that is no folder; null when all of them are. */
  private endOfWay(path: string): string | null {
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1))
      if (this.kindOf(path.slice(0, end)) !== 'folder') return path.slice(0, end);
    return null;
  }

  /** A file that was on another volume is missing only while that volume is there. */
  private isAbsentForSure(path: string): boolean {
    const wasElsewhere = this.known.get(path)?.endsWith('|') && !this.known.get(path)?.startsWith('|');
    if (!wasElsewhere || isUnder(path, this.otherVolumes)) return true;
    const folder = path.slice(0, path.lastIndexOf('/'));
    const message = 'It is on another volume that is not available at the moment.';
    if (!this.problems.some((problem) => problem.path === folder)) this.problems.push({ path: folder, message });
    return false;
  }

  /** A known path may lie in an ignored folder, which is not walked. */
  private realFile(path: string): BigIntStats | null {
    try {
      if (this.endOfWay(path) !== null) return null;
      const stat = lstatSync(this.at(path), { bigint: true, throwIfNoEntry: false });
      return stat?.isFile() ? stat : null;
    } catch (error) {
      if (!isNoAccess(error)) throw error;
      this.cannotRead(path.slice(0, path.lastIndexOf('/')), error);
      return null;
    }
  }

  private kindOf(path: string): 'folder' | 'link' | 'none' {
    const known = this.kinds.get(path);
    if (known !== undefined) return known;
    const stat = lstatSync(this.at(path), { throwIfNoEntry: false });
    const other = stat?.isSymbolicLink() ? 'link' : 'none';
    const kind = stat?.isDirectory() ? 'folder' : other;
    this.kinds.set(path, kind);
    return kind;
  }

  private changedMeanwhile(): boolean {
    for (const [folder, mtimeNs] of this.visited)
      if (statSync(this.at(folder), { bigint: true, throwIfNoEntry: false })?.mtimeNs !== mtimeNs) return true;
    return false;
  }

  private rulesIn({ path, onDisk, rules }: Folder): IgnoreRules {
    const file = path === '' ? IGNORE_FILE : `${path}/${IGNORE_FILE}`;
    try {
      const text = readSmallFile(this.at(onDisk === '' ? IGNORE_FILE : `${onDisk}/${IGNORE_FILE}`));
      if (text === null)
        this.problems.push({
          path: file,
          message: 'It is not an ordinary file of at most 1 MB; its rules are not applied.',
        });
      return text === null ? rules : rules.with(path, text);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR')
        this.problems.push({ path: file, message: `Its rules are not applied: it cannot be read (${codeOf(error)}).` });
      return rules;
    }
  }

  /** A path of the scope may be in another form of characters than its name on disk. */
  private nameOnDisk(folder: string, segment: string): string | null {
    const path = this.at(folder === '' ? segment : `${folder}/${segment}`);
    try {
      if (lstatSync(path, { throwIfNoEntry: false })) return segment;
      const form = segment.normalize('NFC');
      return readdirSync(this.at(folder)).find((name) => name.normalize('NFC') === form) ?? null;
    } catch (error) {
      if (isNoAccess(error)) this.cannotRead(folder.normalize('NFC'), error);
      return null;
    }
  }

  private cannotRead(path: string, error: unknown): void {
    this.unreadable.push(path);
    this.problems.push({ path, message: `It cannot be read (${codeOf(error)}), so nothing in it counts as deleted.` });
  }

  private at(onDisk: string): string {
    return onDisk === '' ? this.root : `${this.root}/${onDisk}`;
  }
}

function inFolder(folder: Folder, name: string): Folder {
  const path = name.normalize('NFC');
  return {
    path: folder.path === '' ? path : `${folder.path}/${path}`,
    onDisk: folder.onDisk === '' ? name : `${folder.onDisk}/${name}`,
    rules: folder.rules,
  };
}

function linkProblem(path: string): WalkProblem {
  return { path, message: 'It is a symbolic link, and symbolic links are not followed.' };
}

function isUnder(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Text of an ordinary file; null for anything else. */
function readSmallFile(path: string): string | null {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = openSync(path, flags);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > IGNORE_FILE_BYTES) return null;
    const bytes = Buffer.alloc(stat.size);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function isNoAccess(error: unknown): boolean {
  return NO_ACCESS.has(codeOf(error));
}

export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
