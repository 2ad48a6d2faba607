import { EmbeddedDatabaseError, takeOwnership } from '@workspace-graph/database/embedded';
import { loadConfig, startProcess } from '@workspace-graph/platform';
import { CliError } from '../cli/cli-error.js';
import { alreadyRunning } from '../cli/unusable-workspace.js';
import { readMembership } from '../joined/membership.js';
import { ensureFolders } from './workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from './workspace-paths.js';
import { findWorkspace, removeState, type WorkspaceState, writeState } from './workspace-state.js';

export interface ServeOptions {
  /** Told each step of a start, for a person who waits. */
  readonly progress: (line: string) => void;
  readonly ready: (state: WorkspaceState, paths: WorkspacePaths) => Promise<void>;
}

/**
 * Starts the workspace of a folder in this process, local or of a central workspace that it has joined, and returns when it
 * answers; a signal stops it. What was opened is closed again when the start fails.
 * @throws CliError that says what is in the way
 */
export async function serveWorkspace({ progress, ready }: ServeOptions): Promise<void> {
  const { config, warnings } = loadConfig('device-agent', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  await ensureFolders(paths);
  await takeFolder(paths);
  const membership = await readMembership(paths);
  const state = await startProcess('device-agent', config, async (parts) => {
    for (const warning of warnings) parts.logger.warn(warning);
    const given = { ...parts, paths, progress };
    // Each brings much that the other one does not need.
    const started = membership
      ? await (await import('../joined/serve-joined-workspace.js')).startJoinedWorkspace(given, membership)
      : await (await import('./serve-local-workspace.js')).startLocalWorkspace(given);
    await writeState(paths.state, started);
    parts.shutdown.add('refuse', 'state file', () => removeState(paths.state));
    return started;
  }).catch(explainRegistry);
  await ready(state, paths);
}

async function explainRegistry(error: unknown): Promise<never> {
  // All of a device takes its time to load; by now it is.
  const { RegistryError } = await import('@workspace-graph/device');
  if (!(error instanceof RegistryError)) throw error;
  throw new CliError('REGISTRY_UNUSABLE', error.message, { cause: error, hint: error.advice });
}

/**
 * Refuses a second workspace in the folder, whatever its files tell. Held until this process has ended: only then is
 * everything closed.
 */
async function takeFolder(paths: WorkspacePaths): Promise<void> {
  try {
    takeOwnership(paths.own);
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    const found = await findWorkspace(paths);
    if (found) throw alreadyRunning(found, paths);
    throw new CliError(error.code, error.message, { cause: error, hint: error.advice });
  }
}
