import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import {
  type Caller,
  type Envelope,
  hasUnknownFields,
  NOBODY_ID,
  OPERATIONS,
  type Operation,
  type Owner,
  RawJson,
  readInput,
  type Scope,
  ServiceError,
  scopeIncludes,
} from '@workspace-graph/contracts';
import { type HandlerOptions, handledBy, type OperationContext } from './handles.decorator.js';

interface Handler extends HandlerOptions {
  readonly run: (input: unknown, context: OperationContext) => Promise<unknown>;
}

/** Wraps every operation that is carried out, for metrics and traces. */
export type OperationObserver = (
  operation: Operation,
  context: OperationContext,
  run: () => Promise<unknown>,
) => Promise<unknown>;

const SYSTEM_CALLER: Caller = {
  user_id: NOBODY_ID,
  scope: 'manage',
  credential_id: null,
  via: 'system',
};

/**
 * Finds every `@Handles` method of the application and carries operations out: tier, input schema, handler.
 * `dispatch` fits the bus.
 */
@Injectable()
export class OperationRegistry implements OnModuleInit {
  private readonly handlers = new Map<string, Handler>();
  private observers: OperationObserver[] = [];
  /** Checks replies against their schema; for tests. */
  validateReplies = false;
  /** Boots although operations of an owner have no handler; for tests of a part. */
  allowPartial = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      const instance: unknown = wrapper.instance;
      if (typeof instance !== 'object' || instance === null) continue;
      this.register(instance);
    }
    if (!this.allowPartial) this.refuseUnwired();
  }

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

  readonly dispatch = async (
    operation: Operation,
    input: unknown,
    call: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<unknown> => {
    const handler = this.handlers.get(operation.name);
    if (!handler) throw new ServiceError('SERVICE_UNAVAILABLE', `Operation ${operation.name} is not served here.`);
    const caller = admit(operation, call.envelope.caller);
    const parsed = parseInput(operation, input, handler);
    const { envelope, signal } = call;
    const context: OperationContext = { operation, input: parsed, envelope, caller, signal };
    const run = this.observers.reduceRight<() => Promise<unknown>>(
      (next, observer) => () => observer(operation, context, next),
      () => handler.run(parsed, context),
    );
    const reply = await run();
    if (this.validateReplies) checkReply(operation, reply);
    return reply;
  };

  private register(instance: object): void {
    const prototype = Object.getPrototypeOf(instance) as object | null;
    if (!prototype) return;
    for (const name of this.scanner.getAllMethodNames(prototype)) {
      const method = (instance as Record<string, unknown>)[name];
      const handled = handledBy(method);
      if (!handled) continue;
      const { operation, options } = handled;
      if (OPERATIONS.get(operation.name) !== operation)
        throw new Error(`Operation ${operation.name} is not in the table of operations`);
      if (this.handlers.has(operation.name)) throw new Error(`Operation ${operation.name} has two handlers`);
      this.handlers.set(operation.name, { ...options, run: (method as Handler['run']).bind(instance) });
    }
  }

  private refuseUnwired(): void {
    const missing = [...OPERATIONS.values()].filter(
      (operation) => this.owners.includes(operation.owner) && !this.handlers.has(operation.name),
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
    throw new ServiceError('FORBIDDEN', 'This is for devices alone.');
  const required = scopeOf(operation);
  if (!scopeIncludes(caller.scope, required))
    throw new ServiceError('FORBIDDEN', `This needs the scope ${required}.`, { required_scope: required });
  return caller;
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
  if (!result.success) throw new Error(`Reply of ${operation.name} breaks its schema: ${result.error.message}`);
}
