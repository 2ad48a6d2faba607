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
  createToken,
  createUser,
  type InputOf,
  listSessionEvents,
  OPERATIONS,
  type Operation,
  type OutputOf,
  RawJson,
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
import { SessionModule } from '@workspace-graph/service-session';
import { EdgeHttpAdapter, EdgeModule, McpModule, RestModule, serveSockets, WsModule } from '@workspace-graph/surfaces';
import { listenForWord } from './control.js';
import { textOf } from './event-texts.js';
import { answerCalls } from './helper.js';
import { keepWriting, type Written } from './keep-writing.js';
import { type Held, heldNow } from './memory-held.js';

/** A person with a credential. */
export interface Person {
  readonly token: string;
  readonly caller: Caller;
}

/** A session with the run that writes its log. */
export interface Writer {
  readonly sessionId: string;
  readonly runId: string;
  readonly caller: Caller;
}

/** A call of an operation on behalf of somebody. */
export interface AskedCall {
  readonly operation: string;
  readonly input: unknown;
  readonly caller: Caller;
}

const SETTINGS = { allowedHosts: [], allowedOrigins: [], trustedProxies: [], requestsPerMinute: 0 };
const CLIENT = { name: 'bench', title: null, version: '1' };

let app: NestFastifyApplication;
let registry: OperationRegistry;

const product = {
  /** A workspace in one process, as far as sessions need it: services, outbox, REST, MCP and the live channel. */
  start: async ({
    databaseUrl,
    poolSize,
    recordsSessions,
  }: {
    databaseUrl: string;
    poolSize: number;
    recordsSessions: boolean;
  }) => {
    const logger = createLogger({ process: 'bench', level: 'error' });
    const bus = new InProcessBus({ logger });
    const shutdown = new Shutdown({ graceMs: 2_000, logger, exit: () => undefined });
    const metrics = new Metrics({ process: false });
    const parts = {
      settings: SETTINGS,
      bus,
      logger,
      metrics,
      health: new Health(logger),
      shutdown,
      tracing: NO_TRACING,
    };
    class ProductModule {}
    Module({
      imports: [
        EdgeModule.forRoot(parts),
        RestModule.forRoot({ version: '0' }),
        McpModule.forRoot({ recordsSessions }),
        WsModule.forRoot(),
        OperationsModule,
        DatabaseModule.forRoot({ url: databaseUrl, poolSize }),
        GraphModule,
        IdentityModule,
        SessionModule.forRoot({ bus: () => bus }),
      ],
    })(ProductModule);
    app = await NestFactory.create<NestFastifyApplication>(ProductModule, new EdgeHttpAdapter(SETTINGS), {
      logger: false,
    });
    serveSockets(app);
    registry = app.get(OperationRegistry);
    registry.bus = bus;
    registry.allowPartial = true;
    app.connectMicroservice(SERVED_BY_REGISTRY);
    await app.startAllMicroservices();
    await publishOutbox({ url: databaseUrl, bus, logger, shutdown });
    await app.listen(0, '127.0.0.1');
    const controlUrl = await listenForWord(async (word) => void (await appendOne(JSON.parse(word) as Said)));
    return { url: await app.getUrl(), controlUrl };
  },

  /** The first administrator of the database. */
  administrator: async (_input: null): Promise<Person> => {
    const { secret } = await bootstrapAdministrator(app.get(Database), { name: 'Ada', label: 'bench' });
    const id = randomUUID();
    const credential = { kind: 'token', sha256: hash('sha256', secret, 'hex') } as const;
    const envelope = { callId: id, requestId: id, caller: null };
    const reply = await registry.dispatch(
      authenticate,
      { credential },
      { envelope, signal: new AbortController().signal },
    );
    return { token: secret, caller: { ...(reply as OutputOf<typeof authenticate>).caller, via: 'rest' } };
  },

  people: async ({ count, administrator }: { count: number; administrator: Caller }): Promise<Person[]> => {
    const people: Person[] = [];
    for (let index = 0; index < count; index++) {
      const { id } = await call(createUser, { name: `Person ${index}`, max_scope: 'write' }, administrator);
      const made = await call(createToken, { user_id: id, scope: 'write', label: 'bench' }, administrator);
      people.push({
        token: made.secret,
        caller: { user_id: id, scope: 'write', credential_id: made.token.id, via: 'rest' },
      });
    }
    return people;
  },

  /** Agents that connect at a node, one after the other. */
  connect: async ({ count, nodeId, caller }: { count: number; nodeId: string; caller: Caller }): Promise<Writer[]> => {
    const writers: Writer[] = [];
    for (let index = 0; index < count; index++) {
      const runId = randomUUID();
      const input = { run_id: runId, holder: 'bench', client: CLIENT, node_id: nodeId };
      const { session } = await call(connectSession, input, caller);
      writers.push({ sessionId: session.id, runId, caller });
    }
    return writers;
  },

  /** Each writer reports again as soon as it is answered, until the time is over. */
  append: ({ writers, batch, forMs }: { writers: readonly Writer[]; batch: number; forMs: number }): Promise<Written> =>
    keepWriting(writers, forMs, batch, (writer, first) =>
      report(
        writer,
        Array.from({ length: batch }, (_none, index) => textOf(first + index)),
      ),
    ),

  /** Reads a whole log by pages. @returns how long that took */
  readAll: async ({
    sessionId,
    limit,
    caller,
  }: {
    sessionId: string;
    limit: number;
    caller: Caller;
  }): Promise<number> => {
    const beganMs = performance.now();
    let page: string;
    let after = 0;
    do {
      page = String(
        await callByName({ operation: listSessionEvents.name, input: { session_id: sessionId, after, limit }, caller }),
      );
      after = lastSeqIn(page);
    } while (after < Number(page.slice(page.lastIndexOf(':') + 1, -1)));
    return performance.now() - beganMs;
  },

  /** Carries two calls out in turns. Answers how long each took, the first ones of both left out. */
  compare: async ({ calls, forMs }: { calls: readonly (readonly [AskedCall, AskedCall])[]; forMs: number }) => {
    const took: [number[], number[]] = [[], []];
    const startedMs = performance.now();
    for (let turn = 0; performance.now() - startedMs < forMs || turn < 2 * calls.length; turn++) {
      const pair = calls[turn % calls.length];
      if (!pair) throw new Error('There is nothing to compare');
      const order = turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      for (const side of order) {
        const beganMs = performance.now();
        await callByName(pair[side]);
        if (turn >= calls.length) took[side].push(performance.now() - beganMs);
      }
    }
    return took.map((each) => Float64Array.from(each));
  },

  held: (_input: null): Promise<Held> => heldNow(),
};

