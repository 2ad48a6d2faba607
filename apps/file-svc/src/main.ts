import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Database, migrateWhenReachable, publishOutbox, watchDatabase } from '@workspace-graph/database';
import {
  connectBus,
  NestLogger,
  required,
  runProcess,
  SERVED_BY_REGISTRY,
  SERVICES,
  serveOperations,
} from '@workspace-graph/platform';
import { removeUnusedCredentials } from '@workspace-graph/service-file/remotes';
import { FileSvcModule } from './file-svc.module.js';
import { openRemotes } from './open-remotes.js';

/** The file service of a central workspace: records of files, and the storages on which they lie. */
await runProcess('file-svc', process.env, async (parts) => {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  const remotes = await openRemotes(parts);
  if (!(await migrateWhenReachable(url, logger, stopping))) return;
  const app = await NestFactory.createMicroservice(FileSvcModule.forRoot(parts, url, remotes), {
    ...SERVED_BY_REGISTRY,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  shutdown.add('stores', 'services', () => app.close());
  const needs = watchDatabase(app, parts);
  const bus = connectBus(parts);
  await serveOperations(app, { ...parts, bus, needs });
  await publishOutbox({ ...parts, bus, url, types: SERVICES['file-svc'].publishes });
  const removed = await removeUnusedCredentials(app.get(Database), remotes.credentials, Date.now());
  if (removed > 0) logger.info({ removed }, 'removed credentials that no remote uses');
});
