import type { Row, Sqlite, Value } from './sqlite.js';

/**
 * A file that was taken from its name. It lies beside that name; once `isDone` in the folder `aside` of our own folder, or
 * in the root of the mirror where that is on another disk.
 */
export interface AsideRow {
  readonly id: string;
  readonly nodeId: string;
  readonly fileId: string | null;
  /** Within the node, in NFC: where it lay. */
  readonly path: string;
  /** Content that is kept elsewhere: the file is of use only if it holds another. Null where nothing is known of that. */
  readonly sha256: string | null;
  /** Whether the change for which it was taken aside was carried out. */
  readonly isDone: boolean;
  readonly takenAt: string;
}

const PUT = `INSERT OR REPLACE INTO asides (id, node_id, file_id, path, sha256, is_done, taken_at)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 FROM json_each(?)`;
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
}

function asideOf(row: Row): AsideRow {
  return {
    id: String(row['id']),
    nodeId: String(row['node_id']),
    fileId: row['file_id'] === null ? null : String(row['file_id']),
    path: String(row['path']),
    sha256: row['sha256'] === null ? null : String(row['sha256']),
    isDone: row['is_done'] === 1,
    takenAt: String(row['taken_at']),
  };
}

function columnsOf({ id, nodeId, fileId, path, sha256, isDone, takenAt }: AsideRow): Value[] {
  return [id, nodeId, fileId, path, sha256, isDone ? 1 : 0, takenAt];
}
