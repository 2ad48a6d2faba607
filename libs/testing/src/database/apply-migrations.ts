import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

const FOLDER = join(import.meta.dirname, '../../../../prisma/migrations');

/** Brings an empty test database to the newest schema, without the bookkeeping of the product's migrator. */
export async function applyMigrations(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const name of (await readdir(FOLDER)).sort()) {
      if (!/^\d/.test(name)) continue;
      await client.query(await readFile(join(FOLDER, name, 'migration.sql'), 'utf8'));
    }
  } finally {
    await client.end();
  }
}
