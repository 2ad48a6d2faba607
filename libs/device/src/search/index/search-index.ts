import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { NotedFile, Term } from '@workspace-graph/domain';
import { snippetMaker } from '@workspace-graph/domain/file-snippet';
import { fold } from '@workspace-graph/domain/fold';
import { wordsOf } from '@workspace-graph/domain/search-terms';
import { atomically } from '../../store/atomically.js';
import { unpackText } from '../text/packed-text.js';
import type { FoundFile, IndexSearch, ReadFile } from './index-messages.js';
import { INDEX_SCHEMA, INDEX_VERSION } from './index-schema.js';
import { rankedQueries } from './ranked-queries.js';

/** So many small files at once cost half of what each alone does. */
const FILES_PER_COMMIT = 512;

interface Known {
  readonly id: number;
  readonly nodeId: string;
  readonly path: string;
  readonly modifiedMs: number;
  readonly textSha256: string | null;
}

/**
 * The full-text index of the files of this device, `search.db`. It holds nothing that cannot be read again from the
 * files, so one that is damaged or of another version is thrown away. Works synchronously: it lives in a worker thread.
 */
export class SearchIndex {
  private readonly statements = new Map<string, StatementSync>();
  /** Files that were put since the last commit. */
  private unwritten = 0;

  private constructor(private readonly database: DatabaseSync) {}

  /** Opens the index, or makes a new one in the place of one that cannot be used. */
  static open(file: string): SearchIndex {
    try {
      return SearchIndex.openUsable(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      SearchIndex.remove(file);
      return SearchIndex.openUsable(file);
    }
  }

  static remove(file: string): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  }

  private static openUsable(file: string): SearchIndex {
    const database = new DatabaseSync(file);
    try {
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000',
      );
      const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
      const tables = Number(database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count']);
      if (version !== INDEX_VERSION && (version !== 0 || tables > 0)) throw new OtherVersion();
      if (version === 0) database.exec(`BEGIN; ${INDEX_SCHEMA}; PRAGMA user_version = ${INDEX_VERSION}; COMMIT`);
      database.exec('CREATE TEMP TABLE census (file_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID');
    } catch (error) {
      database.close();
      throw error;
    }
    return new SearchIndex(database);
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }

  /** Takes files in by name and answers those whose text is to be read; forgets removed ones. */
  note(files: readonly NotedFile[], removed: readonly string[]): string[] {
    return this.transaction(() => {
      for (const fileId of removed) this.forget(fileId);
      return files.filter((file) => this.noteFile(file)).map(({ fileId }) => fileId);
    });
  }

  /**
   * Replaces the texts of files. Those that are not known, or not any more, are passed over. With `comesMore` they are found
   * at once and written with what comes: until then a crash undoes them, and the next start notes these files again.
   */
  put(files: readonly ReadFile[], comesMore = false): void {
    if (!this.database.isTransaction) this.database.exec('BEGIN IMMEDIATE');
    try {
      for (const file of files) this.putFile(file);
      this.unwritten += files.length;
      if (!comesMore || this.unwritten >= FILES_PER_COMMIT) this.commit();
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      this.unwritten = 0;
      throw error;
    }
  }

  beginCensus(): void {
    this.transaction(() => this.run('DELETE FROM temp.census'));
  }

  endCensus(): void {
    const gone = 'SELECT file_id FROM files WHERE file_id NOT IN (SELECT file_id FROM temp.census)';
    this.transaction(() => {
      for (const row of this.statement(gone).all()) this.forget(String(row['file_id']));
    });
    this.beginCensus();
  }

  removeNode(nodeId: string): void {
    this.transaction(() => {
      const rows = this.statement('SELECT file_id FROM files WHERE node_id = ?').all(nodeId);
      for (const row of rows) this.forget(String(row['file_id']));
    });
  }

  /**
   * Files that have every term in their name or text. Those with all of them in the name come first, then those in
   * whose text they stand close together, then the others; in each group the last changed first. The order of two
   * files depends on nothing but these two.
   */
  search({ terms, nodeId, limit, offset }: IndexSearch): FoundFile[] {
    const queries = rankedQueries(terms);
    const hits = queries.map((_, tier) => `SELECT rowid, ${tier} AS tier FROM words WHERE words MATCH ?`);
    const rows = this.statement(
      `SELECT f.file_id, f.node_id
       FROM (SELECT rowid AS id, min(tier) AS tier FROM (${hits.join(' UNION ALL ')}) GROUP BY rowid) h
       JOIN files f ON f.id = h.id ${nodeId === undefined ? '' : 'WHERE f.node_id = ?'}
       ORDER BY h.tier, f.modified_ms DESC, f.file_id DESC LIMIT ? OFFSET ?`,
    ).all(...queries, ...(nodeId === undefined ? [] : [nodeId]), limit, offset);
    return rows.map((row) => ({ fileId: String(row['file_id']), nodeId: String(row['node_id']) }));
  }

