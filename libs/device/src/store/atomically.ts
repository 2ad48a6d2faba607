import type { DatabaseSync } from 'node:sqlite';

/** Runs work in one transaction. What fails for want of room has ended the transaction by itself. */
export function atomically<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
