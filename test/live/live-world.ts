import 'reflect-metadata';
import { hash, randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InProcessBus } from '@workspace-graph/bus';
import {
  appendSessionEvents,
  authenticate,
  type Caller,
  connectSession,
  createNode,
  createToken,
  createUser,
  type InputOf,
  type Operation,
  type OutputOf,
  RawJson,
  type Scope,
} from '@workspace-graph/contracts';
import { Database, DatabaseModule, publishOutbox } from '@workspace-graph/database';
import {
  createLogger,
  Health,
  Metrics,
  NO_TRACING,
  OperationRegistry,
  OperationsModule,
  SERVED_BY_REGISTRY,
  Shutdown,
} from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { bootstrapAdministrator, IdentityModule } from '@workspace-graph/service-identity';
import { SessionModule, SessionSweeps } from '@workspace-graph/service-session';
import { ScriptedRuns } from '@workspace-graph/service-session/testing';
import {
  EdgeHttpAdapter,
  EdgeModule,
  McpModule,
  type McpSettings,
  RestModule,
  serveSockets,
  WsModule,
  type WsModuleOptions,
} from '@workspace-graph/surfaces';
import { applyMigrations, createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import { LiveClient } from './live-client.js';

/** Somebody with a credential. */
export interface Person {
  readonly id: string;
  readonly token: string;
  readonly tokenId: string;
  readonly caller: Caller;
}

/** How the surfaces of a world are set up. */
export interface LiveWorldOptions extends WsModuleOptions {
  readonly mcp?: Partial<McpSettings>;
}

const SETTINGS = { allowedHosts: [], allowedOrigins: [], trustedProxies: [], requestsPerMinute: 0 };

/** Everything of a workspace that sessions need, in this process: services, outbox, REST and the live channel. */
export class LiveWorld implements AsyncDisposable {
  readonly runs = new ScriptedRuns();
  readonly log: string[] = [];
  url = '';
  admin!: Person;
  app!: NestFastifyApplication;
  bus!: InProcessBus;
  private metrics!: Metrics;
  private clients: LiveClient[] = [];
  private shutdown!: Shutdown;
  private readonly logger = createLogger({
    process: 'test',
    level: 'warn',
    sink: { write: (line) => void this.log.push(line) },
  });

  private constructor(
    private readonly testDatabase: TestDatabase,
    private readonly options: LiveWorldOptions,
  ) {}

  static async start(options: LiveWorldOptions = {}): Promise<LiveWorld> {
    const world = new LiveWorld(await createTestDatabase({ migrate: applyMigrations }), options);
    await world.serve();
    world.admin = await world.administrator();
    return world;
  }

  /** Ends everything but the database, and begins again as the only process does: what ran before is suspended. */
  async restart(): Promise<void> {
    await this.end();
    await this.serve();
    await this.app.get(SessionSweeps).suspendRunsOfOthers([]);
    this.runs.live.clear();
  }

  /** A number of the metrics. */
  async metric(name: string): Promise<number> {
    const text = await this.metrics.text();
    return Number(new RegExp(`^\\S*${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  }

  get database(): Database {
    return this.app.get(Database);
  }

  async person(name: string, scope: Scope): Promise<Person> {
    const { id } = await this.call(createUser, { name, max_scope: scope }, this.admin.caller);
    const { secret, token } = await this.call(createToken, { user_id: id, scope, label: name }, this.admin.caller);
    return {
      id,
      token: secret,
      tokenId: token.id,
      caller: { user_id: id, scope, credential_id: token.id, via: 'rest' },
    };
  }

  node(name: string, visibility: 'everyone' | 'private' = 'everyone'): Promise<OutputOf<typeof createNode>> {
    return this.call(createNode, { type: 'organization', name, visibility }, this.admin.caller);
  }

  /** Calls an operation over the bus, as a surface does. */
  async call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller): Promise<OutputOf<Op>> {
    const id = randomUUID();
    const reply = await this.bus.call(operation, input, { callId: id, requestId: id, caller });
    return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
  }

  async connect(nodeId: string | undefined, owner: Person): Promise<{ readonly id: string; readonly runId: string }> {
    const run_id = randomUUID();
    const client = { name: 'test-agent', title: null, version: '1' };
    const input = { run_id, holder: 'test', client, ...(nodeId ? { node_id: nodeId } : {}) };
    const { session } = await this.call(connectSession, input, owner.caller);
    return { id: session.id, runId: run_id };
  }

  /** Appends messages of an agent; answers the last seq. */
  async say(
    session: { readonly id: string; readonly runId: string },
    owner: Person,
    ...texts: string[]
  ): Promise<number> {
    const events = texts.map((text) => ({ id: randomUUID(), kind: 'assistant_message', payload: { text } }));
    const input = { session_id: session.id, run_id: session.runId, events: events as never };
    return (await this.call(appendSessionEvents, input, owner.caller)).last_seq;
  }

  async client(person: Person | string, headers: Record<string, string> = {}): Promise<LiveClient> {
    const client = await LiveClient.open(this.url, typeof person === 'string' ? person : person.token, headers);
    this.clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.testDatabase.drop();
  }

  private async end(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client[Symbol.asyncDispose]()));
    await this.shutdown.begin('the test is over');
    await this.app.close();
    await this.bus.close();
  }

  private async serve(): Promise<void> {
    const { logger, runs, options } = this;
    const shutdown = new Shutdown({ graceMs: 2_000, logger, exit: () => undefined });
    const bus = new InProcessBus({ logger });
    const metrics = new Metrics({ process: false });
    Object.assign(this, { bus, shutdown, metrics });
    const parts = {
      settings: SETTINGS,
      bus,
      logger,
      metrics,
      health: new Health(logger),
      shutdown,
      tracing: NO_TRACING,
    };
    const { url } = this.testDatabase;

    @Module({
      imports: [
        EdgeModule.forRoot(parts),
        RestModule.forRoot({ version: '0' }),
        McpModule.forRoot({ recordsSessions: true, settings: options.mcp ?? {} }),
        WsModule.forRoot({ ...options, hasFolders: true }),
        OperationsModule,
        DatabaseModule.forRoot({ url }),
        GraphModule,
        IdentityModule,
        SessionModule.forRoot({ runs, bus: () => bus }),
      ],
    })
    class LiveWorldModule {}

    this.app = await NestFactory.create<NestFastifyApplication>(LiveWorldModule, new EdgeHttpAdapter(SETTINGS), {
      logger: false,
    });
    serveSockets(this.app);
    const registry = this.app.get(OperationRegistry);
    registry.bus = bus;
    registry.allowPartial = true;
    this.app.connectMicroservice(SERVED_BY_REGISTRY);
    await this.app.startAllMicroservices();
    await publishOutbox({ url, bus, logger, shutdown });
    await this.app.listen(0, '127.0.0.1');
    this.url = await this.app.getUrl();
  }

  private async administrator(): Promise<Person> {
    const { secret } = await bootstrapAdministrator(this.database, { name: 'Ada', label: 'first' });
    const id = randomUUID();
    const system = { callId: id, requestId: id, caller: null };
    const reply = await this.bus.call(
      authenticate,
      { credential: { kind: 'token', sha256: hash('sha256', secret, 'hex') } },
      system,
    );
    const { caller } = (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<typeof authenticate>;
    return {
      id: caller.user_id,
      token: secret,
      tokenId: caller.credential_id ?? '',
      caller: { ...caller, via: 'rest' },
    };
  }
}
