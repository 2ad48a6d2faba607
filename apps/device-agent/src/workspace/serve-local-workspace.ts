import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BUS, type Bus, InProcessBus } from '@workspace-graph/bus';
import {
  Database,
  databaseOptions,
  EmbeddedDatabaseError,
  publishOutbox,
  takeOwnership,
  watchDatabase,
} from '@workspace-graph/database';
import {
  DEVICE_PARTS,
  type DeviceIdentity,
  type DeviceParts,
  type DeviceSettings,
  HandoffFiles,
  MirrorConfigs,
  Projections,
  withLocalPaths,
} from '@workspace-graph/device';
import {
  type Config,
  type Logger,
  loadConfig,
  NestLogger,
  OperationRegistry,
  observeOperations,
  type ProcessParts,
  SERVED_BY_REGISTRY,
  type Shutdown,
  startProcess,
} from '@workspace-graph/platform';
import { keepSweeping, SessionSweeps } from '@workspace-graph/service-session';
import { EdgeHttpAdapter, edgeSettings, McpService, serveSockets } from '@workspace-graph/surfaces';
import { CliError } from '../cli/cli-error.js';
import { alreadyRunning } from '../cli/unusable-workspace.js';
import { VERSION } from '../version.js';
import { LocalWorkspaceModule } from './local-workspace.module.js';
import { followDatabase, noDatabase } from './lost-database.js';
import type { LocalWorkspace } from './workspace.handlers.js';
import {
  forgetDatabaseUrl,
  keepDatabaseUrl,
  migrateWithBackup,
  type ServedDatabase,
  serveDatabase,
} from './workspace-database.js';
import { ensureFolders } from './workspace-folders.js';
import { type WorkspacePaths, workspacePaths } from './workspace-paths.js';
import { findWorkspace, removeState, type WorkspaceState, writeState } from './workspace-state.js';
import { ensureOwner } from './workspace-token.js';

export interface ServeOptions {
  /** Told each step of a start, for a person who waits. */
  readonly progress: (line: string) => void;
  readonly ready: (state: WorkspaceState, paths: WorkspacePaths) => Promise<void>;
}

/**
 * Starts the local workspace in this process and returns when it answers; a signal stops it. What was opened is closed
 * again when the start fails.
 * @throws CliError that says what is in the way
 */
export async function serveLocalWorkspace({ progress, ready }: ServeOptions): Promise<void> {
  const { config, warnings } = loadConfig('device-agent', process.env);
  const paths = workspacePaths(config.SVC_WORKSPACE_ROOT);
  await ensureFolders(paths);
  await takeFolder(paths);
  const state = await startProcess('device-agent', config, (parts) => {
    for (const warning of warnings) parts.logger.warn(warning);
    return start({ ...parts, paths, progress });
  });
  await ready(state, paths);
}

interface Parts extends ProcessParts {
  readonly paths: WorkspacePaths;
  readonly progress: (line: string) => void;
}

async function start(parts: Parts): Promise<WorkspaceState> {
  const { config, paths, progress, logger, shutdown } = parts;
  const database = await serveDatabase(config, paths, { progress, onChange: followDatabase(logger) });
  shutdown.add('last', 'database server', () => database.stop());
  void database.lost.then((reason) => endWithoutDatabase(reason, logger, shutdown));
  await migrateWithBackup(database.url, paths, progress);

  let address = `http://${config.SVC_HOST}:${config.SVC_PORT}`;
  let identity: DeviceIdentity | null = null;
  const device = deviceSettings(config, paths, { mcpUrl: () => `${address}/mcp`, identity: () => identity });
  const app = await createApp({ ...parts, database, device, workspace: { paths, ownerId: () => identity?.userId } });
  identity = await ensureOwner(app.get(Database), paths.token);
  await app.init();
  await app.startAllMicroservices();
  const bus = app.get<Bus>(BUS);
  await publishOutbox({ url: database.url, bus, logger, shutdown });
  const sweeps = app.get(SessionSweeps);
  await sweeps.suspendRunsOfOthers([]);
  keepSweeping(sweeps, parts);

  await keepDatabaseUrl(paths, database.url);
  const url = await listen(app, config);
  address = url;
  app.get(MirrorConfigs).refreshInBackground();
  const state: WorkspaceState = {
    pid: process.pid,
    url,
    started_at: new Date().toISOString(),
    version: VERSION,
    database_folder: database.dataFolder,
  };
  await writeState(paths.state, state);
  shutdown.add('refuse', 'state file', () => removeState(paths.state));
  shutdown.add('refuse', 'database address', () => forgetDatabaseUrl(paths));
  return state;
}

interface AppParts extends ProcessParts {
  readonly database: Pick<ServedDatabase, 'url' | 'problem'>;
  readonly device: DeviceSettings;
  readonly workspace: LocalWorkspace;
}

async function createApp({ database, device, workspace, ...process }: AppParts): Promise<NestFastifyApplication> {
  const { config, logger, metrics, shutdown, tracing } = process;
  const bus = new InProcessBus({ logger });
  shutdown.add('bus', 'bus', () => bus.close());
  const settings = edgeSettings(config);
  let deviceParts: DeviceParts | null = null;
  let handoffs: HandoffFiles | null = null;
  const surfaceBus = withLocalPaths(bus, {
    folderOfNode: async (...asked) => (await deviceParts?.localPaths.folderOfNode(...asked)) ?? null,
    handoffFile: async (...asked) => (await handoffs?.report(...asked)) ?? null,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    LocalWorkspaceModule.forRoot({
      edge: { ...process, settings, bus: surfaceBus },
      database: { ...databaseOptions(process, database.url), unavailable: () => noDatabase(database.problem) },
      device: { settings: device, bus, logger },
      workspace,
      ...(config.SVC_WEBVIEW_PROOF ? { live: { webviewProof: config.SVC_WEBVIEW_PROOF.reveal() } } : {}),
    }),
    new EdgeHttpAdapter(settings),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  serveSockets(app);
  deviceParts = app.get<DeviceParts>(DEVICE_PARTS);
  handoffs = app.get(HandoffFiles);
  const projections = app.get(Projections);
  app.get(McpService).onSessionEnded((sessionKey) => void projections.endSession(sessionKey));
  shutdown.add('drain', 'http and services', () => app.close());
  watchDatabase(app, process);
  const registry = app.get(OperationRegistry);
  registry.observe(observeOperations(metrics, tracing));
  registry.bus = bus;
  app.connectMicroservice(SERVED_BY_REGISTRY);
  return app;
}

/** What is known once the workspace is about to answer. */
type KnownLater = Pick<DeviceSettings, 'mcpUrl' | 'identity'>;

function deviceSettings(config: Config, paths: WorkspacePaths, later: KnownLater): DeviceSettings {
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

async function listen(app: NestFastifyApplication, config: Config): Promise<string> {
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

/** A server that does not stay takes acknowledged work with it nowhere, but this process cannot go on without it. */
async function endWithoutDatabase(
  { message, advice, code }: EmbeddedDatabaseError,
  logger: Logger,
  shutdown: Shutdown,
): Promise<void> {
  if (shutdown.leaving) return;
  logger.fatal(
    { code, reason: message },
    `the database server ended repeatedly; stopping. ${message} ${advice} Start the workspace again: no acknowledged change is lost`,
  );
  await shutdown.begin('the database server ended');
  process.exit(1);
}