  /** The part of the text of each file that shows the terms best. */
  snippets(fileIds: readonly string[], terms: readonly Term[]): (string | null)[] {
    const snippetOf = snippetMaker(terms);
    return fileIds.map((fileId) => {
      const text = this.textOf(fileId);
      return text === null ? null : snippetOf(text);
    });
  }

  private noteFile(file: NotedFile): boolean {
    this.run('INSERT OR IGNORE INTO temp.census (file_id) VALUES (?)', file.fileId);
    const known = this.known(file.fileId);
    if (!known) {
      this.insert(file);
      return true;
    }
    const modifiedMs = file.modifiedMs ?? known.modifiedMs;
    if (known.nodeId !== file.nodeId || known.path !== file.path || known.modifiedMs !== modifiedMs)
      this.relocate(known, { ...file, modifiedMs });
    return known.textSha256 !== file.sha256;
  }

  private insert({ fileId, nodeId, path, modifiedMs }: NotedFile): void {
    const { lastInsertRowid } = this.run(
      'INSERT INTO files (file_id, node_id, path, modified_ms) VALUES (?, ?, ?, ?)',
      fileId,
      nodeId,
      path,
      modifiedMs ?? 0,
    );
    this.run('INSERT INTO words (rowid, name, body) VALUES (?, ?, ?)', lastInsertRowid, nameWords(path), '');
  }

  private relocate({ id, path: oldPath }: Known, { fileId, nodeId, path, modifiedMs }: NotedFile): void {
    this.run('UPDATE files SET node_id = ?, path = ?, modified_ms = ? WHERE id = ?', nodeId, path, modifiedMs, id);
    if (basename(path) === basename(oldPath)) return;
    this.run(
      'INSERT OR REPLACE INTO words (rowid, name, body) VALUES (?, ?, ?)',
      id,
      nameWords(path),
      fold(this.textOf(fileId) ?? ''),
    );
  }

  private putFile({ fileId, sha256, state, text, words }: ReadFile): void {
    const known = this.known(fileId);
    if (!known) return;
    this.run('INSERT OR IGNORE INTO temp.census (file_id) VALUES (?)', fileId);
    this.run('UPDATE files SET text_sha256 = ?, state = ? WHERE id = ?', sha256, state, known.id);
    if (text) this.run('INSERT OR REPLACE INTO texts (id, text) VALUES (?, ?)', known.id, text);
    else this.run('DELETE FROM texts WHERE id = ?', known.id);
    this.run(
      'INSERT OR REPLACE INTO words (rowid, name, body) VALUES (?, ?, ?)',
      known.id,
      nameWords(known.path),
      words ? new TextDecoder().decode(words) : '',
    );
  }

  private forget(fileId: string): void {
    const known = this.known(fileId);
    if (!known) return;
    this.run('DELETE FROM files WHERE id = ?', known.id);
    this.run('DELETE FROM texts WHERE id = ?', known.id);
    this.run('DELETE FROM words WHERE rowid = ?', known.id);
  }

  private known(fileId: string): Known | null {
    const row = this.statement('SELECT * FROM files WHERE file_id = ?').get(fileId);
    if (!row) return null;
    return {
      id: Number(row['id']),
      nodeId: String(row['node_id']),
      path: String(row['path']),
      modifiedMs: Number(row['modified_ms']),
      textSha256: row['text_sha256'] === null ? null : String(row['text_sha256']),
    };
  }

  private textOf(fileId: string): string | null {
    const row = this.statement('SELECT t.text FROM files f JOIN texts t USING (id) WHERE f.file_id = ?').get(fileId);
    const packed = row?.['text'];
    return packed instanceof Uint8Array ? unpackText(packed) : null;
  }

  private commit(): void {
    this.database.exec('COMMIT');
    this.unwritten = 0;
  }

  private transaction<T>(work: () => T): T {
    if (this.database.isTransaction) this.commit();
    return atomically(this.database, work);
  }

  private run(sql: string, ...values: SQLInputValue[]) {
    return this.statement(sql).run(...values);
  }

  private statement(sql: string): StatementSync {
    const known = this.statements.get(sql);
    if (known) return known;
    const made = this.database.prepare(sql);
    this.statements.set(sql, made);
    return made;
  }
}

class OtherVersion extends Error {}

/** SQLITE_ERROR (a table is missing), SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE_CODES: readonly number[] = [1, 11, 26];

/** Whether an error tells that the index cannot be used as it is. */
export function isDamage(error: unknown): boolean {
  if (error instanceof OtherVersion) return true;
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return false;
  return DAMAGE_CODES.includes(Number(error.errcode) & 0xff);
}

/** The words of the name of a file, folded. */
function nameWords(path: string): string {
  return wordsOf(basename(path)).join(' ');
}
