import { AsideStore } from './aside-store.js';
import { PlaceStore } from './place-store.js';
import { RecordStore } from './record-store.js';
import { openError } from './registry-error.js';
import { ScanStore } from './scan-store.js';
import { SentStore } from './sent-store.js';
import { type Row, Sqlite } from './sqlite.js';
import type { FileState, MirrorRow, TrackedPath, TrashRow } from './store-rows.js';
import { migrateStore } from './store-schema.js';
import { WithdrawnStore } from './withdrawn-store.js';

export type { FileState, MirrorRow, TrackedPath, TrashRow } from './store-rows.js';

const PATHS_PER_PAGE = 1_000;

const FILE_COLUMNS =
  'file_id, node_id, path, path_key, sha256, size_bytes, stamp, inode, is_deleted, was_pushed, last_synced_hash, version';
/** Takes rows of `columnsOf`; as JSON, many of them cost one statement. */
const PUT_FILES = `INSERT OR REPLACE INTO file_state (${FILE_COLUMNS})
  SELECT ${FILE_COLUMNS.split(', ').map((_, index) => `value ->> ${index}`)} FROM json_each(?)`;
const FILES_PER_PUT = 1_000;

/**
 * The registry of this device, `sync.db`: mirrors, what is known of their files, trash. One process has one handle. A
 * change is on disk when its method returns. Rows are written in one transaction per call. Where the disk refuses, methods
 * throw STORAGE_FULL or SERVICE_UNAVAILABLE, and nothing is written.
 */
export class DeviceStore {
  /** What only scans ask for. */
  readonly scans: ScanStore;
  /** Files that were taken from their names. */
  readonly asides: AsideStore;
  /** Nodes as they were last seen. */
  readonly places: PlaceStore;
  /** Records as they were last seen. */
  readonly records: RecordStore;
  readonly withdrawn: WithdrawnStore;
  /** Contents that may have reached the remote. */
  readonly sent: SentStore;

  private constructor(private readonly sqlite: Sqlite) {
    this.scans = new ScanStore(sqlite);
    this.asides = new AsideStore(sqlite);
    this.places = new PlaceStore(sqlite);
    this.records = new RecordStore(sqlite);
    this.withdrawn = new WithdrawnStore(sqlite);
    this.sent = new SentStore(sqlite);
  }

