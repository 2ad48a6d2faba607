import type { Sqlite } from './sqlite.js';
import type { FileState } from './store-rows.js';

/** A content on its way to the remote, and the one there that it builds on. */
export interface SentContent {
  readonly fileId: string;
  readonly nodeId: string;
  readonly sha256: string;
  readonly buildsOn: string | null;
}

/**
 * Contents that were sent to the remote and of which no answer came yet. One of these that lies there is what this device
 * sent: the next content may build on it. They count while the device still builds on what it did then.
 */
export class SentStore {
  constructor(private readonly sqlite: Sqlite) {}

  /** Notes contents before they are sent. */
  put(contents: readonly SentContent[]): void {
    if (contents.length === 0) return;
    const rows = JSON.stringify(
      contents.map(({ fileId, nodeId, sha256, buildsOn }) => [fileId, nodeId, sha256, buildsOn]),
    );
    this.sqlite.transaction(() => {
      this.sqlite.run(
        `DELETE FROM sent_contents WHERE EXISTS
           (SELECT 1 FROM json_each(?) WHERE value ->> 0 = file_id AND value ->> 3 IS NOT builds_on)`,
        rows,
      );
      this.sqlite.run(
        `INSERT OR REPLACE INTO sent_contents (file_id, node_id, sha256, builds_on)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)`,
        rows,
      );
    });
  }

  /** The content that this device has in common with the remote when `there` lies on it: the last known one, or what it sent since. */
  inCommon(
    { fileId, lastSyncedHash }: Pick<FileState, 'fileId' | 'lastSyncedHash'>,
    there: string | null,
  ): string | null {
    if (there === null || there === lastSyncedHash) return lastSyncedHash;
    const sql = 'SELECT 1 FROM sent_contents WHERE file_id = ? AND sha256 = ? AND builds_on IS ?';
    return this.sqlite.one(sql, fileId, there, lastSyncedHash) === undefined ? lastSyncedHash : there;
  }

  /** Forgets what was sent of files: an answer came. */
  remove(fileIds: readonly string[]): void {
    const sql = 'DELETE FROM sent_contents WHERE file_id IN (SELECT value FROM json_each(?))';
    this.sqlite.run(sql, JSON.stringify(fileIds));
  }
}
