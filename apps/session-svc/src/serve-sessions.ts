import { NestFactory } from '@nestjs/core';
import { migrateWhenReachable, publishOutbox, watchDatabase } from '@workspace-graph/database';
import {
  connectBus,
  NestLogger,
  required,
  SERVED_BY_REGISTRY,
  SERVICES,
  type ServiceParts,
  serveOperations,
} from '@workspace-graph/platform';
import { keepSweeping, type SessionModuleOptions, SessionSweeps } from '@workspace-graph/service-session';
import { SessionSvcModule } from './session-svc.module.js';

/** Serves the operations and sweeps of sessions from now on. `runs`: default as for the module, none is reached. */
export async function serveSessions(
  parts: ServiceParts,
  options: Pick<SessionModuleOptions, 'runs'> = {},
): Promise<void> {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  if (!(await migrateWhenReachable(url, logger, stopping))) return;
  const bus = connectBus(parts);
  const app = await NestFactory.createMicroservice(
    SessionSvcModule.forRoot(parts, url, { ...options, bus: () => bus }),
    {
      ...SERVED_BY_REGISTRY,
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  shutdown.add('stores', 'services', () => app.close());
  const needs = watchDatabase(app, parts);
  await serveOperations(app, { ...parts, bus, needs });
  await publishOutbox({ ...parts, bus, url, types: SERVICES['session-svc'].publishes });
  keepSweeping(app.get(SessionSweeps), parts);
}
