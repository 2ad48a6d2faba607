import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { migrateWhenReachable, publishOutbox, watchDatabase } from '@workspace-graph/database';
import {
  connectBus,
  NestLogger,
  OperationRegistry,
  required,
  runProcess,
  serveOperations,
} from '@workspace-graph/platform';
import { GraphSvcModule } from './graph-svc.module.js';

/** The graph service of a central workspace: operations over NATS, truth in PostgreSQL. */
await runProcess('graph-svc', process.env, async (parts) => {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  if (!(await migrateWhenReachable(url, logger, stopping))) return;
  const app = await NestFactory.createApplicationContext(GraphSvcModule.forRoot(parts, url), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  shutdown.add('stores', 'services', () => app.close());
  const needs = watchDatabase(app, parts);
  const bus = connectBus(parts);
  await serveOperations({ ...parts, bus, registry: app.get(OperationRegistry), needs });
  await publishOutbox({ ...parts, bus, url });
});
