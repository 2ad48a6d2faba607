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
import { GraphSvcModule } from './graph-svc.module.js';

/** The graph service of a central workspace: operations over NATS, truth in PostgreSQL. */
await runProcess('graph-svc', process.env, async (parts) => {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  if (!(await migrateWhenReachable(url, logger, stopping))) return;
  const app = await NestFactory.createMicroservice(GraphSvcModule.forRoot(parts, url), {
    ...SERVED_BY_REGISTRY,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  shutdown.add('stores', 'services', () => app.close());
  const needs = watchDatabase(app, parts);
  const bus = connectBus(parts);
  await serveOperations(app, { ...parts, bus, needs });
  await publishOutbox({ ...parts, bus, url, types: SERVICES['graph-svc'].publishes });
});
