import type { DatabaseSync } from 'node:sqlite';
import { pathKey } from '@workspace-graph/domain';
import { RegistryError } from './registry-error.js';

/** One step from a version of the store to the next; steps that were released are never edited. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE local_mirrors (
    node_id TEXT PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    scanned_at TEXT,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE file_state (
    file_id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    path_key TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    stamp TEXT,
    inode TEXT,
    is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
    was_pushed INTEGER NOT NULL CHECK (was_pushed IN (0, 1)),
    last_synced_hash TEXT,
    version INTEGER NOT NULL,
    UNIQUE (node_id, path_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX file_state_path ON file_state (node_id, path);
  CREATE INDEX file_state_inode ON file_state (node_id, inode);
  CREATE TABLE trash (
    id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL,
    file_id TEXT,
    path TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('deleted', 'replaced')),
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    trashed_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX trash_node ON trash (node_id, id);
  CREATE INDEX trash_file ON trash (file_id);
  CREATE INDEX trash_age ON trash (trashed_at);
  CREATE TABLE untracked (
    node_id TEXT NOT NULL,
    path_key TEXT NOT NULL,
    PRIMARY KEY (node_id, path_key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE scan_doubts (
    node_id TEXT NOT NULL REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    PRIMARY KEY (node_id, path)
  ) STRICT, WITHOUT ROWID;`,
  `
  CREATE TABLE asides (
    id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL,
    file_id TEXT,
    path TEXT NOT NULL,
    is_done INTEGER NOT NULL CHECK (is_done IN (0, 1)),
    taken_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
  // Keys are made by another rule. Of files whose paths are one name by now, the first has it; see the records.
  `
  CREATE TEMP TABLE refolded (file_id TEXT PRIMARY KEY, key TEXT NOT NULL, place INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO refolded
    SELECT file_id, path_key(path), row_number() OVER (PARTITION BY node_id, path_key(path) ORDER BY file_id) FROM file_state;
  UPDATE file_state SET path_key = char(1) || file_id;
  UPDATE file_state SET path_key =
    (SELECT key || CASE place WHEN 1 THEN '' ELSE char(1) || r.file_id END FROM refolded r WHERE r.file_id = file_state.file_id);
  DROP TABLE refolded;
  UPDATE OR REPLACE untracked SET path_key = path_key(path_key) WHERE path_key <> path_key(path_key);`,
  `
  ALTER TABLE asides ADD COLUMN sha256 TEXT;
  ALTER TABLE trash ADD COLUMN edit TEXT;`,
  // What the person of this device last saw of the nodes that have a folder here, for times without a connection.
  `
  CREATE TABLE known_places (
    node_id TEXT PRIMARY KEY REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    place TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
  // Folders of nodes that this person does not see any more, with files that exist nowhere else.
  `
  CREATE TABLE withdrawn_folders (
    path TEXT PRIMARY KEY,
    files INTEGER NOT NULL,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
  // Records of files as they were last seen, and those that were made here and are not told yet, for the same times.
  `
  CREATE TABLE known_records (
    file_id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    path_key TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    record TEXT NOT NULL,
    waits TEXT CHECK (waits IN ('changed', 'made', 'deleted'))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX known_records_path ON known_records (node_id, path_key);
  CREATE INDEX known_records_waiting ON known_records (node_id) WHERE waits IS NOT NULL;
  CREATE TABLE made_ids (
    made_id TEXT PRIMARY KEY,
    node_id TEXT NOT NULL REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    file_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
  // Contents that were sent, and nobody knows whether they arrived.
  `
  CREATE TABLE sent_contents (
    file_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    builds_on TEXT,
    node_id TEXT NOT NULL REFERENCES local_mirrors (node_id) ON DELETE CASCADE,
    PRIMARY KEY (file_id, sha256)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sent_contents_node ON sent_contents (node_id);`,
];

/**
 * Brings a store to this version of the product, one transaction for each step.
 * @throws RegistryError for a store of a newer version
 */
export function migrateStore(database: DatabaseSync, upTo = STEPS.length): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (found > STEPS.length)
    throw new RegistryError(
      `sync.db has version ${found}, and this program knows ${STEPS.length}.`,
      'Use a newer Workspace Graph.',
    );
  database.function('path_key', { deterministic: true }, (path) => pathKey(String(path)));
  for (const [index, step] of STEPS.entries()) {
    if (index < found || index >= upTo) continue;
    database.exec(`BEGIN EXCLUSIVE; ${step}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}
