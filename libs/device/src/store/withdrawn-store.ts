import type { Sqlite } from './sqlite.js';

/** A folder of a node that the person of this device does not see any more, with what exists nowhere else. */
export interface WithdrawnFolder {
  readonly path: string;
  /** Files in it when it was set aside. */
  readonly files: number;
  readonly at: string;
}

/** Folders that were set aside. */
export class WithdrawnStore {
  constructor(private readonly sqlite: Sqlite) {}

  /** Newest first. */
  all(): WithdrawnFolder[] {
    return this.sqlite
      .all('SELECT path, files, at FROM withdrawn_folders ORDER BY at DESC, path')
      .map((row) => ({ path: String(row['path']), files: Number(row['files']), at: String(row['at']) }));
  }

  put({ path, files, at }: WithdrawnFolder): void {
    this.sqlite.run('INSERT OR REPLACE INTO withdrawn_folders (path, files, at) VALUES (?, ?, ?)', path, files, at);
  }

  remove(path: string): void {
    this.sqlite.run('DELETE FROM withdrawn_folders WHERE path = ?', path);
  }
}
