import { hostname } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import type { Bus } from '@workspace-graph/bus';
import type { BusEventType } from '@workspace-graph/contracts';
import type { ProcessParts } from '@workspace-graph/platform';
import { Database, type DatabaseOptions } from './database.js';
import type { OutboxMessage } from './outbox/outbox-message.js';
import { OutboxPublisher } from './outbox/outbox-publisher.js';

const CHECK = 'database';

/** The connections of a process, named so that a session of the database shows the instance. */
export function databaseOptions({ name, config, logger }: ProcessParts, url: string): DatabaseOptions {
  return {
    url,
    poolSize: config.SVC_DATABASE_POOL_SIZE,
    applicationName: `${name} ${hostname()} ${process.pid}`,
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  };
}

/** Makes the readiness of a process depend on its database, and measures its pool. Returns the name of the check. */
export function watchDatabase(app: INestApplicationContext, { health, metrics }: ProcessParts): string {
  const database = app.get(Database);
  const { pool } = database;
  health.add(CHECK, () => database.ping());
  metrics.watchPool(CHECK, () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }));
  return CHECK;
}

/** What publishes the events of committed changes. */
export interface OutboxParts extends Pick<ProcessParts, 'logger' | 'shutdown'> {
  readonly url: string;
  readonly bus: Bus;
  /** Those that this process may publish. Default: every type. */
  readonly types?: readonly BusEventType[];
}

/** Publishes the events of committed changes on the bus for as long as the process runs. */
export async function publishOutbox({ url, bus, logger, shutdown, types }: OutboxParts): Promise<void> {
  const publish = (event: OutboxMessage): Promise<void> => bus.publish(event);
  const publisher = new OutboxPublisher({ url, publish, logger, ...(types ? { types } : {}) });
  await publisher.start();
  shutdown.add('drain', 'outbox', () => publisher.stop());
}
