import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { holdsLock } from '@workspace-graph/database/embedded';
import { httpPort, loadConfig } from '@workspace-graph/platform/config';
import { type Command, InvalidArgumentError } from 'commander';
import { databaseOutside } from '../../workspace/database-place.js';
import { folderError, makeFolders } from '../../workspace/workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from '../../workspace/workspace-paths.js';
import { type FoundWorkspace, findWorkspace, readState, type WorkspaceState } from '../../workspace/workspace-state.js';
import { CliError, notRunning } from '../cli-error.js';
import type { AnyCode } from '../codes.js';
import { requireLocal } from '../local-only.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { alreadyRunning } from '../unusable-workspace.js';
import { connectTo } from '../workspace-client.js';
import { howToSet } from './agent.js';
import { openCommand, signInLink } from './open.js';
import { statusCommand } from './status.js';

interface StartOptions {
  foreground?: boolean;
  port?: number;
  root?: string;
}

/** A first start makes the database, which a slow disk can drag out. */
const READY_WITHIN_MS = 120_000;
const STOPPED_WITHIN_MS = 30_000;
const POLL_MS = 100;

/** `svc start`, `svc stop`, `svc status`, `svc open` */
export function lifecycleCommands(program: Command): void {
  runs<StartOptions>(
    program
      .command('start')
      .description('start the workspace of this machine, local or joined')
      .option('--foreground', 'stay in this terminal; Ctrl-C stops it')
      .option('--port <number>', 'port to listen on; 0 picks a free one', portNumber)
      .option('--root <folder>', 'folder of the workspace'),
    async ({ out, options }) => {
      requireLocal('start');
      if (options.port !== undefined) process.env['SVC_PORT'] = String(options.port);
      if (options.root !== undefined) process.env['SVC_WORKSPACE_ROOT'] = options.root;
      await (options.foreground ? startHere(out) : startInBackground(out));
    },
  );
  runs(program.command('stop').description('stop the workspace of this machine'), async ({ out }) => stop(out));
  statusCommand(program);
  openCommand(program);
}

async function startHere(out: Output): Promise<void> {
  const { serveWorkspace } = await import('../../workspace/serve-workspace.js');
  await serveWorkspace({
    progress: (line) => out.note(line),
    ready: async (state, paths) => out.result(state, await greeting(state, paths)),
  });
}

async function startInBackground(out: Output): Promise<void> {
  const { config } = loadConfig('device-agent', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  const found = await findWorkspace(paths);
  if (found?.state && found.answer === 'accepts')
    return out.result({ ...found.state, already_running: true }, [
      'The workspace is already running.',
      ...(await greeting(found.state, paths)),
    ]);
  if (found) throw alreadyRunning(found, paths);
  out.note('Starting …');
  await makeFolders(paths);
  const child = spawnDetached(paths);
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    const state = await readState(paths);
    if (state) return out.result(state, await greeting(state, paths));
    if (child.exitCode !== null) throw await startFailed(paths);
    await sleep(POLL_MS);
  }
  child.kill('SIGTERM');
  throw new CliError('START_TIMED_OUT', `The workspace was not ready within ${READY_WITHIN_MS / 1_000} s.`, {
    hint: `See ${paths.log}.`,
  });
}

/** On large machines V8 takes 128 MB for new objects, which is as fast with 32; tools/bootstrap.mjs starts it so too. */
const SMALL_NURSERY = '--max-semi-space-size=16';

function spawnDetached(paths: WorkspacePaths) {
  const result = openOutput(paths, paths.startResult);
  const log = openOutput(paths, paths.log);
  try {
    const command = fileURLToPath(new URL('../../../bin/svc.mjs', import.meta.url));
    const child = spawn(process.execPath, [SMALL_NURSERY, command, 'start', '--foreground', '--json'], {
      detached: true,
      stdio: ['ignore', result, log],
    });
    child.unref();
    return child;
  } finally {
    closeSync(result);
    closeSync(log);
  }
}

function openOutput(paths: WorkspacePaths, file: string): number {
  try {
    return openSync(file, 'w', 0o600);
  } catch (cause) {
    throw folderError(paths, cause as NodeJS.ErrnoException);
  }
}

