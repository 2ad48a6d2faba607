import { Injectable } from '@nestjs/common';
import type { AsyncMicroserviceOptions, CustomTransportStrategy } from '@nestjs/microservices';
import type { Bus, Serving } from '@workspace-graph/bus';
import {
  type Caller,
  centralOperationsOf,
  type Envelope,
  hasUnknownFields,
  NOBODY_ID,
  OPERATIONS,
  type Operation,
  type Owner,
  operationsOf,
  RawJson,
  type Reached,
  reachedBy,
  readInput,
  type Scope,
  ServiceError,
  scopeIncludes,
} from '@workspace-graph/contracts';
import type { Handled, HandlerOptions, OperationContext } from './handles.decorator.js';

interface Handler extends HandlerOptions {
  readonly run: (input: unknown, context: OperationContext) => Promise<unknown>;
}

/** Wraps every operation that is carried out, for metrics and traces. */
export type OperationObserver = (
  operation: Operation,
  context: OperationContext,
  run: () => Promise<unknown>,
) => Promise<unknown>;

/** Knows the scopes of agents' sessions. */
export interface SessionScopes {
  /**
   * Looks at what a call of a session names. Answers the home node of the session.
   * @throws ServiceError scope_expansion_required, SESSION_NOT_FOUND, NO_LIVE_RUN
   */
  admit(caller: Caller & { readonly session_id: string }, reached: readonly Reached[]): Promise<string | null>;
}

/** The node of something that the databases do not know; null when it is not there. */
export type NodeFinder = (id: string) => string | null;

const SYSTEM_CALLER: Caller = {
  user_id: NOBODY_ID,
  scope: 'manage',
  credential_id: null,
  via: 'system',
};

/**
 * Nest's transport of every `@Handles` method: takes the handlers, serves each owner on the bus, and carries operations
 * out: tier, input schema, handler.
 */
@Injectable()
export class OperationRegistry implements CustomTransportStrategy {
  private readonly handlers = new Map<string, Handler>();
  private observers: OperationObserver[] = [];
  /** What the bus serves of it, from the moment that Nest listens. */
  readonly servings: Serving[] = [];
  /** Carries the operations once Nest listens. Without one, `dispatch` alone reaches them; for tests. */
  bus: Pick<Bus, 'serve'> | null = null;
  /** Where the scopes of sessions are kept. Without it, a call of a session that names something is refused. */
  scopes: SessionScopes | null = null;
  private readonly finders = new Map<Reached['kind'], NodeFinder>();
  /** Checks replies against their schema; for tests. */
  validateReplies = false;
  /** Operations of its owners that this process does not offer. */
  leftOut: readonly Operation[] = [];
  /** Boots although operations of an owner have no handler; for tests of a part. */
  allowPartial = false;

  /** Owners with at least one handler here. */
  get owners(): readonly Owner[] {
    return [...new Set(this.operations.map((operation) => operation.owner))];
  }

  /** The operations handled here. */
  get operations(): readonly Operation[] {
    return [...OPERATIONS.values()].filter((operation) => this.handlers.has(operation.name));
  }

  observe(observer: OperationObserver): void {
    this.observers = [...this.observers, observer];
  }

  /** Finds the nodes of what this process keeps itself. */
  find(kind: Reached['kind'], finder: NodeFinder): void {
    this.finders.set(kind, finder);
  }

  /** Called by Nest for each method with a pattern. @throws Error for a second handler, and for one of no operation */
  addHandler(name: string, run: Handler['run'], _isEvent: boolean, { operation, options }: Partial<Handled>): void {
    if (!operation || OPERATIONS.get(name) !== operation)
      throw new Error(`Operation ${name} is not in the table of operations`);
    if (this.handlers.has(name)) throw new Error(`Operation ${name} has two handlers`);
    this.handlers.set(name, { ...options, run });
  }

  /** Called by Nest when every handler is known; `done` learns what is in the way. */
  listen(done: (error?: unknown) => void): void {
    this.serve().then(() => done(), done);
  }

  /** Called by Nest before the modules of a microservice end. Resolves when the calls under way are answered. */
  async close(): Promise<void> {
    await Promise.all(this.servings.map((serving) => serving.stop()));
  }

