import { constants } from 'node:fs';
import { access, lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { type NodePlace, SECTIONS } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { type Asker, noMirror } from '../records/file-service.js';
import type { MirrorRow } from '../store/device-store.js';

/** How the folder of a mirror is found. `missing`: it is not there, or it is another folder than the registered one. */
export type FolderState = 'ready' | 'missing' | 'unreadable';

export interface MirrorMoved {
  readonly from: MirrorRow;
  readonly to: MirrorRow;
}

/** A mirror with its node as somebody sees it. */
export interface PlacedMirror {
  readonly row: MirrorRow;
  readonly place: NodePlace;
}

export type PlaceOrder = Pick<NodePlace, 'name' | 'node_id'>;

/** A scan of a whole folder that is under way. */
export interface WholeScan {
  readonly startedAt: string;
  /** The folder was compared before and nothing new is found yet: a check of which nobody needs to hear. */
  isCheck: boolean;
  /** Files found on disk so far. */
  seen: number;
  /** Files whose content is still to be read. */
  toRead: number;
}

/** Tracked files that are looked for in a folder whose identity is another one. */
const EVIDENCE_FILES = 20;
/** What the folder of a node holds even without a tracked file. */
const USUAL_ENTRIES = [...SECTIONS, 'SVC_SCOPE.md', '.mcp.json'];

/**
 * The mirrors of this device. Everybody who needs the folder of a node asks here, and everybody who works with folders
 * listens here.
 */
@Injectable()
export class Mirrors implements BeforeApplicationShutdown {
  private readonly scans = new Map<string, WholeScan>();
  private readonly quiet = new Set<() => void>();
  private readonly scanned = new Set<(nodeId: string) => void>();
  private readonly added = new Set<(row: MirrorRow) => void>();
  private readonly removed = new Set<(row: MirrorRow) => void>();
  private readonly moved = new Set<(move: MirrorMoved) => void>();
  private readonly background = new Map<string, Promise<void>>();
  private readonly stale = new Set<(row: MirrorRow) => Promise<void>>();

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {}

  /** By path; some may belong to nodes that are gone, see `doubt`. */
  all(): MirrorRow[] {
    return this.parts.store.mirrors();
  }

  of(nodeId: string): MirrorRow | null {
    return this.parts.store.mirror(nodeId);
  }

  /** @throws ServiceError NO_MIRROR; ask for the node's place before, so that a hidden node stays hidden */
  require(nodeId: string): MirrorRow {
    const row = this.of(nodeId);
    if (!row) throw noMirror(nodeId);
    return row;
  }

  /**
   * The mirrors of nodes that the asker sees, and of these what the session holds in which they ask, by the names of the
   * nodes: paths may not be told. Those of nodes that are gone are removed in the background.
   */
  async placed(asker: Asker): Promise<PlacedMirror[]> {
    const rows = this.all();
    const places = await this.placesOf(rows, asker);
    const unseen = rows.filter(({ nodeId }) => !places.has(nodeId));
    for (const { nodeId } of unseen) this.doubt(nodeId);
    const held = asker?.caller?.session_id ? await this.parts.service.places([...places.keys()], asker, true) : places;
    const placed = rows.flatMap((row) => {
      const place = held.get(row.nodeId);
      return place ? [{ row, place }] : [];
    });
    return placed.toSorted((one, other) => comparePlaces(one.place, other.place));
  }

  /**
   * Looks in the background whether the node of a mirror is gone, and then removes the registration. To be called by every reader that does not find the node of a mirror.
   */
  doubt(nodeId: string): void {
    if (this.background.has(nodeId)) return;
    const work = this.removeStale(nodeId)
      .catch((error: unknown) => this.parts.logger.debug({ err: error, node: nodeId }, 'a mirror could not be checked'))
      .finally(() => this.background.delete(nodeId));
    this.background.set(nodeId, work);
  }

  /** The state of the folder. A folder that came back as another one is taken for the mirror once tracked files are in it. */
  async stateOf(row: MirrorRow): Promise<FolderState> {
    const found = await folderIdentity(row.path);
    if (found === null) return 'missing';
    if (found === 'unreadable') return 'unreadable';
    if (found !== row.identity && !(await this.cameBack(row, found))) return 'missing';
    return (await isReadable(row.path)) ? 'ready' : 'unreadable';
  }

  /** Does something with the folder of a node that is gone, while it is locked and registered yet; what throws is tried again. */
  beforeStale(work: (row: MirrorRow) => Promise<void>): void {
    this.stale.add(work);
  }

  /** Each returns the function that ends listening. Listeners are told after the registry is on disk. */
  onAdded(listener: (row: MirrorRow) => void): () => void {
    this.added.add(listener);
    return () => void this.added.delete(listener);
  }

  /** Also told of mirrors whose node is gone. */
  onRemoved(listener: (row: MirrorRow) => void): () => void {
    this.removed.add(listener);
    return () => void this.removed.delete(listener);
  }

  onMoved(listener: (move: MirrorMoved) => void): () => void {
    this.moved.add(listener);
    return () => void this.moved.delete(listener);
  }

  /** Registers a mirror of a node that has none. Call it while the node is locked. */
  add(row: MirrorRow): void {
    this.parts.store.putMirror(row);
    for (const listener of this.added) listener(row);
  }

  /** Registers the folder under another path. Call it while the node is locked. */
  move(from: MirrorRow, to: MirrorRow): void {
    this.parts.store.putMirror(to);
    for (const listener of this.moved) listener({ from, to });
  }

  /** Removes a registration. Call it while the node is locked. */
  remove(row: MirrorRow): void {
    this.parts.store.removeMirror(row.nodeId);
    for (const listener of this.removed) listener(row);
  }

  /** Whether any whole folder is being scanned. */
  get areScanned(): boolean {
    return this.scans.size > 0;
  }

  /** The scan that takes in the folder of a node; null when there is none but a check. */
  scanOf(nodeId: string): WholeScan | null {
    const scan = this.scans.get(nodeId);
    return scan && !scan.isCheck ? scan : null;
  }

  /** Nodes whose folders are being taken in. */
  get scanning(): string[] {
    return [...this.scans].flatMap(([nodeId, { isCheck }]) => (isCheck ? [] : [nodeId]));
  }

  /** Told when the folder of a node begins to be taken in, and once when that has ended, however it did. Returns the function that ends listening. */
  onScan(listener: (nodeId: string) => void): () => void {
    this.scanned.add(listener);
    return () => void this.scanned.delete(listener);
  }

  /** Told when no scan of a whole folder runs any more. Returns the function that ends listening. */
  onQuiet(listener: () => void): () => void {
    this.quiet.add(listener);
    return () => void this.quiet.delete(listener);
  }

  /** Says that the whole folder of a node is being scanned while `work` runs. */
  async whileScanning<T>(nodeId: string, scan: WholeScan, work: () => Promise<T>): Promise<T> {
    this.scans.set(nodeId, scan);
    if (!scan.isCheck) this.tellOfScan(nodeId);
    try {
      return await work();
    } finally {
      this.scans.delete(nodeId);
      if (!scan.isCheck) this.tellOfScan(nodeId);
      if (this.scans.size === 0) for (const listener of this.quiet) listener();
    }
  }

  /** A check of the whole folder has found something new: from here on it is a scan that takes in. */
  outgrowCheck(nodeId: string): void {
    const scan = this.scans.get(nodeId);
    if (!scan?.isCheck) return;
    scan.isCheck = false;
    this.tellOfScan(nodeId);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.background.values());
  }

  private tellOfScan(nodeId: string): void {
    for (const listener of this.scanned) listener(nodeId);
  }

  private placesOf(rows: readonly MirrorRow[], asker: Asker): Promise<Map<string, NodePlace>> {
    return this.parts.service.places(
      rows.map(({ nodeId }) => nodeId),
      asker,
    );
  }

  private async removeStale(nodeId: string): Promise<void> {
    await this.parts.locks.run([nodeId], async () => {
      const row = this.of(nodeId);
      if (!row || (await this.placesOf([row], null)).has(nodeId)) return;
      for (const work of this.stale) await work(row);
      this.remove(row);
      this.parts.logger.info({ node: nodeId, path: row.path }, 'the node of a mirror is gone');
    });
  }

  /** Whether a folder with another identity is the mirror: an empty mount point, or somebody's new folder, is not. */
  private async cameBack(row: MirrorRow, identity: string): Promise<boolean> {
    if (!(await this.hasEvidence(row))) return false;
    const now = this.of(row.nodeId);
    if (now?.path !== row.path) return false;
    this.parts.store.putMirror({ ...now, identity, scannedAt: null });
    return true;
  }

  private async hasEvidence({ nodeId, path }: MirrorRow): Promise<boolean> {
    let looked = 0;
    for (const file of this.parts.store.filesOf(nodeId)) {
      if (file.isDeleted) continue;
      if (await isThere(join(path, file.path))) return true;
      looked += 1;
      if (looked === EVIDENCE_FILES) return false;
    }
    return looked === 0 && (await hasAny(path, USUAL_ENTRIES));
  }
}

/** Sorts by name, then by id. */
export function comparePlaces(one: PlaceOrder, other: PlaceOrder): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.node_id < other.node_id ? -1 : Number(one.node_id > other.node_id);
}

/** `device:inode` of a folder; null when there is none. */
export async function folderIdentity(path: string): Promise<string | null> {
  try {
    const found = await stat(path, { bigint: true });
    return found.isDirectory() ? `${found.dev}:${found.ino}` : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EIO') return 'unreadable';
    return null;
  }
}

/** Two paths with one key are one folder on a file system that ignores case or the form of characters. */
export function folderKey(path: string): string {
  return pathKey(path);
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function hasAny(folder: string, names: readonly string[]): Promise<boolean> {
  const found = await Promise.all(names.map((name) => isThere(join(folder, name))));
  return found.includes(true);
}
