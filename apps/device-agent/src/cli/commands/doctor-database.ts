import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '@workspace-graph/contracts';
import { embeddedBinariesProblem, lookAtEmbeddedDatabase } from '@workspace-graph/database/embedded';
import type { Config } from '@workspace-graph/platform/config';
import { tryDatabase } from '../../workspace/workspace-database.js';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';
import type { FoundWorkspace } from '../../workspace/workspace-state.js';
import { CliError } from '../cli-error.js';

const CONNECT_MS = 3_000;
const check = 'database';

/** Looks at the database itself: the one that SVC_DATABASE_URL names is connected to, the data of the embedded one looked for. */
export async function checkDatabase(
  config: Config,
  paths: WorkspacePaths,
  found: FoundWorkspace | null,
): Promise<Finding> {
  const given = config.SVC_DATABASE_URL?.reveal();
  return given ? checkGiven(given) : checkEmbedded(paths, found);
}

async function checkGiven(url: string): Promise<Finding> {
  const { host, pathname } = new URL(url);
  try {
    await tryDatabase(url, CONNECT_MS);
    return {
      check,
      state: 'ok',
      found: `the database that SVC_DATABASE_URL names answers: ${pathname.slice(1)} at ${host}`,
    };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { check, state: 'failed', found: error.message, advice: error.options.hint ?? '' };
  }
}

function checkEmbedded(paths: WorkspacePaths, found: FoundWorkspace | null): Finding {
  const binaries = embeddedBinariesProblem();
  if (binaries !== null)
    return {
      check,
      state: 'failed',
      found: binaries,
      advice: 'Install again with `npm ci`, or set SVC_DATABASE_URL to your own PostgreSQL.',
    };
  const { state, dataFolder, problem, owner } = lookAtEmbeddedDatabase(paths.database);
  if (problem)
    return { check, state: 'failed', found: problem.message, advice: adviceFor(problem.code, problem.advice) };
  if (state === 'none') return notMade(paths, found);
  const where = `embedded PostgreSQL, data in ${dataFolder}`;
  if (owner === null || owner.pid === found?.pid) return { check, state: 'ok', found: where };
  return {
    check,
    state: 'warning',
    found: `${where}; in use by ${owner.pid === null ? 'a process' : `process ${owner.pid}`}, which is not the workspace`,
    advice: 'For example, a backup or a restore uses it. Wait until it has ended, or end that process.',
  };
}

function adviceFor(code: string, advice: string): string {
  if (code !== 'DATA_MISSING') return advice;
  return 'Put the data back, or restore a backup into a new workspace folder: `svc restore FILE --yes` with SVC_WORKSPACE_ROOT set to it.';
}

function notMade({ own, database }: WorkspacePaths, found: FoundWorkspace | null): Finding {
  if (found?.state?.database_folder === null)
    return { check, state: 'ok', found: 'the workspace uses the database that its own SVC_DATABASE_URL names' };
  if (found || !existsSync(join(own, 'sync.db')))
    return { check, state: 'ok', found: 'will be created at the first start' };
  return {
    check,
    state: 'warning',
    found: `there is no database in ${database}, although this workspace was used before`,
    advice:
      'Set SVC_DATABASE_URL if the workspace used another database. Otherwise its data is missing, and the next start creates an empty database: put the data back, or run `svc restore FILE --yes`.',
  };
}
