import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { migrateWhenReachable, publishOutbox, watchDatabase } from '@workspace-graph/database';
import {
  connectBus,
  NestLogger,
  required,
  runProcess,
  SERVED_BY_REGISTRY,
  SERVICES,
  serveOperations,
} from '@workspace-graph/platform';
import { keepSweeping, SessionSweeps } from '@workspace-graph/service-session';
import { SessionSvcModule } from './session-svc.module.js';

/** The session service of a central workspace: records and logs of what agents do, and their sweeps. */
await runProcess('session-svc', process.env, async (parts) => {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  if (!(await migrateWhenReachable(url, logger, stopping))) return;
  const bus = connectBus(parts);
  const app = await NestFactory.createMicroservice(
    SessionSvcModule.forRoot(parts, url, () => bus),
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
});
