import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One folder of `prisma/migrations`. */
export interface Migration {
  /** Name of the folder; migrations are applied in the order of their names. */
  readonly name: string;
  /** Text of `migration.sql`. */
  readonly sql: string;
  /** SHA-256 of the text in hexadecimal, as the official tool records it. */
  readonly checksum: string;
}

/** The built package carries its migrations; sources find those of the repository. */
export function migrationsFolder(): string {
  const candidates = ['../migrations', '../../../../prisma/migrations'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = candidates.find((folder) => existsSync(folder));
  if (found === undefined) throw new Error(`No migrations found in ${candidates.join(' or ')}`);
  return found;
}

/** All migrations of a folder by name, which is their order. Line ends do not count for the checksum. */
export function readMigrations(folder: string = migrationsFolder()): Migration[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  return names.sort().map((name) => {
    const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8').replaceAll('\r\n', '\n');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}
