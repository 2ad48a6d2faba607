import 'reflect-metadata';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InProcessBus } from '@workspace-graph/bus';
import type { Envelope, Operation, Owner } from '@workspace-graph/contracts';
import { createLogger, Health, Metrics, NO_TRACING, Shutdown, type Tracing } from '@workspace-graph/platform';
import { EdgeHttpAdapter, EdgeModule, type EdgeSettings, RestModule } from '../../src/index.js';
import { FakeIdentity, type FakeToken } from './fake-identity.js';

export type Dispatched = (operation: Operation, input: unknown, envelope: Envelope, signal: AbortSignal) => unknown;

export interface EdgeHarnessOptions {
  readonly settings?: Partial<EdgeSettings>;
  /** Carries out operations, all but the check of credentials. */
  readonly dispatch?: Dispatched;
  readonly tracing?: Tracing;
  /** Whose operations `dispatch` carries out, every owner's unless told. */
  readonly owners?: readonly Owner[];
  /** More modules or controllers of the application. */
  readonly imports?: (DynamicModule | Type<unknown>)[];
  readonly controllers?: Type<unknown>[];
}

export interface EdgeHarness {
  readonly url: string;
  readonly port: number;
  readonly bus: InProcessBus;
  readonly identity: FakeIdentity;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly shutdown: Shutdown;
  readonly app: NestFastifyApplication;
  /** Lines of the log. */
  readonly log: string[];
  readonly tokens: { readonly read: FakeToken; readonly write: FakeToken; readonly manage: FakeToken };
  fetch(path: string, init?: RequestInit & { readonly token?: FakeToken | string }): Promise<Response>;
  close(): Promise<void>;
}

const SETTINGS: EdgeSettings = {
  allowedHosts: [],
  allowedOrigins: [],
  trustedProxies: [],
  requestsPerMinute: 0,
};

/** The edge and the REST surface on a free port, over an in-process bus with a fake identity service. */
export async function startEdge(options: EdgeHarnessOptions = {}): Promise<EdgeHarness> {
  const log: string[] = [];
  const logger = createLogger({ process: 'test', level: 'debug', sink: { write: (line) => void log.push(line) } });
  const bus = new InProcessBus({ logger });
  const identity = new FakeIdentity();
  await serveFakes(bus, identity, options);
  const settings = { ...SETTINGS, ...options.settings };
  const health = new Health(logger);
  const metrics = new Metrics({ process: false });
  const shutdown = new Shutdown({ graceMs: 2_000, announceMs: 10_000, logger, exit: () => undefined });
  const parts = { settings, bus, logger, metrics, health, shutdown, tracing: options.tracing ?? NO_TRACING };

  @Module({
    imports: [EdgeModule.forRoot(parts), RestModule.forRoot({ version: '0.1.0' }), ...(options.imports ?? [])],
    controllers: options.controllers ?? [],
  })
  class AppModule {}

  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new EdgeHttpAdapter(settings), {
    logger: false,
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1').catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  const url = await app.getUrl();
  const tokens = {
    read: identity.createToken('read'),
    write: identity.createToken('write'),
    manage: identity.createToken('manage'),
  };
  return {
    url,
    port: Number(new URL(url).port),
    bus,
    identity,
    health,
    metrics,
    shutdown,
    app,
    log,
    tokens,
    fetch: (path, { token, headers, ...init } = {}) =>
      fetch(url + path, { ...init, headers: { ...bearer(token), ...(headers as Record<string, string>) } }),
    close: async () => {
      await app.close();
      await bus.close();
    },
  };
}

async function serveFakes(
  bus: InProcessBus,
  identity: FakeIdentity,
  { dispatch, owners }: EdgeHarnessOptions,
): Promise<void> {
  const { OPERATIONS, OWNERS, ServiceError } = await import('@workspace-graph/contracts');
  const operations = [...OPERATIONS.values()];
  const graph: Dispatched =
    dispatch ??
    (() => {
      throw new ServiceError('NODE_NOT_FOUND', 'There is no such node.');
    });
  const isAuthentication = (operation: Operation): boolean => operation.name === 'authenticate';
  for (const owner of owners ?? OWNERS) {
    const own = operations.filter((operation) => operation.owner === owner);
    await bus.serve(owner, own, async (operation, input, { envelope, signal }) =>
      isAuthentication(operation) ? identity.dispatch(operation, input) : graph(operation, input, envelope, signal),
    );
  }
}

function bearer(token: FakeToken | string | undefined): Record<string, string> {
  if (token === undefined) return {};
  return { authorization: `Bearer ${typeof token === 'string' ? token : token.text}` };
}