  readonly dispatch = async (
    operation: Operation,
    input: unknown,
    call: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<unknown> => {
    const handler = this.handlers.get(operation.name);
    if (!handler) throw new ServiceError('SERVICE_UNAVAILABLE', `Operation ${operation.name} is not served here.`);
    const admitted = admit(operation, call.envelope.caller);
    const parsed = parseInput(operation, input, handler);
    const { signal } = call;
    const contextFor = (caller: Caller): OperationContext => {
      const envelope = caller === admitted ? call.envelope : { ...call.envelope, caller };
      return { operation, input: parsed, envelope, caller, signal };
    };
    // Asked first: what runs beside it may hold a connection to the database while it waits for the outcome.
    const decision = this.withinScope(operation, parsed, admitted);
    const ahead =
      handler.besideScope && admitted.session_id ? runAhead(handler, parsed, contextFor(admitted), decision) : null;
    const context = contextFor(await decision);
    const run = this.observers.reduceRight<() => Promise<unknown>>(
      (next, observer) => () => observer(operation, context, next),
      () => ahead ?? handler.run(parsed, context),
    );
    const reply = await run();
    if (this.validateReplies) checkReply(operation, reply);
    return reply;
  };

  private async serve(): Promise<void> {
    if (!this.allowPartial) this.refuseUnwired();
    if (!this.bus) return;
    for (const owner of this.owners) {
      const operations = this.operations.filter((operation) => operation.owner === owner);
      this.servings.push(await this.bus.serve(owner, operations, this.dispatch));
    }
  }

  /** The one place in which the scope of an agent's session limits what an operation reaches. */
  private async withinScope(operation: Operation, input: unknown, caller: Caller): Promise<Caller> {
    const { session_id } = caller;
    if (!session_id || operation.reach === 'internal' || !needsSession(operation)) return caller;
    if (!this.scopes) throw new Error(`The scopes of sessions are not known here, which ${operation.name} needs`);
    // A handler that does the same for any input does nothing with what it names.
    const reached = input === undefined ? [] : reachedBy(operation, input as Readonly<Record<string, unknown>>);
    const home = await this.scopes.admit(
      { ...caller, session_id },
      reached.flatMap((one) => this.placed(one)),
    );
    return { ...caller, home_node_id: home };
  }

  private placed(reached: Reached): Reached[] {
    const finder = this.finders.get(reached.kind);
    if (!finder) return [reached];
    const id = finder(reached.id);
    return id === null ? [] : [{ ...reached, kind: 'node', id }];
  }

  private refuseUnwired(): void {
    // Who carries out something that only a workstation can is one.
    const isWorkstation = this.operations.some(({ owner, atCentre }) => owner === 'device' && !atCentre);
    const operations = isWorkstation ? operationsOf(this.owners) : centralOperationsOf(this.owners);
    const missing = operations.filter(
      (operation) => !this.handlers.has(operation.name) && !this.leftOut.includes(operation),
    );
    if (missing.length > 0)
      throw new Error(`Operations without a handler: ${missing.map((operation) => operation.name).join(', ')}`);
  }
}

/**
 * Refuses a caller below the operation's tier. Internal operations are for our own processes, whoever they act for; no
 * call without a caller comes from another process, which the bus sees to.
 */
function admit(operation: Operation, caller: Caller | null): Caller {
  if (operation.tier === 'internal') return caller ?? SYSTEM_CALLER;
  if (!caller || caller.service !== undefined)
    throw new ServiceError('UNAUTHENTICATED', 'This operation needs a credential.');
  if (operation.tier === 'device' && caller.device_id === undefined)
    throw new ServiceError('FORBIDDEN', 'Only devices may call this operation.');
  const required = scopeOf(operation);
  if (!scopeIncludes(caller.scope, required))
    throw new ServiceError('FORBIDDEN', `This needs the scope ${required}.`, { required_scope: required });
  return caller;
}

/** Begins what nobody may ever ask for the outcome of. A change that did not wait for the decision is a fault of its handler. */
function runAhead(
  { run }: Handler,
  input: unknown,
  context: OperationContext,
  decision: Promise<unknown>,
): Promise<unknown> {
  let hasWaited = context.operation.readOnly;
  const admission = async (): Promise<void> => {
    hasWaited = true;
    await decision;
  };
  const outcome = run(input, { ...context, admission }).then((reply) => {
    if (!hasWaited) throw new Error(`${context.operation.name} has changed something before the scope admitted it`);
    return reply;
  });
  outcome.catch(() => undefined);
  return outcome;
}

/** Whether a call within a session concerns it: reads of what no node holds go by permission alone. */
function needsSession({ reach, readOnly }: Operation): boolean {
  return !readOnly || Object.keys(reach).length > 0;
}

function scopeOf({ tier, readOnly }: Operation): Scope {
  if (tier === 'read' || tier === 'write' || tier === 'manage') return tier;
  return readOnly ? 'read' : 'write';
}

/** A field that no operation knows is a mistake of the caller, whatever the handler makes of the others. */
function parseInput(operation: Operation, input: unknown, { anyInput = false }: HandlerOptions): unknown {
  if (anyInput && !hasUnknownFields(operation.input, input)) return undefined;
  return readInput(operation.input, input);
}

function checkReply(operation: Operation, reply: unknown): void {
  const value = reply instanceof RawJson ? reply.parse() : reply;
  const result = operation.output.safeParse(value);
  if (!result.success)
    throw new Error(`The reply of ${operation.name} does not match its schema: ${result.error.message}`);
}

/** Options with which Nest serves an application's handlers through its registry, as a microservice or part of one. */
export const SERVED_BY_REGISTRY: AsyncMicroserviceOptions = {
  inject: [OperationRegistry],
  useFactory: (strategy: OperationRegistry) => ({ strategy }),
};
