import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError, backupDatabase, lossOf } from '@workspace-graph/database/backup';
import {
  EmbeddedDatabaseError,
  type EmbeddedDatabaseOptions,
  type EmbeddedProgress,
  type ServerChange,
  startEmbeddedDatabase,
  superviseEmbeddedDatabase,
} from '@workspace-graph/database/embedded';
import { MigrationError, migrate } from '@workspace-graph/database/migrate';
import type { Config } from '@workspace-graph/platform/config';
import { replaceText } from '@workspace-graph/platform/disk';
import pg from 'pg';
import { CliError } from '../cli/cli-error.js';
import { findLeftovers, removeLeftovers } from './leftovers.js';
import type { WorkspacePaths } from './workspace-paths.js';

/** The database of a workspace while it is in use. */
export interface WorkspaceDatabase {
  readonly url: string;
  /** Where an embedded server keeps its data; null for one that is not ours. */
  readonly dataFolder: string | null;
  stop(): Promise<void>;
}

/** The database of a workspace that serves. */
export interface ServedDatabase extends WorkspaceDatabase {
  /** Why an embedded server does not run right now; null while it runs, and for one that is not ours. */
  readonly problem: EmbeddedDatabaseError | null;
  /** Settles when an embedded server cannot be kept running, with the reason; never for one that is not ours. */
  readonly lost: Promise<EmbeddedDatabaseError>;
}

type Progress = (line: string) => void;

const CONNECT_MS = 10_000;

/** For the time of one command: the database that SVC_DATABASE_URL names, else the embedded one of this folder. */
export async function openDatabase(
  config: Config,
  paths: WorkspacePaths,
  progress: Progress,
): Promise<WorkspaceDatabase> {
  const given = config.SVC_DATABASE_URL?.reveal();
  return cleaned<WorkspaceDatabase>(paths, progress, () =>
    given ? givenDatabase(given) : embedded(paths, progress, startEmbeddedDatabase),
  );
}

/** For a workspace that serves: the same, and an embedded server that ends by itself is started again. */
export async function serveDatabase(
  config: Config,
  paths: WorkspacePaths,
  { progress, onChange }: { readonly progress: Progress; readonly onChange: (change: ServerChange) => void },
): Promise<ServedDatabase> {
  const given = config.SVC_DATABASE_URL?.reveal();
  return cleaned<ServedDatabase>(paths, progress, () =>
    given
      ? givenDatabase(given)
      : embedded(paths, progress, (options) => superviseEmbeddedDatabase({ ...options, onChange })),
  );
}

async function embedded<D>(
  paths: WorkspacePaths,
  progress: Progress,
  start: (options: EmbeddedDatabaseOptions) => Promise<D>,
): Promise<D> {
  try {
    return await start({ folder: paths.database, onProgress: (step) => progress(describe(step)) });
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    throw new CliError(error.code, error.message, { cause: error, ...(error.advice ? { hint: error.advice } : {}) });
  }
}

/** A server that is not ours. It must be there at the start; what happens later passes or is told to each caller. */
async function givenDatabase(url: string): Promise<ServedDatabase> {
  await tryDatabase(url, CONNECT_MS);
  return { url, dataFolder: null, problem: null, lost: new Promise(() => undefined), stop: async () => undefined };
}

/** Removes what backups and restores left that were cut off. It is in nobody's way: the start goes on without. */
async function cleaned<D extends WorkspaceDatabase>(
  paths: WorkspacePaths,
  progress: Progress,
  open: () => Promise<D>,
): Promise<D> {
  const leftovers = await findLeftovers(paths);
  const database = await open();
  const { url, dataFolder } = database;
  const removed = await removeLeftovers({ paths, leftovers, url, isOwnServer: dataFolder !== null }).catch(
    (error: Error) => {
      progress(`The leftovers of an interrupted backup or restore could not be removed: ${error.message}`);
      return [];
    },
  );
  if (removed.length > 0) progress(`Removed leftovers of an interrupted backup or restore: ${removed.join(', ')}`);
  return database;
}

/** Connects to the database that SVC_DATABASE_URL names, once. @throws CliError DATABASE_UNREACHABLE */
export async function tryDatabase(url: string, withinMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: withinMs });
  // A line that drops while it is closed again is nobody's loss.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    const { host, pathname } = new URL(url);
    const reason = cause instanceof Error && cause.message ? `: ${cause.message}` : '';
    throw new CliError(
      'DATABASE_UNREACHABLE',
      `The database ${pathname.slice(1)} at ${host} cannot be used${reason}.`,
      {
        cause,
        hint: 'Check SVC_DATABASE_URL and that its server is running; without this variable the workspace uses its own database.',
      },
    );
  } finally {
    await client.end();
  }
}

/** Brings the database to this build's level; one that holds data is backed up before it is changed. */
export async function migrateWithBackup(url: string, paths: WorkspacePaths, progress: Progress): Promise<void> {
  try {
    await migrate({
      url,
      onWait: () => progress('Another process is preparing the database; waiting …'),
      onMigration: (name) => progress(`Preparing the database (${name}) …`),
      beforeChange: async () => {
        const file = join(
          paths.backups,
          `before-upgrade-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.wgbackup`,
        );
        progress(`Backing up to ${file} …`);
        await backupDatabase({ url, file });
      },
    });
  } catch (error) {
    const told = error instanceof MigrationError ? error : lossOf(error, 'The workspace was not started.');
    if (told instanceof BackupError) throw new CliError(told.code, told.message, { cause: error, hint: told.advice });
    if (!(told instanceof MigrationError)) throw told;
    throw new CliError(told.code, told.message, {
      cause: error,
      hint: 'Use the version of the product that this database belongs to, or a newer one.',
    });
  }
}

function describe(step: EmbeddedProgress): string {
  switch (step.phase) {
    case 'copying_binaries':
      return 'Installing the database programs …';
    case 'creating':
      return 'Creating the database …';
    case 'stopping_previous':
      return `Ending a database server that was left behind (process ${step.pid}) …`;
    case 'starting':
      return 'Starting the database …';
    case 'recovering':
      return 'The last run ended abruptly; the database is recovering …';
  }
}

/** Lets `svc backup` reach the database of a running workspace. The file is for this user only, like the credential. */
export async function keepDatabaseUrl(paths: WorkspacePaths, url: string): Promise<void> {
  await replaceText(paths.databaseUrl, `${url}\n`);
}

export async function forgetDatabaseUrl(paths: WorkspacePaths): Promise<void> {
  await rm(paths.databaseUrl, { force: true });
}

export async function readDatabaseUrl(paths: WorkspacePaths): Promise<string> {
  return (await readFile(paths.databaseUrl, 'utf8')).trim();
}
