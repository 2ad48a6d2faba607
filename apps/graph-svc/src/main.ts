import 'reflect-metadata';
import { hostname } from 'node:os';
import { NestFactory } from '@nestjs/core';
import { type Bus, NatsBus } from '@workspace-graph/bus';
import { Database, OutboxPublisher } from '@workspace-graph/database';
import {
  type Config,
  ConfigError,
  createProcessLogger,
  createTracing,
  Health,
  keepHeapSmall,
  type Logger,
  loadConfig,
  logOperations,
  Metrics,
  NestLogger,
  OperationRegistry,
  OpsServer,
  observeOperations,
  Shutdown,
} from '@workspace-graph/platform';
import { GraphSvcModule } from './graph-svc.module.js';
import { serveOperations } from './serve-operations.js';
import { migrateWhenReachable } from './wait-for-database.js';

/** The graph service of a central workspace: operations over NATS, truth in PostgreSQL. */
async function main(config: Config): Promise<void> {
  keepHeapSmall();
  const logger = createProcessLogger('graph-svc', config);
  const shutdown = new Shutdown({ graceMs: config.SVC_SHUTDOWN_GRACE_MS, logger });
  const stopping = new AbortController();
  shutdown.add('refuse', 'start', () => stopping.abort());
  shutdown.listen();

  const metrics = new Metrics();
  const health = new Health(logger);
  let wired = false;
  health.add('start', () => wired);
  shutdown.add('refuse', 'readiness', () => health.stop());
  await openOps(config, { health, metrics, shutdown });

  const url = required(config.SVC_DATABASE_URL?.reveal(), 'SVC_DATABASE_URL');
  if (!(await migrateWhenReachable(url, logger, stopping.signal))) return;
  const app = await NestFactory.createApplicationContext(
    GraphSvcModule.forRoot({
      url,
      poolSize: config.SVC_DATABASE_POOL_SIZE,
      // So that a session of the database can be told to an instance.
      applicationName: `graph-svc ${hostname()} ${process.pid}`,
      onIdleError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
    }),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  shutdown.add('stores', 'services', () => app.close());
  const database = app.get(Database);
  health.add('database', () => database.ping());
  metrics.watchPool('database', () => ({
    total: database.pool.totalCount,
    idle: database.pool.idleCount,
    waiting: database.pool.waitingCount,
  }));

  const bus = connectBus(config, logger);
  shutdown.add('bus', 'bus', () => bus.close());
  health.add('bus', () => bus.status === 'ready');

  const registry = app.get(OperationRegistry);
  const tracing = await createTracing({
    ...(config.SVC_OTLP_URL ? { url: config.SVC_OTLP_URL } : {}),
    ratio: config.SVC_TRACE_RATIO,
    process: 'graph-svc',
    logger,
  });
  shutdown.add('last', 'traces', () => tracing.close());
  registry.observe(observeOperations(metrics, tracing));
  registry.observe(logOperations(logger));
  await serveOperations({ bus, registry, health, logger, shutdown });
  await publishEvents({ url, bus, logger, shutdown });
  wired = true;
  logger.info({ owners: registry.owners }, 'serving');
}

async function openOps(
  config: Config,
  { health, metrics, shutdown }: { health: Health; metrics: Metrics; shutdown: Shutdown },
): Promise<void> {
  const ops = await OpsServer.listen({
    host: config.SVC_OPS_HOST,
    port: config.SVC_OPS_PORT,
    health,
    metrics,
    ...(config.SVC_METRICS_TOKEN ? { metricsToken: config.SVC_METRICS_TOKEN } : {}),
  });
  shutdown.add('stores', 'ops server', () => ops.close());
}

function connectBus(config: Config, logger: Logger): Bus {
  const password = config.SVC_NATS_PASSWORD?.reveal();
  return NatsBus.connect({
    servers: required(config.SVC_NATS_URL, 'SVC_NATS_URL'),
    name: config.SVC_NATS_USER ?? 'graph-svc',
    logger,
    ...(config.SVC_NATS_USER ? { user: config.SVC_NATS_USER } : {}),
    ...(password ? { password } : {}),
  });
}

async function publishEvents({
  url,
  bus,
  logger,
  shutdown,
}: {
  url: string;
  bus: Bus;
  logger: Logger;
  shutdown: Shutdown;
}): Promise<void> {
  const publisher = new OutboxPublisher({ url, publish: (event) => bus.publish(event), logger });
  await publisher.start();
  shutdown.add('drain', 'outbox', () => publisher.stop());
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ConfigError([`${name} is required`]);
  return value;
}

try {
  await main(loadConfig('graph-svc', process.env).config);
} catch (error) {
  process.stderr.write(`graph-svc cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
