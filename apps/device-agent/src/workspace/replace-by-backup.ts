import { randomBytes } from 'node:crypto';
import {
  BackupError,
  lossOf,
  type RestoreOptions,
  type RestoreSummary,
  restoreDatabase,
} from '@workspace-graph/database/backup';
import { MigrationError } from '@workspace-graph/database/migrate';
import pg from 'pg';
import { forgetRestore, noteRestore } from './leftovers.js';
import type { WorkspacePaths } from './workspace-paths.js';

interface Names {
  readonly current: string;
  readonly fresh: string;
  readonly old: string;
}

const UNCHANGED = 'The previous data of the workspace is unchanged.';
const EITHER = 'The workspace contains either all its previous data or the whole backup.';

/**
 * Restores a backup beside the database and then exchanges the two in one transaction, so that a failure at any moment
 * leaves either the old content or the new. What it cannot remove again is noted for the next start.
 * @throws BackupError or MigrationError that tells which of the two is there
 */
export async function replaceByBackup(options: RestoreOptions, paths: WorkspacePaths): Promise<RestoreSummary> {
  const current = new URL(options.url).pathname.slice(1);
  const suffix = randomBytes(4).toString('hex');
  const names = { current, fresh: `restore_${suffix}`, old: `replaced_${suffix}` };
  const server = new pg.Client({ connectionString: databaseOf(options.url, 'postgres') });
  // A line that drops makes the next statement fail, which is what is reported.
  server.on('error', () => undefined);
  await noteRestore(paths, [names.fresh, names.old]);
  try {
    const summary = await restoreBeside(server, options, names);
    await telling(EITHER, () => exchange(server, names));
    await dropIfPossible(server, names.old, paths);
    return summary;
  } catch (error) {
    await dropIfPossible(server, names.fresh, paths);
    throw error;
  } finally {
    await server.end();
  }
}

async function restoreBeside(server: pg.Client, options: RestoreOptions, { fresh }: Names): Promise<RestoreSummary> {
  return telling(UNCHANGED, async () => {
    await server.connect();
    await server.query(`CREATE DATABASE ${quoted(fresh)}`);
    return restoreDatabase({ ...options, url: databaseOf(options.url, fresh) });
  });
}

/** Says what is there after a failure in the middle of the work. */
async function telling<R>(outcome: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MigrationError)
      throw new MigrationError(error.code, `${error.message.trimEnd()} ${outcome}`, { cause: error });
    const told = lossOf(error, '');
    if (!(told instanceof BackupError && (told.code === 'DATABASE_LOST' || told.code === 'DISK_FULL'))) throw told;
    throw new BackupError(told.code, `${told.message.trimEnd()} ${outcome}`, { advice: told.advice, cause: error });
  }
}

/** The next start removes what cannot be removed now. */
async function dropIfPossible(server: pg.Client, name: string, paths: WorkspacePaths): Promise<void> {
  const isGone = await server.query(`DROP DATABASE IF EXISTS ${quoted(name)} WITH (FORCE)`).then(
    () => true,
    () => false,
  );
  if (isGone) await forgetRestore(paths);
}

async function exchange(server: pg.Client, { current, fresh, old }: Names): Promise<void> {
  await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY ($1)', [
    [current, fresh],
  ]);
  await server.query('BEGIN');
  try {
    await server.query(`ALTER DATABASE ${quoted(current)} RENAME TO ${quoted(old)}`);
    await server.query(`ALTER DATABASE ${quoted(fresh)} RENAME TO ${quoted(current)}`);
    await server.query('COMMIT');
  } catch (error) {
    await server.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function databaseOf(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
