import { ServiceError } from '@workspace-graph/contracts';
import type { Sqlite, Value } from './sqlite.js';

const LINES_PER_PAGE = 5_000;
/** No path holds the first of these, and none begins after the last. */
const FIRST = '\u0001';
const LAST = '\u{10ffff}';

/** The part of the registry that only scans ask for; `DeviceStore` owns it. */
export class ScanStore {
  /** Doubts for which the disk had no room. Without this process all is compared again, so that they need not outlive it. */
  private readonly unwritten = new Map<string, Set<string>>();

  constructor(private readonly sqlite: Sqlite) {}

  /**
   * Stamps and inodes of files that should be on disk, as lines of path, tab, stamp, bar, inode: of one path and what
   * lies under it, or of a whole node, page by page. The database makes them, as a scan needs nothing else of most files.
   */
  *knownLines(nodeId: string, scope?: string): Generator<{ readonly text: string; readonly files: number }> {
    const page = `SELECT group_concat(path || char(9) || coalesce(stamp, '') || '|' || coalesce(inode, ''), char(10)) AS text,
              max(path) AS last, count(*) AS files
       FROM (SELECT path, stamp, inode FROM file_state
             WHERE node_id = ?1 AND path >= ?2 AND path < ?3 AND (?4 IS NULL OR path = ?4 OR path > ?5)
               AND NOT is_deleted ORDER BY path LIMIT ${LINES_PER_PAGE})`;
    const bounds = scope === undefined ? [LAST, null, null] : [`${scope}0`, scope, `${scope}/`];
    for (let from = scope ?? ''; ; ) {
      const row = this.sqlite.one(page, nodeId, from, ...bounds);
      const files = Number(row?.['files'] ?? 0);
      if (files > 0) yield { text: String(row?.['text']), files };
      if (files < LINES_PER_PAGE) return;
      from = `${row?.['last']}${FIRST}`;
    }
  }

  /** Ids of the files of one node, those after `after` up to `last`; null stands for the last of all. */
  idsBetween(nodeId: string, after: string, last: string | null): string[] {
    return this.texts(
      'SELECT file_id AS value FROM file_state WHERE node_id = ?1 AND file_id > ?2 AND (?3 IS NULL OR file_id <= ?3)',
      nodeId,
      after,
      last,
    );
  }

  /** Paths whose records may tell something else than the registry, because nobody knows whether a change arrived. */
  doubts(nodeId: string): Set<string> {
    const written = this.texts('SELECT path AS value FROM scan_doubts WHERE node_id = ?', nodeId);
    return new Set([...written, ...(this.unwritten.get(nodeId) ?? [])]);
  }

  /** Never fails: what the disk has no room for is kept in memory. */
  putDoubts(nodeId: string, paths: readonly string[]): void {
    const put = `INSERT INTO scan_doubts (node_id, path) SELECT ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;
    try {
      this.sqlite.run(put, nodeId, JSON.stringify(paths));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.unwritten.set(nodeId, new Set([...(this.unwritten.get(nodeId) ?? []), ...paths]));
    }
  }

  removeDoubts(nodeId: string, paths: readonly string[]): void {
    const remove = 'DELETE FROM scan_doubts WHERE node_id = ? AND path IN (SELECT value FROM json_each(?))';
    this.sqlite.run(remove, nodeId, JSON.stringify(paths));
    const unwritten = this.unwritten.get(nodeId);
    for (const path of paths) unwritten?.delete(path);
    if (unwritten?.size === 0) this.unwritten.delete(nodeId);
  }

  private texts(sql: string, ...values: Value[]): string[] {
    return this.sqlite.all(sql, ...values).map((row) => String(row['value']));
  }
}