async function startFailed(paths: WorkspacePaths): Promise<CliError> {
  const failure = parseFailure(await readFile(paths.startResult, 'utf8').catch(() => ''));
  return new CliError(failure?.code ?? 'START_FAILED', failure?.message ?? 'The workspace could not be started.', {
    hint: failure?.hint ?? `See ${paths.log}.`,
  });
}

function parseFailure(text: string): { code: AnyCode; message: string; hint?: string } | null {
  try {
    const value = JSON.parse(text) as { code?: unknown; message?: unknown; hint?: string };
    return typeof value.code === 'string' && typeof value.message === 'string'
      ? { ...value, code: value.code as AnyCode, message: value.message }
      : null;
  } catch {
    return null;
  }
}

async function stop(out: Output): Promise<void> {
  requireLocal('stop');
  const { config } = loadConfig('cli', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  const pid = await pidToStop(paths);
  terminate(pid);
  const deadline = performance.now() + STOPPED_WITHIN_MS;
  while (isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new CliError(
        'STOP_TIMED_OUT',
        `The workspace (process ${pid}) is still running after ${STOPPED_WITHIN_MS / 1_000} s.`,
        { hint: `See ${paths.log}.` },
      );
    }
    await sleep(POLL_MS);
  }
  out.result({ stopped: true, pid }, ['The workspace has stopped.']);
}

/**
 * The process that holds the folder. It writes its number right after it took the lock: a number that is still there a
 * moment later is its own, and not that of a process before it.
 */
async function pidToStop(paths: WorkspacePaths): Promise<number> {
  let found: FoundWorkspace | null = await findWorkspace(paths);
  if (found && found.answer !== 'accepts') {
    await sleep(POLL_MS);
    const first = found.pid;
    found = await findWorkspace(paths);
    if (found && found.pid !== first) throw alreadyRunning(found, paths);
  }
  if (!found) throw notRunning(paths.root);
  if (found.pid === null) throw alreadyRunning(found, paths);
  if (!holdsLock(paths.own, found.pid))
    throw new CliError('NOT_YOUR_PROCESS', `The workspace does not run as process ${found.pid} of this system.`, {
      hint: 'It probably runs in a container: stop it there.',
    });
  return found.pid;
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // It ended by itself in this moment.
    if (code === 'ESRCH') return;
    if (code !== 'EPERM') throw cause;
    throw new CliError('NOT_YOUR_PROCESS', `The workspace (process ${pid}) was started by another user.`, {
      cause,
      hint: 'Stop it as that user.',
    });
  }
}

/** What a newcomer needs next. */
async function greeting(state: WorkspaceState, paths: WorkspacePaths): Promise<string[]> {
  const link = await signInLink(await connectTo(state.url, paths)).catch(() => null);
  const token = paths.token;
  const outside = databaseOutside(state, paths);
  return [
    '',
    `  Workspace Graph ${state.version} is ready at ${state.url}`,
    `  Folder ${paths.root}`,
    ...(outside === null ? [] : [`  Database ${outside}, outside that folder: always move both together`]),
    '',
    '  Open it in a browser:',
    link === null ? '    svc open' : `    ${link}`,
    '    The link signs one browser in, once, within five minutes; svc open makes a new one.',
    '',
    '  Connect an agent (MCP over HTTP):',
    `    URL     ${state.url}/mcp`,
    `    Header  Authorization: Bearer <content of ${token}>`,
    `    e.g.    claude mcp add --transport http workspace-graph ${state.url}/mcp --header "Authorization: Bearer $(cat ${token})"`,
    `    In the folder of a node (svc mirror create NODE) agents find this automatically, once you have run ${howToSet()}`,
    '',
    `  Programs    curl -H "Authorization: Bearer $(cat ${token})" ${state.url}/overview`,
    '  Next        svc demo · svc import FILE · svc status · svc --help',
    '',
  ];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function portNumber(text: string): number {
  const port = httpPort();
  const read = port.schema.safeParse(text);
  if (!read.success) throw new InvalidArgumentError(`must be ${port.accepts}.`);
  return read.data;
}
