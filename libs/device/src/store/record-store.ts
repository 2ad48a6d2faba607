import type { FileRecord } from '@workspace-graph/contracts';
import { pathKey } from '@workspace-graph/domain';
import type { Row, Sqlite } from './sqlite.js';

/** Where the page of a list begins: after the file with this time and id. */
export interface RecordOrder {
  readonly updatedAt: string;
  readonly fileId: string;
}

export interface RecordPage {
  readonly nodeIds: readonly string[];
  /** Only files of this section. */
  readonly section?: string | undefined;
  readonly after?: RecordOrder | undefined;
  readonly limit: number;
}

/** Null for what the centre told; `made`: it does not know the file; `deleted`: only the record is left here. */
type Waits = 'changed' | 'made' | 'deleted' | null;

const COLUMNS = 'file_id, node_id, path_key, updated_at, record, waits';
const PRESENT = "waits IS NOT 'deleted'";
/** Takes rows of `columnsOf`; of nodes without a folder nothing is kept. */
const PUT = `INSERT OR REPLACE INTO known_records (${COLUMNS})
  SELECT ${COLUMNS.split(', ').map((_, index) => `value ->> ${index}`)} FROM json_each(?)
  WHERE value ->> 1 IN (SELECT node_id FROM local_mirrors)`;

/**
 * Records of files as they were last seen, of nodes that have a folder here; they go with the folder. Those that wait
 * were changed here and are not told to the centre yet.
 */
export class RecordStore {
  constructor(private readonly sqlite: Sqlite) {}

  /**
   * Remembers what records tell by now; of those that wait only when they were told. One that was made at the path of such
   * a record is this file.
   */
  remember(records: readonly FileRecord[], wereTold: boolean): void {
    const known = new Map(this.rowsOf(records.map(({ id }) => id)).map((row) => [String(row['file_id']), row]));
    const changed = records.filter((record) => {
      const row = known.get(record.id);
      if (row && row['waits'] !== null) return wereTold;
      // Asked about often, and nearly always the same.
      return row?.['record'] !== JSON.stringify(record);
    });
    if (changed.length > 0) this.put(changed, null);
  }

  /** Remembers what was changed here and is not told yet; of an unknown id, the file was made here. */
  putWaiting(record: FileRecord): void {
    const [row] = this.rowsOf([record.id]);
    this.put([record], !row || row['waits'] === 'made' ? 'made' : 'changed');
  }

  /** Remembers that a file was deleted here, which the centre is not told yet. */
  putDeleted(record: FileRecord): void {
    this.put([record], 'deleted');
  }

  forget(fileIds: readonly string[]): void {
    if (fileIds.length === 0) return;
    this.sqlite.run(
      'DELETE FROM known_records WHERE file_id IN (SELECT value FROM json_each(?))',
      JSON.stringify(fileIds),
    );
  }

  byId(fileIds: readonly string[]): FileRecord[] {
    return this.rowsOf(fileIds)
      .filter((row) => row['waits'] !== 'deleted')
      .map(recordOf);
  }

  /** By the keys of their paths; see `pathKey`. */
  at(nodeId: string, keys: readonly string[]): FileRecord[] {
    const sql = `SELECT ${COLUMNS} FROM known_records WHERE node_id = ? AND path_key IN (SELECT value FROM json_each(?)) AND ${PRESENT}`;
    return this.sqlite.all(sql, nodeId, JSON.stringify(keys)).map(recordOf);
  }

  /** Those of one node that were changed or made here, by id. */
  waiting(nodeId: string): Map<string, FileRecord> {
    return this.waitingAs(nodeId, "'changed', 'made'");
  }

  /** Those of one node that were deleted here, by id. */
  deleted(nodeId: string): Map<string, FileRecord> {
    return this.waitingAs(nodeId, "'deleted'");
  }

