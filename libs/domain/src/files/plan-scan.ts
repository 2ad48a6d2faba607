import { filePathParts, pathKey } from './file-path.js';

/** What a device knows of a tracked file, as far as a scan needs it. */
export interface KnownFile {
  /** Id of the record. */
  readonly fileId: string;
  /** Within the node, in NFC. */
  readonly path: string;
  /** `pathKey` of the path: equal for names that count as the same name. */
  readonly pathKey: string;
  /** SHA-256 of the content when it was last read. */
  readonly sha256: string;
  /** Stamp of the file when its content was read; null when it must be read again. */
  readonly stamp: string | null;
  /** Inode on the volume of the mirror; null on any other volume. */
  readonly inode: string | null;
  /** True when the file was absent in an earlier scan and its record stays. */
  readonly isDeleted: boolean;
  /** Whether any device has pushed the file; such a record stays when the file is absent. */
  readonly wasPushed: boolean;
}

/** A file on disk that is new or may have changed. */
export interface FoundFile {
  /** Within the node, in NFC. */
  readonly path: string;
  /** Changes whenever the content of the file may have changed. */
  readonly stamp: string;
  /** Inode on the volume of the mirror; null on any other volume. */
  readonly inode: string | null;
}

/** Content of a found file. */
export interface ContentRead {
  /** SHA-256 of the whole content. */
  readonly sha256: string;
  /** Inode on the volume of the mirror; null on any other volume. */
  readonly inode: string | null;
}

/** A found file whose content was read. */
export interface ReadFile<Content extends ContentRead> {
  /** Within the node, in NFC. */
  readonly path: string;
  /** Its content. */
  readonly seen: Content;
}

/** One change of what is tracked; a scan never writes tombstones. */
export type ScanStep<File extends KnownFile, Content extends ContentRead> =
  | { readonly kind: 'register'; readonly path: string; readonly seen: Content }
  | { readonly kind: 'update'; readonly file: File; readonly seen: Content }
  | { readonly kind: 'move'; readonly file: File; readonly path: string; readonly seen: Content }
  | { readonly kind: 'remove'; readonly file: File; readonly tombstone: false; readonly unlessPushed: true }
  | { readonly kind: 'touch'; readonly file: File; readonly seen: Content }
  | { readonly kind: 'gone'; readonly file: File };

/** A found file that is not tracked, because another one has the same name. */
export interface Collision {
  /** Path of the file that is not tracked. */
  readonly path: string;
  /** Path of the file that has the name. */
  readonly taken: string;
}

/**
 * Of found files whose names are one name, keeps the one that may be tracked: the one whose path is known, then the
 * first. `presentAt` answers the known file with that key that is on disk under its own path.
 */
export function pickNames<Found extends Pick<FoundFile, 'path'>>(
  found: readonly Found[],
  presentAt: (key: string) => Pick<KnownFile, 'path'> | null,
): { readonly picked: Found[]; readonly collisions: Collision[] } {
  const owners = new Map<string, string>();
  const picked: Found[] = [];
  const collisions: Collision[] = [];
  for (const file of found.toSorted((a, b) => compareText(a.path, b.path))) {
    const key = pathKey(file.path);
    const taken = presentAt(key)?.path ?? owners.get(key);
    if (taken === undefined || (taken === file.path && !owners.has(key))) {
      owners.set(key, file.path);
      picked.push(file);
    } else collisions.push({ path: file.path, taken });
  }
  return { picked, collisions };
}

/**
 * Parts files that may have moved, or whose names moved, from those that concern nobody else. `present` holds, by key, the
 * known files that are on disk under their own paths.
 */
export function separateInterdependent<Found extends Pick<FoundFile, 'path' | 'inode'>>(
  candidates: readonly Found[],
  missing: readonly KnownFile[],
  present: ReadonlyMap<string, KnownFile>,
): { readonly interdependent: Found[]; readonly plain: Found[] } {
  const inodes = new Set(candidates.map(({ inode }) => inode));
  const sources = new Set(missing.map(({ inode }) => inode));
  const keys = new Set(missing.map((file) => file.pathKey));
  const displaced = new Set<string>();
  for (const { path, inode } of candidates) {
    const file = present.get(pathKey(path));
    if (file?.path !== path || !file.inode || file.inode === inode || !inodes.has(file.inode)) continue;
    sources.add(file.inode);
    displaced.add(path);
  }
  sources.delete(null);
  const isInterdependent = ({ path, inode }: Found): boolean =>
    sources.has(inode) || displaced.has(path) || keys.has(pathKey(path));
  return {
    interdependent: candidates.filter(isInterdependent),
    plain: candidates.filter((file) => !isInterdependent(file)),
  };
}

