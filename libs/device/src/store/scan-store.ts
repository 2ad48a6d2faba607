import type { DatabaseSync, StatementSync } from 'node:sqlite';

const LINES_PER_PAGE = 5_000;
/** No path holds the first of these, and none begins after the last. */
const FIRST = '\u0001';
const LAST = '\u{10ffff}';

/** The part of the registry that only scans ask for; `DeviceStore` owns it. */
export class ScanStore {
  private readonly statements = new Map<string, StatementSync>();

  constructor(private readonly database: DatabaseSync) {}

  /**
   * Stamps and inodes of files that should be on disk, as lines of path, tab, stamp, bar, inode: of one path and what
   * lies under it, or of a whole node, page by page. The database makes them, as a scan needs nothing else of most files.
   */
  *knownLines(nodeId: string, scope?: string): Generator<{ readonly text: string; readonly files: number }> {
    const page = this.prepare(
      `SELECT group_concat(path || char(9) || coalesce(stamp, '') || '|' || coalesce(inode, ''), char(10)) AS text,
              max(path) AS last, count(*) AS files
       FROM (SELECT path, stamp, inode FROM file_state
             WHERE node_id = ?1 AND path >= ?2 AND path < ?3 AND (?4 IS NULL OR path = ?4 OR path > ?5)
               AND NOT is_deleted ORDER BY path LIMIT ${LINES_PER_PAGE})`,
    );
    const bounds = scope === undefined ? [LAST, null, null] : [`${scope}0`, scope, `${scope}/`];
    for (let from = scope ?? ''; ; ) {
      const row = page.get(nodeId, from, ...bounds);
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
    return new Set(this.texts('SELECT path AS value FROM scan_doubts WHERE node_id = ?', nodeId));
  }

  putDoubts(nodeId: string, paths: readonly string[]): void {
    const put = `INSERT INTO scan_doubts (node_id, path) SELECT ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`;
    this.prepare(put).run(nodeId, JSON.stringify(paths));
  }

  removeDoubts(nodeId: string, paths: readonly string[]): void {
    const remove = 'DELETE FROM scan_doubts WHERE node_id = ? AND path IN (SELECT value FROM json_each(?))';
    this.prepare(remove).run(nodeId, JSON.stringify(paths));
  }

  private texts(sql: string, ...values: (string | null)[]): string[] {
    return this.prepare(sql)
      .all(...values)
      .map((row) => String(row['value']));
  }

  private prepare(sql: string): StatementSync {
    const known = this.statements.get(sql);
    if (known) return known;
    const made = this.database.prepare(sql);
    this.statements.set(sql, made);
    return made;
  }
}