  /** The one with this id, if it waits. */
  waitingOne(fileId: string): FileRecord | null {
    const sql = `SELECT ${COLUMNS} FROM known_records WHERE file_id = ? AND waits IS NOT NULL`;
    const row = this.sqlite.one(sql, fileId);
    return row ? recordOf(row) : null;
  }

  /** Whether a file that the registry knows was deleted or moved here, which the centre is not told yet. */
  hasLeft({ fileId, path }: { readonly fileId: string; readonly path: string }): boolean {
    const [row] = this.rowsOf([fileId]);
    if (!row || row['waits'] === null) return false;
    return row['waits'] === 'deleted' || recordOf(row).path !== path;
  }

  /** The newest first, up to `limit`. */
  page({ nodeIds, section, after, limit }: RecordPage): FileRecord[] {
    const rows = this.sqlite.all(
      `SELECT ${COLUMNS} FROM known_records
       WHERE node_id IN (SELECT value FROM json_each(?1)) AND ${PRESENT} AND (?2 IS NULL OR substr(path_key, 1, length(?2)) = ?2)
         AND (?3 IS NULL OR (updated_at, file_id) < (?3, ?4))
       ORDER BY updated_at DESC, file_id DESC LIMIT ?5`,
      JSON.stringify(nodeIds),
      section === undefined ? null : `${section}/`,
      after?.updatedAt ?? null,
      after?.fileId ?? null,
      limit,
    );
    return rows.map(recordOf);
  }

  /** Ids of one node after `after`, up to `last`; null: to the end. */
  idsBetween(nodeId: string, after: string, last: string | null): string[] {
    const sql =
      'SELECT file_id FROM known_records WHERE node_id = ?1 AND file_id > ?2 AND (?3 IS NULL OR file_id <= ?3)';
    return this.sqlite.all(sql, nodeId, after, last).map((row) => String(row['file_id']));
  }

  /** What the centre calls a file that was made here under this id; the id itself for any other. */
  toldId(fileId: string): string {
    const row = this.sqlite.one('SELECT file_id FROM made_ids WHERE made_id = ?', fileId);
    return row ? String(row['file_id']) : fileId;
  }

  private waitingAs(nodeId: string, kinds: string): Map<string, FileRecord> {
    const sql = `SELECT ${COLUMNS} FROM known_records WHERE node_id = ? AND waits IN (${kinds})`;
    return new Map(
      this.sqlite
        .all(sql, nodeId)
        .map(recordOf)
        .map((record) => [record.id, record]),
    );
  }

  private put(records: readonly FileRecord[], waits: Waits): void {
    const rows = records.map((record) => columnsOf(record, waits));
    this.sqlite.transaction(() => {
      // One that moved to a node without a folder is not replaced below.
      this.forget(records.map(({ id }) => id));
      if (waits === null) this.settleWaiting(JSON.stringify(rows));
      this.sqlite.run(PUT, JSON.stringify(rows));
    });
  }

  private settleWaiting(rows: string): void {
    const replaced = `FROM known_records w JOIN json_each(?) told ON told.value ->> 1 = w.node_id AND told.value ->> 2 = w.path_key
      WHERE w.waits = 'made' AND w.file_id <> told.value ->> 0`;
    this.sqlite.run(
      `INSERT OR REPLACE INTO made_ids (made_id, node_id, file_id) SELECT w.file_id, w.node_id, told.value ->> 0 ${replaced}`,
      rows,
    );
    this.sqlite.run(`DELETE FROM known_records WHERE file_id IN (SELECT w.file_id ${replaced})`, rows);
  }

  private rowsOf(fileIds: readonly string[]): Row[] {
    return this.sqlite.all(
      `SELECT ${COLUMNS} FROM known_records WHERE file_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(fileIds),
    );
  }
}

function columnsOf(record: FileRecord, waits: Waits): (string | null)[] {
  const { id, node_id, path, updated_at } = record;
  return [id, node_id, pathKey(path), updated_at, JSON.stringify(record), waits];
}

function recordOf(row: Row): FileRecord {
  return JSON.parse(String(row['record'])) as FileRecord;
}