export interface ScanFindings<File extends KnownFile, Content extends ContentRead> {
  /** Known files whose paths are not on disk. */
  readonly missing: readonly File[];
  /** Files whose content was read, no two of one name. */
  readonly read: readonly ReadFile<Content>[];
  /** The known file of a path or of its twin, missing ones too. */
  readonly knownAt: (key: string) => File | null;
}

/**
 * Decides what a scan makes of what it found, in an order in which no path is taken before it is free. A file whose
 * inode and content stand at another path was moved and keeps its id, unless that path belongs to a file that stays.
 */
export function planScan<File extends KnownFile, Content extends ContentRead>(
  findings: ScanFindings<File, Content>,
): ScanStep<File, Content>[] {
  const moves = movesIn(findings);
  const movedFiles = new Set([...moves.values()].map(({ fileId }) => fileId));
  return [
    ...findings.missing.flatMap((file) => (movedFiles.has(file.fileId) ? [] : stepsOfMissing(file))),
    ...inFreeOrder(findings, moves),
    ...findings.read.flatMap((read) => stepsOfStaying(findings, moves, movedFiles, read)),
  ];
}

/** By the path at which a file stands now: the known file that moved there. */
type Moves<File> = Map<string, File>;

function movesIn<File extends KnownFile, Content extends ContentRead>({
  missing,
  read,
  knownAt,
}: ScanFindings<File, Content>): Moves<File> {
  const moves: Moves<File> = new Map();
  const sources = sourcesByIdentity(missing, read, knownAt);
  for (const { path, seen } of read.toSorted((a, b) => compareText(a.path, b.path))) {
    const own = knownAt(pathKey(path));
    if (own?.path === path && identity(own) === identity(seen)) continue;
    const waiting = sources.get(identity(seen)) ?? [];
    const index = waiting.findIndex((file) => file.path !== path && !isBackup(file, path, read));
    const [file] = index < 0 ? [] : waiting.splice(index, 1);
    if (file) moves.set(path, file);
  }
  renameTwins(moves, { missing, read, knownAt });
  dropMovesOntoStaying(moves, knownAt);
  return moves;
}

function sourcesByIdentity<File extends KnownFile, Content extends ContentRead>(
  missing: readonly File[],
  read: readonly ReadFile<Content>[],
  knownAt: (key: string) => File | null,
): Map<string, File[]> {
  const displaced = read.flatMap(({ path, seen }) => {
    const file = knownAt(pathKey(path));
    return file?.path === path && identity(file) !== identity(seen) ? [file] : [];
  });
  const sources = new Map<string, File[]>();
  for (const file of [...missing, ...displaced].toSorted((a, b) => compareText(a.path, b.path)))
    if (file.inode !== null && !file.isDeleted)
      sources.set(identity(file), [...(sources.get(identity(file)) ?? []), file]);
  return sources;
}

/** An editor that keeps the old content beside the new one edits the file; it does not move it. */
function isBackup<Content extends ContentRead>(
  file: KnownFile,
  path: string,
  read: readonly ReadFile<Content>[],
): boolean {
  if (!['~', '.bak', '.orig'].some((ending) => path === file.path + ending)) return false;
  return read.some((other) => other.path === file.path);
}

/** A name of which only the case or the form of characters changed is the same file, whatever its content is now. */
function renameTwins<File extends KnownFile, Content extends ContentRead>(
  moves: Moves<File>,
  { missing, read, knownAt }: ScanFindings<File, Content>,
): void {
  const absent = new Set(missing.map(({ fileId }) => fileId));
  for (const file of moves.values()) absent.delete(file.fileId);
  for (const { path } of read) {
    const twin = knownAt(pathKey(path));
    if (twin && twin.path !== path && absent.has(twin.fileId) && !moves.has(path)) moves.set(path, twin);
  }
}