  /** @throws RegistryError for a file that is no database, damaged, or of a newer version of the product */
  static open(file: string): DeviceStore {
    const sqlite = Sqlite.open(file);
    try {
      sqlite.database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000',
      );
      migrateStore(sqlite.database);
    } catch (error) {
      sqlite.close();
      throw openError(file, error);
    }
    return new DeviceStore(sqlite);
  }

  close(): void {
    this.sqlite.close();
  }

  // Mirrors

  /** By path. */
  mirrors(): MirrorRow[] {
    return this.sqlite.all('SELECT * FROM local_mirrors ORDER BY path').map(mirrorOf);
  }

  mirror(nodeId: string): MirrorRow | null {
    const row = this.sqlite.one('SELECT * FROM local_mirrors WHERE node_id = ?', nodeId);
    return row ? mirrorOf(row) : null;
  }

  /** Adds a mirror or changes the one of that node. */
  putMirror({ nodeId, path, identity, scannedAt, createdAt }: MirrorRow): void {
    this.sqlite.run(
      `INSERT INTO local_mirrors (node_id, path, identity, scanned_at, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (node_id) DO UPDATE SET path = excluded.path, identity = excluded.identity, scanned_at = excluded.scanned_at`,
      nodeId,
      path,
      identity,
      scannedAt,
      createdAt,
    );
  }

  /** Removes a mirror with what was known of its files. The trash keeps its entries. */
  removeMirror(nodeId: string): void {
    this.sqlite.run('DELETE FROM local_mirrors WHERE node_id = ?', nodeId);
  }

  // Files

  file(fileId: string): FileState | null {
    const row = this.sqlite.one(`SELECT ${FILE_COLUMNS} FROM file_state WHERE file_id = ?`, fileId);
    return row ? fileOf(row) : null;
  }

  /** The file whose path has this key; see `pathKey`. */
  fileAt(nodeId: string, key: string): FileState | null {
    const row = this.sqlite.one(
      `SELECT ${FILE_COLUMNS} FROM file_state WHERE node_id = ? AND path_key = ?`,
      nodeId,
      key,
    );
    return row ? fileOf(row) : null;
  }

  /** The file with this very path, whatever its key is. */
  fileNamed(nodeId: string, path: string): FileState | null {
    const row = this.sqlite.one(`SELECT ${FILE_COLUMNS} FROM file_state WHERE node_id = ? AND path = ?`, nodeId, path);
    return row ? fileOf(row) : null;
  }

  /** Those of these files that are known, by id. */
  files(fileIds: readonly string[]): Map<string, FileState> {
    const rows = this.sqlite.all(
      `SELECT ${FILE_COLUMNS} FROM (SELECT value FROM json_each(?)) AS asked CROSS JOIN file_state ON file_id = asked.value`,
      JSON.stringify(fileIds),
    );
    return new Map(rows.map((row) => fileOf(row)).map((file) => [file.fileId, file]));
  }

  /** The files of one node whose paths have these keys, by key. */
  filesAt(nodeId: string, keys: readonly string[]): Map<string, FileState> {
    const rows = this.sqlite.all(
      `SELECT ${FILE_COLUMNS} FROM (SELECT value FROM json_each(?)) AS asked CROSS JOIN file_state ON node_id = ? AND path_key = asked.value`,
      JSON.stringify(keys),
      nodeId,
    );
    return new Map(rows.map((row) => fileOf(row)).map((file) => [file.pathKey, file]));
  }

  /** Of one node, by path; with `prefix` those under that folder. Rows are read while they are asked for. */
  *filesOf(nodeId: string, prefix?: string): Generator<FileState> {
    const sql = `SELECT ${FILE_COLUMNS} FROM file_state WHERE node_id = ?`;
    const rows =
      prefix === undefined
        ? this.sqlite.iterate(`${sql} ORDER BY path`, nodeId)
        : this.sqlite.iterate(`${sql} AND path >= ? AND path < ? ORDER BY path`, nodeId, `${prefix}/`, `${prefix}0`);
    for (const row of rows) yield fileOf(row);
  }

  /** Of one node, so many by path after this one. */
  filesAfter(nodeId: string, path: string, limit: number): FileState[] {
    const sql = `SELECT ${FILE_COLUMNS} FROM file_state WHERE node_id = ? AND path > ? ORDER BY path LIMIT ?`;
    return this.sqlite.all(sql, nodeId, path, limit).map(fileOf);
  }

  /** Of one node, by the bytes of their paths. Read page by page, so that changes in between are no hindrance. */
  *trackedPaths(nodeId: string): Generator<TrackedPath> {
    let after = '';
    for (;;) {
      const page = this.sqlite
        .all(
          `SELECT file_id, path, sha256, size_bytes, is_deleted, was_pushed, last_synced_hash FROM file_state
         WHERE node_id = ? AND path > ? ORDER BY path LIMIT ${PATHS_PER_PAGE}`,
          nodeId,
          after,
        )
        .map(trackedPathOf);
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < PATHS_PER_PAGE) return;
      after = last.path;
    }
  }

  /** Files of one node with this inode. */
  filesByInode(nodeId: string, inode: string): FileState[] {
    return this.sqlite
      .all(`SELECT ${FILE_COLUMNS} FROM file_state WHERE node_id = ? AND inode = ?`, nodeId, inode)
      .map(fileOf);
  }

  /** Numbers of files present and deleted; of one node or of all. */
  countFiles(nodeId?: string): { present: number; deleted: number } {
    const sql =
      'SELECT count(*) FILTER (WHERE NOT is_deleted) AS present, count(*) FILTER (WHERE is_deleted) AS deleted FROM file_state';
    const row = nodeId === undefined ? this.sqlite.one(sql) : this.sqlite.one(`${sql} WHERE node_id = ?`, nodeId);
    return { present: Number(row?.['present'] ?? 0), deleted: Number(row?.['deleted'] ?? 0) };
  }

  /** Removes and puts files, all of it or nothing. A file that is put replaces what had its id or its path. */
  changeFiles({
    put = [],
    remove = [],
  }: {
    readonly put?: readonly FileState[];
    readonly remove?: readonly string[];
  }): void {
    this.sqlite.transaction(() => {
      if (remove.length > 0) {
        const ids = JSON.stringify(remove);
        this.sqlite.run('DELETE FROM file_state WHERE file_id IN (SELECT value FROM json_each(?))', ids);
        this.sent.remove(remove);
      }
      // In their order: of files that exchange their paths, the one that is replaced is put again after it.
      for (let start = 0; start < put.length; start += FILES_PER_PUT)
        this.sqlite.run(PUT_FILES, JSON.stringify(put.slice(start, start + FILES_PER_PUT).map(columnsOf)));
    });
  }

  // Trash

  trashEntry(id: string): TrashRow | null {
    const row = this.sqlite.one('SELECT * FROM trash WHERE id = ?', id);
    return row ? trashOf(row) : null;
  }

  /** The newest first, those before `before` (an id), of one node or of all. */
  trashEntries({ nodeId, before, limit }: { nodeId?: string; before?: string; limit: number }): TrashRow[] {
    return this.sqlite
      .all(
        `SELECT * FROM trash WHERE (?1 IS NULL OR node_id = ?1) AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3`,
        nodeId ?? null,
        before ?? null,
        limit,
      )
      .map(trashOf);
  }

  /** Ids of all entries. */
  trashIds(): Set<string> {
    return new Set(this.sqlite.all('SELECT id FROM trash').map((row) => String(row['id'])));
  }

  /** Nodes that have something in the trash. */
  trashNodes(): string[] {
    return this.sqlite.all('SELECT DISTINCT node_id FROM trash').map((row) => String(row['node_id']));
  }

  trashOfFile(fileId: string): TrashRow[] {
    return this.sqlite.all('SELECT * FROM trash WHERE file_id = ? ORDER BY id DESC', fileId).map(trashOf);
  }

  trashBefore(time: string): TrashRow[] {
    return this.sqlite.all('SELECT * FROM trash WHERE trashed_at < ?', time).map(trashOf);
  }

  /** Adds an entry, or tells it anew. */
  putTrash(row: TrashRow): void {
    this.sqlite.run(
      'INSERT OR REPLACE INTO trash (id, node_id, file_id, path, reason, sha256, size_bytes, edit, trashed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      row.id,
      row.nodeId,
      row.fileId,
      row.path,
      row.reason,
      row.sha256,
      row.sizeBytes,
      row.edit,
      row.trashedAt,
    );
  }

  removeTrash(id: string): void {
    this.sqlite.run('DELETE FROM trash WHERE id = ?', id);
  }

  // Files that somebody unregistered and left on the disk

  /** Keys of the paths that no scan registers again, whatever lies there, until somebody adopts them; see `pathKey`. */
  untrackedKeys(nodeId: string): Set<string> {
    const rows = this.sqlite.all('SELECT path_key FROM untracked WHERE node_id = ?', nodeId);
    return new Set(rows.map((row) => String(row['path_key'])));
  }

  isUntracked(nodeId: string, key: string): boolean {
    return this.sqlite.one('SELECT 1 FROM untracked WHERE node_id = ? AND path_key = ?', nodeId, key) !== undefined;
  }

  /** Leaves the file under this key out from now on. */
  putUntracked(nodeId: string, key: string): void {
    this.sqlite.run('INSERT INTO untracked (node_id, path_key) VALUES (?, ?) ON CONFLICT DO NOTHING', nodeId, key);
  }

  /** Ends that: a file there was adopted, written or restored. */
  removeUntracked(nodeId: string, keys: readonly string[]): void {
    const sql = 'DELETE FROM untracked WHERE node_id = ? AND path_key IN (SELECT value FROM json_each(?))';
    this.sqlite.run(sql, nodeId, JSON.stringify(keys));
  }
}

