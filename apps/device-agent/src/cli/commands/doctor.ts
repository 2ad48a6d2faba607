import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Finding } from '@workspace-graph/contracts';
import { type Config, ConfigError, loadConfig } from '@workspace-graph/platform/config';
import type { Command } from 'commander';
import { checkUsable, freeBytes, nearestFolder } from '../../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { type FoundWorkspace, findWorkspace } from '../../workspace/workspace-state.js';
import { CliError } from '../cli-error.js';
import { EXIT } from '../codes.js';
import { table } from '../output.js';
import { runs } from '../run-command.js';
import { checkDatabase } from './doctor-database.js';
import { checkStores } from './doctor-folders.js';
import { checkLeftovers } from './doctor-leftovers.js';
import { checkMembership } from './doctor-membership.js';
import { checkRemote, checkWorkspace } from './doctor-workspace.js';

const NEEDED_NODE = 24;
const GROUP_AND_OTHERS = 0o077;
const LOW_DISK_BYTES = 2 * 1024 ** 3;
const MEGABYTE = 1024 ** 2;

/** `svc doctor` */
export function doctorCommand(program: Command): void {
  runs(
    program.command('doctor').description('check this workspace and explain how to fix problems'),
    async ({ out }) => {
      const findings = await examine();
      const worst = findings.some((finding) => finding.state === 'failed');
      const marks = { ok: 'ok', warning: '!', failed: 'FAILED' } as const;
      const lines = findings.flatMap((finding) => [[marks[finding.state], finding.check, finding.found]]);
      const advice = findings.flatMap((finding) =>
        finding.advice && finding.state !== 'ok' ? [`  ${finding.check}: ${finding.advice}`] : [],
      );
      out.result({ healthy: !worst, findings }, [
        ...table(lines),
        ...(advice.length > 0 ? ['', 'What to do:', ...advice] : []),
      ]);
      if (worst) process.exitCode = EXIT.failed;
    },
  );
}

async function examine(): Promise<Finding[]> {
  const node = checkNode();
  const loaded = readConfig();
  if ('finding' in loaded) return [node, loaded.finding];
  const { config, warnings } = loaded;
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  const { found, problems } = await lookForWorkspace(paths);
  return [
    node,
    warnings.length > 0
      ? {
          check: 'environment',
          state: 'warning',
          found: warnings.join('; '),
          advice: 'Correct or remove these variables.',
        }
      : { check: 'environment', state: 'ok', found: 'all SVC_ variables are known and valid' },
    await checkFolder(paths),
    await checkDisk(paths),
    ...((await checkMembership(paths)) ?? [
      await checkDatabase(config, paths, found),
      ...(problems ? [] : [await checkLeftovers(paths)]),
    ]),
    await checkToken(paths),
    await checkPort(config, found),
    ...(problems ? [] : checkStores(paths)),
    ...(problems ?? (await checkWorkspace(paths, found))),
    ...(await checkRemote()),
  ];
}

/** A folder that is closed to this user does not even tell whether the workspace runs. */
async function lookForWorkspace(
  paths: WorkspacePaths,
): Promise<{ found: FoundWorkspace | null; problems?: readonly Finding[] }> {
  try {
    return { found: await findWorkspace(paths) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const unknown: Finding = {
      check: 'workspace',
      state: 'failed',
      found: 'it is unknown whether it runs',
      advice: 'See the finding about the folder.',
    };
    return { found: null, problems: [unknown] };
  }
}

function checkNode(): Finding {
  const fits = Number(process.versions.node.split('.')[0]) >= NEEDED_NODE;
  return {
    check: 'Node.js',
    state: fits ? 'ok' : 'failed',
    found: process.version,
    ...(fits ? {} : { advice: `Run it with Node ${NEEDED_NODE}; \`npm start\` fetches it.` }),
  };
}

function readConfig(): { config: Config; warnings: readonly string[] } | { finding: Finding } {
  try {
    // What the command itself reads, such as SVC_URL, is checked along.
    loadConfig('cli', process.env);
    return loadConfig('device-agent', process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      finding: {
        check: 'environment',
        state: 'failed',
        found: error.problems.join('; '),
        advice: 'Correct these variables.',
      },
    };
  }
}

/** Looks only: a folder that is not there is made by the first start. */
async function checkFolder(paths: WorkspacePaths): Promise<Finding> {
  try {
    await checkUsable(paths);
    return { check: 'folder', state: 'ok', found: paths.root };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return {
      check: 'folder',
      state: 'failed',
      found: error.message,
      ...(error.options.hint ? { advice: error.options.hint } : {}),
    };
  }
}

async function checkDisk(paths: WorkspacePaths): Promise<Finding> {
  const free = await nearestFolder(paths.own)
    .then(freeBytes)
    .catch(() => null);
  if (free === null)
    return {
      check: 'disk',
      state: 'warning',
      found: 'the free space is unknown',
      advice: 'See the finding about the folder.',
    };
  const found = `${Math.round(free / MEGABYTE)} MB free`;
  return free < LOW_DISK_BYTES
    ? { check: 'disk', state: 'warning', found, advice: 'Free some space; the database and backups grow.' }
    : { check: 'disk', state: 'ok', found };
}

async function checkToken(paths: WorkspacePaths): Promise<Finding> {
  const check = 'credential';
  try {
    const { mode } = await stat(paths.token);
    if (process.platform === 'win32' || (mode & GROUP_AND_OTHERS) === 0)
      return { check, state: 'ok', found: `${paths.token}, readable by you only` };
    return {
      check,
      state: 'failed',
      found: `${paths.token} can be read by others`,
      advice: `Run chmod 600 ${paths.token}, then replace the token: remove the file and restart.`,
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { check, state: 'ok', found: 'will be created at the next start' };
    return { check, state: 'failed', found: message, advice: 'See the finding about the folder.' };
  }
}

async function checkPort(config: Config, found: FoundWorkspace | null): Promise<Finding> {
  const port = config.SVC_PORT;
  if (found?.state && new URL(found.state.url).port === String(port))
    return { check: 'port', state: 'ok', found: `${port}, in use by this workspace` };
  if (port === 0 || (await isFree(config.SVC_HOST, port)))
    return { check: 'port', state: 'ok', found: port === 0 ? 'any free one' : `${port} is free` };
  if (found && !found.state)
    return {
      check: 'port',
      state: 'ok',
      found: `${port} is in use, perhaps by this workspace, which does not report its port`,
    };
  return {
    check: 'port',
    state: found ? 'warning' : 'failed',
    found: `${port} is in use by another program`,
    advice: 'End that program, or choose another port with --port or SVC_PORT (0 picks a free one).',
  };
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
