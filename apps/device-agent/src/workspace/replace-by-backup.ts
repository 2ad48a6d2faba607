import { randomBytes } from 'node:crypto';
import { type RestoreOptions, type RestoreSummary, restoreDatabase } from '@workspace-graph/database/backup';
import pg from 'pg';

/**
 * Restores a backup beside the database and then exchanges the two in one transaction, so that a failure at any moment
 * leaves either the old content or the new.
 */
export async function replaceByBackup(options: RestoreOptions): Promise<RestoreSummary> {
  const current = new URL(options.url).pathname.slice(1);
  const suffix = randomBytes(4).toString('hex');
  const [fresh, old] = [`restore_${suffix}`, `replaced_${suffix}`];
  const server = new pg.Client({ connectionString: databaseOf(options.url, 'postgres') });
  await server.connect();
  try {
    await server.query(`CREATE DATABASE ${quoted(fresh)}`);
    try {
      const summary = await restoreDatabase({ ...options, url: databaseOf(options.url, fresh) });
      await exchange(server, { current, fresh, old });
      await server.query(`DROP DATABASE ${quoted(old)} WITH (FORCE)`);
      return summary;
    } catch (error) {
      await server.query(`DROP DATABASE IF EXISTS ${quoted(fresh)} WITH (FORCE)`);
      throw error;
    }
  } finally {
    await server.end();
  }
}

async function exchange(
  server: pg.Client,
  { current, fresh, old }: { current: string; fresh: string; old: string },
): Promise<void> {
  await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY ($1)', [
    [current, fresh],
  ]);
  await server.query('BEGIN');
  try {
    await server.query(`ALTER DATABASE ${quoted(current)} RENAME TO ${quoted(old)}`);
    await server.query(`ALTER DATABASE ${quoted(fresh)} RENAME TO ${quoted(current)}`);
    await server.query('COMMIT');
  } catch (error) {
    await server.query('ROLLBACK');
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
