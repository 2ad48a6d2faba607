import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BUS, type Bus, InProcessBus } from '@workspace-graph/bus';
import {
  Database,
  databaseOptions,
  EmbeddedDatabaseError,
  publishOutbox,
  watchDatabase,
} from '@workspace-graph/database';
import { type DeviceIdentity, type DeviceSettings, MirrorConfigs } from '@workspace-graph/device';
import { type Logger, NestLogger, type ProcessParts, type Shutdown } from '@workspace-graph/platform';
import { keepSweeping, SessionSweeps } from '@workspace-graph/service-session';
import { EdgeHttpAdapter, edgeSettings, serveSockets } from '@workspace-graph/surfaces';
import { LateDevice } from './late-device.js';
import { LocalWorkspaceModule } from './local-workspace.module.js';
import { followDatabase, noDatabase } from './lost-database.js';
import { deviceSettings, listen, type StartParts, stateOf } from './serving.js';
import type { LocalWorkspace } from './workspace.handlers.js';
import {
  forgetDatabaseUrl,
  keepDatabaseUrl,
  migrateWithBackup,
  type ServedDatabase,
  serveDatabase,
} from './workspace-database.js';
import type { WorkspaceState } from './workspace-state.js';
import { ensureOwner } from './workspace-token.js';

/** Starts the workspace of one machine: with its database, services, device and surfaces. */
export async function startLocalWorkspace(parts: StartParts): Promise<WorkspaceState> {
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
  shutdown.add('refuse', 'database address', () => forgetDatabaseUrl(paths));
  return stateOf(url, database.dataFolder);
}

interface AppParts extends ProcessParts {
  readonly database: Pick<ServedDatabase, 'url' | 'problem'>;
  readonly device: DeviceSettings;
  readonly workspace: LocalWorkspace;
}

async function createApp({ database, device, workspace, ...process }: AppParts): Promise<NestFastifyApplication> {
  const { config, logger, shutdown } = process;
  const bus = new InProcessBus({ logger });
  shutdown.add('bus', 'bus', () => bus.close());
  const settings = edgeSettings(config);
  const late = new LateDevice();
  const app = await NestFactory.create<NestFastifyApplication>(
    LocalWorkspaceModule.forRoot({
      edge: { ...process, settings, bus: late.over(bus) },
      database: { ...databaseOptions(process, database.url), unavailable: () => noDatabase(database.problem) },
      device: { settings: device, bus, logger },
      workspace,
      ...(config.SVC_WEBVIEW_PROOF ? { live: { webviewProof: config.SVC_WEBVIEW_PROOF.reveal() } } : {}),
    }),
    new EdgeHttpAdapter(settings),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  serveSockets(app);
  late.attach(app, bus, process);
  watchDatabase(app, process);
  return app;
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
