import { join, resolve } from 'node:path';
import { BackupError, type BackupProgress, backupDatabase, checkBackup } from '@workspace-graph/database/backup';
import { lookAtEmbeddedDatabase } from '@workspace-graph/database/embedded';
import { MigrationError } from '@workspace-graph/database/migrate';
import { type Config, loadConfig } from '@workspace-graph/platform/config';
import type { Command } from 'commander';
import { replaceByBackup } from '../../workspace/replace-by-backup.js';
import { openDatabase, readDatabaseUrl, type WorkspaceDatabase } from '../../workspace/workspace-database.js';
import { ensureFolders } from '../../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { type FoundWorkspace, findWorkspace } from '../../workspace/workspace-state.js';
import { CliError } from '../cli-error.js';
import { type ConfirmOptions, YES_FLAGS } from '../confirm.js';
import { requireOwnData } from '../local-only.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { requireUsable } from '../unusable-workspace.js';

/** `svc backup`, `svc restore` */
export function backupCommands(program: Command): void {
  runs(
    program
      .command('backup')
      .description('write all data, including credentials, to one file; the workspace may keep running')
      .argument('[file]', 'file to write; default: a new file in the backups folder of the workspace'),
    async ({ out, args }) => explained(() => backup(out, args[0])),
  );
  runs<ConfirmOptions>(
    program
      .command('restore')
      .description('replace the whole workspace with a backup; the current data is backed up first')
      .argument('<file>', 'the backup')
      .option(YES_FLAGS, 'confirm the replacement'),
    async ({ out, args, options }) => explained(() => restore(out, args[0] ?? '', options.yes ?? false)),
  );
}

async function backup(out: Output, wanted: string | undefined): Promise<void> {
  const { config, paths } = workspace();
  await requireOwnData('backup', paths);
  const found = await findWorkspace(paths);
  if (!(found || config.SVC_DATABASE_URL)) requireDatabase(paths);
  const file = wanted === undefined ? newBackup(paths, 'backup') : resolve(wanted);
  const work = (url: string) => backupDatabase({ url, file, onProgress: progressTo(out) });
  const summary = found
    ? await work(await runningDatabase(found, paths))
    : await withDatabase(out, { config, paths, work });
  const { sizeBytes, rows, level } = summary;
  out.result({ file, size_bytes: sizeBytes, rows, level }, [
    `Wrote ${file} (${sizeBytes} bytes). Keep it as safe as your credentials.`,
  ]);
}

async function restore(out: Output, wanted: string, isConfirmed: boolean): Promise<void> {
  const { config, paths } = workspace();
  await requireOwnData('restore', paths);
  const file = resolve(wanted);
  const checked = await checkBackup(file);
  if (await findWorkspace(paths)) {
    throw new CliError('ALREADY_RUNNING', 'The workspace is running.', { hint: 'Stop it first with `svc stop`.' });
  }
  if (!isConfirmed) {
    throw new CliError(
      'CONFIRMATION_NEEDED',
      `This replaces all data in ${paths.root} with the backup of ${checked.header.createdAt}.`,
      {
        hint: 'Nothing was changed. Add --yes to continue; the current data is backed up first.',
      },
    );
  }
  await ensureFolders(paths);
  const safety = newBackup(paths, 'before-restore');
  const work = async (url: string) => {
    const kept = await keepIfAny(url, safety);
    return { ...(await replaceByBackup({ url, file, onProgress: progressTo(out) }, paths)), kept };
  };
  const { createdAt, rows, backupLevel, level, kept } = await withDatabase(out, { config, paths, work });
  out.result({ created_at: createdAt, rows, backup_level: backupLevel, level, kept }, [
    `Restored the backup of ${createdAt}.`,
    ...(kept ? [`The previous data is in ${kept}.`] : []),
  ]);
}

/** Backs up what a restore replaces; null when there is nothing. */
async function keepIfAny(url: string, file: string): Promise<string | null> {
  try {
    await backupDatabase({ url, file });
    return file;
  } catch (error) {
    if (error instanceof BackupError && error.code === 'NOT_MIGRATED') return null;
    throw error;
  }
}

function workspace(): { config: Config; paths: WorkspacePaths } {
  const { config } = loadConfig('device-agent', process.env);
  return { config, paths: workspacePaths(config.SVC_WORKSPACE_ROOT) };
}

/** A database that was never made is not made in order to be saved. */
function requireDatabase(paths: WorkspacePaths): void {
  const { state, problem } = lookAtEmbeddedDatabase(paths.database);
  if (problem) throw new CliError(problem.code, problem.message, { cause: problem, hint: problem.advice });
  if (state === 'present') return;
  throw new CliError('NO_WORKSPACE', `There is no workspace in ${paths.root}.`, {
    hint: 'Name the folder of your workspace in SVC_WORKSPACE_ROOT, or its database in SVC_DATABASE_URL.',
  });
}

/** A running workspace leaves its address for this user alone, whatever it says to the kept credential. */
async function runningDatabase(found: FoundWorkspace, paths: WorkspacePaths): Promise<string> {
  try {
    return await readDatabaseUrl(paths);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    requireUsable(found, paths);
    throw new CliError('WORKSPACE_NOT_READY', `${paths.databaseUrl} is missing.`, {
      cause,
      hint: 'Run `svc stop`, then take the backup again.',
    });
  }
}

interface DatabaseWork<R> {
  readonly config: Config;
  readonly paths: WorkspacePaths;
  readonly work: (url: string) => Promise<R>;
}

/** Starts the database of a workspace that does not run, for the time of the work. */
async function withDatabase<R>(out: Output, { config, paths, work }: DatabaseWork<R>): Promise<R> {
  const database: WorkspaceDatabase = await openDatabase(config, paths, (line) => out.note(line));
  try {
    return await work(database.url);
  } finally {
    await database.stop();
  }
}

function newBackup(paths: WorkspacePaths, name: string): string {
  return join(paths.backups, `${name}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.wgbackup`);
}

function progressTo(out: Output): (progress: BackupProgress) => void {
  return ({ table, rows, tablesDone, tables }) => out.note(`  ${tablesDone}/${tables} ${table}: ${rows} rows`);
}

const OF_ITS_VERSION = 'Restore the backup with the version of the product that wrote it.';

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof MigrationError)
      throw new CliError(error.code, error.message, { cause: error, hint: OF_ITS_VERSION });
    if (!(error instanceof BackupError)) throw error;
    throw new CliError(error.code, error.message, { cause: error, ...(error.advice ? { hint: error.advice } : {}) });
  }
}