export type ProductCalls = typeof product;

interface Said {
  readonly writer: Writer;
  readonly text: string;
}

async function appendOne({ writer, text }: Said): Promise<void> {
  await report(writer, [text]);
}

async function report({ sessionId, runId, caller }: Writer, texts: readonly string[]): Promise<void> {
  const events = texts.map((text) => ({ id: randomUUID(), kind: 'assistant_message', payload: { text } }));
  type Input = InputOf<typeof appendSessionEvents>;
  const input: Input = { session_id: sessionId, run_id: runId, events };
  await call(appendSessionEvents, input, caller);
}

async function call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller): Promise<OutputOf<Op>> {
  const id = randomUUID();
  const envelope = { callId: id, requestId: id, caller };
  const reply = await registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
  return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
}

/** The answer stays the text that it is, as on its way to a surface. */
async function callByName({ operation: name, input, caller }: AskedCall): Promise<unknown> {
  const operation = OPERATIONS.get(name);
  if (!operation) throw new Error(`There is no operation ${name}`);
  const id = randomUUID();
  const envelope = { callId: id, requestId: id, caller };
  const reply = await registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
  return reply instanceof RawJson ? reply.text : reply;
}

/** Of the last event of a page, which stays the text that a surface passes on. */
function lastSeqIn(page: string): number {
  const at = page.lastIndexOf('{"seq" : ');
  if (at < 0) throw new Error('A page has no event');
  return Number.parseInt(page.slice(at + '{"seq" : '.length), 10);
}

answerCalls(product);
