import type { Row, Sqlite, Value } from './sqlite.js';

/** A file that was taken from its name. It lies beside that name, or in the root of the mirror once `isDone`. */
export interface AsideRow {
  readonly id: string;
  readonly nodeId: string;
  readonly fileId: string | null;
  /** Within the node, in NFC: where it lay. */
  readonly path: string;
  /** Whether the change for which it was taken aside was carried out. */
  readonly isDone: boolean;
  readonly takenAt: string;
}

const PUT = `INSERT OR REPLACE INTO asides (id, node_id, file_id, path, is_done, taken_at)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?)`;
const REMOVE = 'DELETE FROM asides WHERE id IN (SELECT value FROM json_each(?))';

/** The part of the registry that knows files that were taken aside; `DeviceStore` owns it. */
export class AsideStore {
  constructor(private readonly sqlite: Sqlite) {}

  /** Notes files that may be taken from their names, and forgets others, in one transaction. */
  change({ put = [], remove = [] }: { readonly put?: readonly AsideRow[]; readonly remove?: readonly string[] }): void {
    if (put.length + remove.length === 0) return;
    this.sqlite.transaction(() => {
      this.sqlite.run(PUT, JSON.stringify(put.map(columnsOf)));
      this.sqlite.run(REMOVE, JSON.stringify(remove));
    });
  }

  /** Oldest first. */
  all(): AsideRow[] {
    return this.sqlite.all('SELECT * FROM asides ORDER BY id').map(asideOf);
  }

  /** Whether content with this hash is tracked here or in the trash. */
  isKept(sha256: string): boolean {
    const sql = 'SELECT 1 FROM trash WHERE sha256 = ?1 UNION ALL SELECT 1 FROM file_state WHERE sha256 = ?1 LIMIT 1';
    return this.sqlite.one(sql, sha256) !== undefined;
  }
}

function asideOf(row: Row): AsideRow {
  return {
    id: String(row['id']),
    nodeId: String(row['node_id']),
    fileId: row['file_id'] === null ? null : String(row['file_id']),
    path: String(row['path']),
    isDone: row['is_done'] === 1,
    takenAt: String(row['taken_at']),
  };
}

function columnsOf({ id, nodeId, fileId, path, isDone, takenAt }: AsideRow): Value[] {
  return [id, nodeId, fileId, path, isDone ? 1 : 0, takenAt];
}
