import 'reflect-metadata';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { connectBus, NestLogger, runProcess } from '@workspace-graph/platform';
import { EdgeHttpAdapter, edgeSettings, serveSockets } from '@workspace-graph/surfaces';
import { GatewayModule } from './gateway.module.js';

/** The gateway of a central workspace: credentials, limits and surfaces; everything else is asked over NATS. */
await runProcess('gateway', process.env, async (parts) => {
  const { config, logger, shutdown } = parts;
  const bus = connectBus(parts);
  const settings = edgeSettings(config);
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot({ ...parts, settings, bus }),
    new EdgeHttpAdapter(settings),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  shutdown.add('announce', 'connections', () => endIdleConnections(app, config.SVC_SHUTDOWN_DELAY_MS));
  shutdown.add('drain', 'http', () => app.close());
  serveSockets(app);
  await app.listen(config.SVC_PORT, config.SVC_HOST);
  logger.info({ url: await app.getUrl() }, 'listening');
});

/** Those on which nothing was asked during the delay; every other one was told to close by its answers. */
async function endIdleConnections(app: NestFastifyApplication, delayMs: number): Promise<void> {
  await sleep(delayMs);
  // Requests that have arrived by now are read first, and answered.
  await setImmediate();
  app.getHttpServer().closeIdleConnections();
}