/** A path belongs to the file that has it until that file moves away itself or is removed. */
function dropMovesOntoStaying<File extends KnownFile>(moves: Moves<File>, knownAt: (key: string) => File | null): void {
  const moving = new Set([...moves.values()].map(({ fileId }) => fileId));
  const stays = (path: string, mover: File): boolean => {
    const owner = knownAt(pathKey(path));
    if (!owner || owner.fileId === mover.fileId || moving.has(owner.fileId)) return false;
    return owner.path === path || owner.wasPushed;
  };
  for (let dropped = true; dropped; ) {
    dropped = false;
    for (const [path, file] of moves) {
      if (!stays(path, file)) continue;
      moves.delete(path);
      moving.delete(file.fileId);
      dropped = true;
    }
  }
}

/** Files that take each other's paths, the first taking the path of the second and so on. */
interface Chain<File> {
  readonly files: readonly File[];
  /** Whether the last one takes the path of the first. */
  readonly isRing: boolean;
}

/** Moves in an order in which each target is free; a ring of names is opened by a name that nobody has. */
function inFreeOrder<File extends KnownFile, Content extends ContentRead>(
  { read, knownAt }: ScanFindings<File, Content>,
  moves: Moves<File>,
): ScanStep<File, Content>[] {
  const contents = new Map(read.map(({ path, seen }) => [path, seen]));
  const targets = new Map([...moves].map(([path, file]) => [file.fileId, path]));
  const stepsOf = (file: File, by?: string): ScanStep<File, Content>[] => {
    const target = targets.get(file.fileId) ?? file.path;
    const seen = contents.get(target);
    if (!seen) return [];
    const move = { kind: 'move', file, path: by ?? target, seen } as const;
    const isEdited = by === undefined && seen.sha256 !== file.sha256;
    return isEdited ? [move, { kind: 'update', file, seen }] : [move];
  };
  return chainsOf(moves, targets, knownAt).flatMap(({ files, isRing }) => {
    const [first, ...rest] = files;
    if (!first) return [];
    const opened = isRing ? stepsOf(first, nobodysPath(first)) : [];
    return [...opened, ...rest.toReversed().flatMap((file) => stepsOf(file)), ...stepsOf(first)];
  });
}

function chainsOf<File extends KnownFile>(
  moves: Moves<File>,
  targets: ReadonlyMap<string, string>,
  knownAt: (key: string) => File | null,
): Chain<File>[] {
  const done = new Set<string>();
  const occupantOf = (file: File): File | null => {
    const occupant = knownAt(pathKey(targets.get(file.fileId) ?? file.path));
    return occupant && occupant.fileId !== file.fileId && targets.has(occupant.fileId) ? occupant : null;
  };
  return [...moves.values()].map((first) => {
    const files: File[] = [];
    let next: File | null = first;
    for (; next && !done.has(next.fileId); next = occupantOf(next)) {
      done.add(next.fileId);
      files.push(next);
    }
    return { files, isRing: files.length > 1 && next?.fileId === first.fileId };
  });
}

const BETWEEN = '.svc-moving-';

/** A path in the same section that no scan ever finds: names that begin with a dot are ignored. */
function nobodysPath({ fileId, path }: KnownFile): string {
  return `${filePathParts(path).section}/${BETWEEN}${fileId}`;
}

/** Whether a path stands for a file between two moves of a ring; nothing lies there. */
export function isBetweenMoves(path: string): boolean {
  return path.includes(`/${BETWEEN}`);
}

function stepsOfMissing<File extends KnownFile>(file: File): ScanStep<File, never>[] {
  // Another device may have uploaded the file of that name since.
  if (!file.wasPushed) return [{ kind: 'remove', file, tombstone: false, unlessPushed: true }];
  return file.isDeleted ? [] : [{ kind: 'gone', file }];
}

function stepsOfStaying<File extends KnownFile, Content extends ContentRead>(
  { knownAt }: ScanFindings<File, Content>,
  moves: Moves<File>,
  movedFiles: ReadonlySet<string>,
  { path, seen }: ReadFile<Content>,
): ScanStep<File, Content>[] {
  if (moves.has(path)) return [];
  const file = knownAt(pathKey(path));
  if (!file || file.path !== path || movedFiles.has(file.fileId)) return [{ kind: 'register', path, seen }];
  return [{ kind: file.sha256 === seen.sha256 ? 'touch' : 'update', file, seen }];
}

function identity({ inode, sha256 }: { readonly inode: string | null; readonly sha256: string }): string {
  return `${inode}:${sha256}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
