import 'reflect-metadata';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Bus, NatsBus } from '@workspace-graph/bus';
import {
  type Config,
  ConfigError,
  createProcessLogger,
  createTracing,
  Health,
  keepHeapSmall,
  type Logger,
  loadConfig,
  Metrics,
  NestLogger,
  Shutdown,
} from '@workspace-graph/platform';
import { EdgeHttpAdapter, edgeSettings } from '@workspace-graph/surfaces';
import { GatewayModule } from './gateway.module.js';

/** The gateway of a central workspace: credentials, limits and surfaces; everything else is asked over NATS. */
async function main(config: Config): Promise<void> {
  keepHeapSmall();
  const logger = createProcessLogger('gateway', config);
  const { SVC_SHUTDOWN_DELAY_MS: announceMs, SVC_SHUTDOWN_GRACE_MS: graceMs } = config;
  const shutdown = new Shutdown({ announceMs, graceMs, logger });
  shutdown.listen();
  const metrics = new Metrics();
  const health = new Health(logger);
  shutdown.add('announce', 'readiness', () => health.stop());
  const tracing = await createTracing({
    ...(config.SVC_OTLP_URL ? { url: config.SVC_OTLP_URL } : {}),
    ratio: config.SVC_TRACE_RATIO,
    process: 'gateway',
    logger,
  });
  shutdown.add('last', 'traces', () => tracing.close());
  const bus = connectBus(config, logger);
  shutdown.add('bus', 'bus', () => bus.close());
  health.add('bus', () => bus.status === 'ready');

  const settings = edgeSettings(config);
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot({ settings, bus, logger, metrics, tracing, health, shutdown }),
    new EdgeHttpAdapter(settings),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  shutdown.add('announce', 'connections', () => endIdleConnections(app, announceMs));
  shutdown.add('drain', 'http', () => app.close());
  await app.listen(config.SVC_PORT, config.SVC_HOST);
  logger.info({ url: await app.getUrl() }, 'listening');
}

/** Those on which nothing was asked during the delay; every other one was told to close by its answers. */
async function endIdleConnections(app: NestFastifyApplication, delayMs: number): Promise<void> {
  await sleep(delayMs);
  // Requests that have arrived by now are read first, and answered.
  await setImmediate();
  app.getHttpServer().closeIdleConnections();
}

function connectBus(config: Config, logger: Logger): Bus {
  if (!config.SVC_NATS_URL) throw new ConfigError(['SVC_NATS_URL is required']);
  const password = config.SVC_NATS_PASSWORD?.reveal();
  return NatsBus.connect({
    servers: config.SVC_NATS_URL,
    name: config.SVC_NATS_USER ?? 'gateway',
    logger,
    ...(config.SVC_NATS_USER ? { user: config.SVC_NATS_USER } : {}),
    ...(password ? { password } : {}),
  });
}

try {
  await main(loadConfig('gateway', process.env).config);
} catch (error) {
  process.stderr.write(`gateway cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