function mirrorOf(row: Row): MirrorRow {
  return {
    nodeId: String(row['node_id']),
    path: String(row['path']),
    identity: String(row['identity']),
    scannedAt: textOrNull(row['scanned_at']),
    createdAt: String(row['created_at']),
  };
}

function fileOf(row: Row): FileState {
  return {
    fileId: String(row['file_id']),
    nodeId: String(row['node_id']),
    path: String(row['path']),
    pathKey: String(row['path_key']),
    sha256: String(row['sha256']),
    sizeBytes: Number(row['size_bytes']),
    stamp: textOrNull(row['stamp']),
    inode: textOrNull(row['inode']),
    isDeleted: row['is_deleted'] === 1,
    wasPushed: row['was_pushed'] === 1,
    lastSyncedHash: textOrNull(row['last_synced_hash']),
    version: Number(row['version']),
  };
}

function columnsOf(file: FileState): (string | number | null)[] {
  return [
    file.fileId,
    file.nodeId,
    file.path,
    file.pathKey,
    file.sha256,
    file.sizeBytes,
    file.stamp,
    file.inode,
    file.isDeleted ? 1 : 0,
    file.wasPushed ? 1 : 0,
    file.lastSyncedHash,
    file.version,
  ];
}

function trackedPathOf(row: Row): TrackedPath {
  return {
    fileId: String(row['file_id']),
    path: String(row['path']),
    sha256: String(row['sha256']),
    sizeBytes: Number(row['size_bytes']),
    isDeleted: row['is_deleted'] === 1,
    wasPushed: row['was_pushed'] === 1,
    lastSyncedHash: textOrNull(row['last_synced_hash']),
  };
}

function trashOf(row: Row): TrashRow {
  return {
    id: String(row['id']),
    nodeId: String(row['node_id']),
    fileId: textOrNull(row['file_id']),
    path: String(row['path']),
    reason: row['reason'] === 'replaced' ? 'replaced' : 'deleted',
    sha256: String(row['sha256']),
    sizeBytes: Number(row['size_bytes']),
    edit: textOrNull(row['edit']),
    trashedAt: String(row['trashed_at']),
  };
}

function textOrNull(value: Row[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
