import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { ServiceError } from '@workspace-graph/contracts';
import { atomically } from './atomically.js';

export type Row = Record<string, SQLOutputValue>;
export type Value = string | number | null;

/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: what WAL mode answers where its index cannot grow. */
const [FULL, NO_ROOM_FOR_INDEX] = [13, 4_874];
/** SQLITE_PERM, BUSY, LOCKED, READONLY, IOERR, CANTOPEN. */
const NOT_NOW: readonly number[] = [3, 5, 6, 8, 10, 14];

/** A database of this device. Its statements are prepared once; what the disk refuses is told as what can be done about it. */
export class Sqlite {
  private readonly statements = new Map<string, StatementSync>();

  constructor(readonly database: DatabaseSync) {}

  /** Empty until the first statement is run. @throws Error for a file that is no database */
  static open(file: string): Sqlite {
    return new Sqlite(new DatabaseSync(file));
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }

  /** All of the work is on disk when this returns, or none of it. @throws ServiceError STORAGE_FULL, SERVICE_UNAVAILABLE */
  transaction(work: () => void): void {
    told(() => atomically(this.database, work));
  }

  /** @throws ServiceError STORAGE_FULL, SERVICE_UNAVAILABLE */
  run(sql: string, ...values: Value[]): void {
    told(() => this.prepare(sql).run(...values));
  }

  one(sql: string, ...values: Value[]): Row | undefined {
    return told(() => this.prepare(sql).get(...values));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return told(() => this.prepare(sql).all(...values));
  }

  /** A statement of its own: one that is being read cannot be run by somebody else meanwhile. */
  iterate(sql: string, ...values: Value[]): Iterable<Row> {
    return told(() => this.database.prepare(sql).iterate(...values));
  }

  private prepare(sql: string): StatementSync {
    const known = this.statements.get(sql);
    if (known) return known;
    const made = this.database.prepare(sql);
    this.statements.set(sql, made);
    return made;
  }
}

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw registryError(error);
  }
}

/** An error of the registry as what the caller can do about it; others pass through. */
function registryError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return error;
  const code = Number(error.errcode);
  if ((code & 0xff) === FULL || code === NO_ROOM_FOR_INDEX)
    return new ServiceError('STORAGE_FULL', 'The disk of this device has no room for its registry.', undefined, {
      cause: error,
    });
  if (NOT_NOW.includes(code & 0xff))
    return new ServiceError('SERVICE_UNAVAILABLE', 'This device cannot use its registry at the moment.', undefined, {
      cause: error,
    });
  return error;
}
