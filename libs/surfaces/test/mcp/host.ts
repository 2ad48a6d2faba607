import 'reflect-metadata';
import type { IncomingMessage, Server } from 'node:http';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InProcessBus } from '@workspace-graph/bus';
import { authenticate, OPERATIONS, type Operation, type Owner } from '@workspace-graph/contracts';
import { createLogger, Health, Metrics, NO_TRACING } from '@workspace-graph/platform';
import { EdgeHttpAdapter, EdgeModule, type EdgeSettings } from '../../src/edge/index.js';
import { McpModule, type McpModuleOptions, McpService } from '../../src/mcp/index.js';
import { FakeIdentity, tokenOf } from './fake-identity.js';
import { SmallGraph } from './small-graph.js';

const SETTINGS: EdgeSettings = {
  allowedHosts: [],
  allowedOrigins: [],
  trustedProxies: [],
  requestsPerMinute: 0,
};

/** The edge and the MCP surface in a Nest application on a free port, over the in-process bus and the small graph. */
export interface McpHost {
  readonly url: URL;
  readonly graph: SmallGraph;
  readonly bus: InProcessBus;
  readonly identity: FakeIdentity;
  readonly service: McpService;
  /** From now on requests without a credential carry this one. */
  letIn(name: string): void;
  close(): Promise<void>;
}

export async function startHost(options: McpModuleOptions = {}): Promise<McpHost> {
  const logger = createLogger({ process: 'test', level: 'fatal' });
  const bus = new InProcessBus({ logger });
  const graph = new SmallGraph();
  const identity = new FakeIdentity(bus);
  await bus.serve('graph', operationsOf('graph'), graph.dispatch);
  await bus.serve('identity', operationsOf('identity'), (operation, input, context) =>
    (operation.name === authenticate.name ? identity : graph).dispatch(operation, input, context),
  );
  const parts = {
    settings: SETTINGS,
    bus,
    logger,
    metrics: new Metrics({ process: false }),
    tracing: NO_TRACING,
    health: new Health(logger),
    shutdown: { leaving: false, stopping: false },
  };

  @Module({ imports: [EdgeModule.forRoot(parts), McpModule.forRoot(options)] })
  class AppModule {}

  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new EdgeHttpAdapter(SETTINGS), {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  return {
    url: new URL('/mcp', await app.getUrl()),
    graph,
    bus,
    identity,
    service: app.get(McpService, { strict: false }),
    letIn: (name) => letIn(app.getHttpServer(), name),
    close: async () => {
      await app.close();
      await bus.close();
    },
  };
}

function operationsOf(owner: Owner): readonly Operation[] {
  return [...OPERATIONS.values()].filter((operation) => operation.owner === owner);
}

function letIn(server: Server, name: string): void {
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    headers.authorization ??= `Bearer ${tokenOf(name)}`;
  });
}
