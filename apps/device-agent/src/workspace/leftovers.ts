import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceText } from '@workspace-graph/platform/disk';
import pg from 'pg';
import { z } from 'zod';
import type { WorkspacePaths } from './workspace-paths.js';

/** What a backup or a restore leaves behind when its process or its database dies. */
export interface Leftovers {
  /** Databases beside the workspace's own, as a restore noted them before it made them. */
  readonly databases: readonly string[];
  /** Files of backups that were not written to their end. */
  readonly drafts: readonly string[];
}

type Paths = Pick<WorkspacePaths, 'backups' | 'restore'>;

const RestoreNote = z.object({ databases: z.array(z.string()) });
const OF_A_RESTORE = '^(restore|replaced)_[0-9a-f]{8}$';
const DRAFT = /\.[0-9a-f]{8}\.partial$/;
/** A backup that still runs beside the workspace, from a database of the user's, adds to its draft all the time. */
const ABANDONED_MS = 3_600_000;

/** Told before a restore makes databases, so that they are known whatever happens to it. */
export async function noteRestore({ restore }: Paths, databases: readonly string[]): Promise<void> {
  await replaceText(restore, `${JSON.stringify({ databases })}\n`);
}

export async function forgetRestore({ restore }: Paths): Promise<void> {
  await rm(restore, { force: true });
}

/** What lies there now; a backup or restore under way has its own there as well. */
export async function findLeftovers(paths: Paths): Promise<Leftovers> {
  return { databases: await notedDatabases(paths), drafts: await draftsIn(paths.backups) };
}

async function notedDatabases({ restore }: Paths): Promise<readonly string[]> {
  const text = await readFile(restore, 'utf8').catch(nothingThere);
  const parsed = RestoreNote.safeParse(parseJson(text ?? ''));
  return parsed.success ? parsed.data.databases : [];
}

async function draftsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(nothingThere)) ?? [];
  return names.filter((name) => DRAFT.test(name)).map((name) => join(folder, name));
}

export interface Removal {
  readonly paths: Paths;
  readonly leftovers: Leftovers;
  /** Of the workspace's database, which runs. */
  readonly url: string;
  /** Whether this process alone uses the server: then nothing that was left is in use. */
  readonly isOwnServer: boolean;
}

/** Removes what was left; answers its names. What is in use stays, as does the note of it. */
export async function removeLeftovers({ paths, leftovers, url, isOwnServer }: Removal): Promise<string[]> {
  const drafts = await dropDrafts(leftovers.drafts, isOwnServer);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    const databases =
      isOwnServer || leftovers.databases.length > 0 ? await dropDatabases(client, { leftovers, isOwnServer }) : [];
    await forgetRestore(paths);
    return [...databases, ...drafts];
  } finally {
    await client.end();
  }
}

async function dropDatabases(
  client: pg.Client,
  { leftovers, isOwnServer }: Pick<Removal, 'leftovers' | 'isOwnServer'>,
): Promise<string[]> {
  await client.connect();
  // Another workspace may restore on a server that others use as well: only those of the note are ours.
  const { rows } = await client.query<{ datname: string }>(
    'SELECT datname FROM pg_database WHERE datname ~ $1 AND datname <> current_database() AND ($2 OR datname = ANY ($3))',
    [OF_A_RESTORE, isOwnServer, leftovers.databases],
  );
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(datname)}`);
  return rows.map(({ datname }) => datname);
}

async function dropDrafts(drafts: readonly string[], isOwnServer: boolean): Promise<string[]> {
  const dropped: string[] = [];
  for (const file of drafts) {
    const found = await stat(file).catch(nothingThere);
    if (!(found && (isOwnServer || Date.now() - found.mtimeMs > ABANDONED_MS))) continue;
    await rm(file, { force: true });
    dropped.push(file);
  }
  return dropped;
}

function nothingThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
