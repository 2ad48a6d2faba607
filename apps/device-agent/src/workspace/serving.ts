import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DeviceSettings } from '@workspace-graph/device';
import type { Config, ProcessParts } from '@workspace-graph/platform';
import { CliError } from '../cli/cli-error.js';
import { VERSION } from '../version.js';
import type { WorkspacePaths } from './workspace-paths.js';
import type { WorkspaceState } from './workspace-state.js';

/** What the start of a workspace is given, be it local or joined. */
export interface StartParts extends ProcessParts {
  readonly paths: WorkspacePaths;
  /** Told each step of a start, for a person who waits. */
  readonly progress: (line: string) => void;
}

/** What is known once the workspace is about to answer. */
type KnownLater = Pick<DeviceSettings, 'mcpUrl' | 'identity'>;

export function deviceSettings(config: Config, paths: WorkspacePaths, later: KnownLater): DeviceSettings {
  return {
    root: paths.root,
    own: paths.own,
    watch: config.SVC_WATCH_MIRRORS,
    debounceMs: config.SVC_WATCHER_DEBOUNCE_MS,
    failuresPerNode: config.SVC_WATCHER_FAILURES,
    trashDays: config.SVC_TRASH_DAYS,
    ...later,
  };
}

/** Listens where the configuration says. Answers the address. @throws CliError */
export async function listen(app: NestFastifyApplication, config: Config): Promise<string> {
  try {
    await app.listen(config.SVC_PORT, config.SVC_HOST);
    return (await app.getUrl()).replace('[::1]', 'localhost');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw cause;
    const what = {
      EADDRINUSE: 'is in use by another program',
      EACCES: 'may not be used by you',
      EADDRNOTAVAIL: 'is not an address of this machine',
    }[code];
    throw new CliError(
      code === 'EADDRINUSE' ? 'PORT_TAKEN' : 'PORT_UNUSABLE',
      `${config.SVC_HOST}:${config.SVC_PORT} ${what}.`,
      {
        cause,
        hint: 'End that program, or choose another port: --port 0 picks a free one (also SVC_PORT).',
      },
    );
  }
}

/** What the state file tells of this process. */
export function stateOf(url: string, databaseFolder: string | null): WorkspaceState {
  return {
    pid: process.pid,
    url,
    started_at: new Date().toISOString(),
    version: VERSION,
    database_folder: databaseFolder,
  };
}
