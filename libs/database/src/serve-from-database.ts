import type { DynamicModule, INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Bus } from '@workspace-graph/bus';
import type { BusEventType } from '@workspace-graph/contracts';
import {
  connectBus,
  NestLogger,
  required,
  SERVED_BY_REGISTRY,
  type ServiceParts,
  serveOperations,
} from '@workspace-graph/platform';
import { migrateWhenReachable } from './migrate/index.js';
import { publishOutbox, watchDatabase } from './process-database.js';

export interface DatabaseService {
  /** What carries the operations out, over a database and with the bus of the process. */
  readonly module: (databaseUrl: string, bus: Bus) => DynamicModule;
  /** Events that it publishes after the commits. */
  readonly publishes: readonly BusEventType[];
}

/**
 * Serves operations over the database of a process, which is brought to its level first, and publishes the events of its
 * changes, until the process stops. @returns null when the process was asked to stop before the database was reached
 */
export async function serveFromDatabase(
  parts: ServiceParts,
  { module, publishes }: DatabaseService,
): Promise<INestMicroservice | null> {
  const { config, logger, shutdown, stopping } = parts;
  const url = required(config, 'SVC_DATABASE_URL').reveal();
  if (!(await migrateWhenReachable(url, logger, stopping))) return null;
  const bus = connectBus(parts);
  const app = await NestFactory.createMicroservice(module(url, bus), {
    ...SERVED_BY_REGISTRY,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  shutdown.add('stores', 'services', () => app.close());
  const needs = watchDatabase(app, parts);
  await serveOperations(app, { ...parts, bus, needs });
  await publishOutbox({ ...parts, bus, url, types: publishes });
  return app;
}
