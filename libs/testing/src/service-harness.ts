import { isDeepStrictEqual } from 'node:util';
import type { DynamicModule, INestMicroservice, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type Caller,
  type ErrorCode,
  type InputOf,
  type Operation,
  type OutputOf,
  RawJson,
  type Scope,
  ServiceError,
} from '@workspace-graph/contracts';
import { Database, DatabaseModule } from '@workspace-graph/database';
import { newId, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { applyMigrations } from './database/apply-migrations.js';
import { createTestDatabase } from './database/test-database.js';
import { generateLargeGraph, type LargeGraphOptions, largeGraphName } from './large-graph.js';

/** The scope of a session, by ids of nodes. */
export interface HeldNodes {
  /** Its home node, which it may change. Default: none. */
  readonly home?: string;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/** Services over a database of their own, called the way the bus calls them, with every reply checked against its schema. */
export interface ServiceHarness extends AsyncDisposable {
  /** The services' own database. */
  readonly database: Database;
  /** The running Nest application, to get providers from. */
  readonly module: INestMicroservice;
  /** A user of this database with a caller of the given scope. */
  user(name: string, scope?: Scope): Promise<Caller>;
  /** The caller as an agent whose session holds these nodes. */
  session(caller: Caller, held: HeldNodes): Promise<Caller>;
  /** Calls an operation and answers its parsed output. */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller, callId?: string): Promise<OutputOf<Op>>;
  /** Calls an operation that must be refused; answers the error, and fails when it is accepted or has another code. */
  refusal<Op extends Operation>(operation: Op, input: unknown, caller: Caller, code: ErrorCode): Promise<ServiceError>;
  /** Stops the services and removes the database. */
  close(): Promise<void>;
}

export interface ServicesOptions {
  /** Fills the database with a generated graph; equal sizes share one template. `readLargeGraph` describes it. */
  readonly largeGraph?: Partial<LargeGraphOptions>;
}

/** Starts the given Nest modules over a fresh migrated database. */
export async function startServices(
  modules: readonly (Type | DynamicModule)[],
  { largeGraph }: ServicesOptions = {},
): Promise<ServiceHarness> {
  const testDatabase = await createTestDatabase({
    variant: largeGraph ? largeGraphName(largeGraph) : '',
    migrate: async (url) => {
      await applyMigrations(url);
      if (largeGraph) await generateLargeGraph(url, largeGraph);
    },
  });
  const compiled = await Test.createTestingModule({
    imports: [OperationsModule, DatabaseModule.forRoot({ url: testDatabase.url }), ...modules],
  }).compile();
  const module = compiled.createNestMicroservice(SERVED_BY_REGISTRY);
  module.enableShutdownHooks();
  const database = module.get(Database);
  const registry = module.get(OperationRegistry);
  registry.allowPartial = true;
  registry.validateReplies = true;
  await module.listen();

  const dispatch = async (operation: Operation, input: unknown, caller: Caller, callId: string): Promise<unknown> => {
    const envelope = { callId, requestId: callId, caller };
    const reply = await registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
    return reply instanceof RawJson ? parseWithFacts(operation, reply) : reply;
  };
  const close = async (): Promise<void> => {
    await module.close();
    await testDatabase.drop();
  };
  return {
    database,
    module,
    user: async (name, scope = 'write') => {
      const id = newId();
      await database.prisma.user.create({ data: { id, name, maxScope: scope } });
      return { user_id: id, scope, credential_id: null, via: 'rest' };
    },
    session: (caller, held) => openSession(database, caller, held),
    call: async <Op extends Operation>(operation: Op, input: InputOf<Op>, caller: Caller, callId: string = newId()) =>
      (await dispatch(operation, input, caller, callId)) as OutputOf<Op>,
    refusal: async (operation, input, caller, code) => {
      const error = await dispatch(operation, input, caller, newId()).then(
        () => new Error(`${operation.name} was accepted; ${code} was expected`),
        (reason: unknown) => reason,
      );
      if (!(error instanceof ServiceError) || error.code !== code) throw error;
      return error;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A session as the session service leaves it, for services that read nothing else of one. */
async function openSession(database: Database, caller: Caller, held: HeldNodes): Promise<Caller> {
  const { home = null, read = [], write = [] } = held;
  const id = newId();
  await database.pool.query(
    `INSERT INTO session.session (id, node_id, owner_id, origin, name) VALUES ($1, $2, $3, 'connection', 'Session')`,
    [id, home, caller.user_id],
  );
  const writable = home === null ? write : [home, ...write];
  await database.pool.query(
    `INSERT INTO session.scope (session_id, node_id, access, added_via)
     SELECT $1, n.id, CASE WHEN n.id = ANY ($3::uuid[]) THEN 'write' ELSE 'read' END, 'seed' FROM unnest($2::uuid[]) AS n(id)`,
    [id, [...new Set([...read, ...writable])], writable],
  );
  return { ...caller, via: 'mcp', session_id: id, home_node_id: home };
}

const FACTS = ['version', 'applied', 'token', 'unchanged'] as const;

/** What is told beside an answer must be what the answer says: of the record itself, or of the one that a change answers. */
function parseWithFacts({ name }: Operation, reply: RawJson): unknown {
  const answer: unknown = reply.parse();
  const told = Object.fromEntries(FACTS.map((fact) => [fact, scalarOf(answer, fact)]));
  if (typeof told['applied'] === 'boolean')
    told['version'] = Object.values(answer as object)
      .map((record) => scalarOf(record, 'version'))
      .find(Number.isInteger);
  if (!isDeepStrictEqual({ ...Object.fromEntries(FACTS.map((fact) => [fact, undefined])), ...reply.facts }, told))
    throw new Error(`${name} tells ${JSON.stringify(reply.facts)} of an answer that says ${JSON.stringify(told)}`);
  return answer;
}

function scalarOf(value: unknown, name: string): unknown {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'object' ? undefined : member;
}
