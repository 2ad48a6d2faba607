import { Catch, type ExceptionFilter, UseFilters } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import type { Caller, Envelope, Operation, ParsedInputOf, ReplyOf } from '@workspace-graph/contracts';

/** What a handler learns of its call besides the input. */
export interface OperationContext {
  /** The operation that was called. */
  readonly operation: Operation;
  /** As the handler gets it: valid, defaults filled in. */
  readonly input: unknown;
  /** Pass it on in calls that the handler makes for its caller. */
  readonly envelope: Envelope;
  /** Who calls. For internal operations made by the system itself: the system caller. */
  readonly caller: Caller;
  /** Aborted when the caller cancels or the deadline passes. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the scope of the caller's session admits the call, which a change that runs beside the look at the scope
   * waits for before it is committed; absent where that is decided. @throws ServiceError as `SessionScopes.admit`
   */
  readonly admission?: () => Promise<void>;
}

export type OperationHandler<Op extends Operation> = (
  input: ParsedInputOf<Op>,
  context: OperationContext,
) => Promise<ReplyOf<Op>>;

export interface HandlerOptions {
  /**
   * True: the handler returns the same for any input. It gets undefined, even for an input that does not match the
   * schema.
   */
  readonly anyInput?: boolean;
  /**
   * True: the handler only reads or is one command, and does not use the home node of the caller. In a session it runs
   * while the scope is looked at. When the scope refuses the call, what was read is dropped, and the command, which waits
   * for the admission with its commit, is rolled back.
   */
  readonly besideScope?: boolean;
}

/** What `@Handles` hands to the registry, as the extras of Nest's message pattern. */
export interface Handled {
  readonly operation: Operation;
  readonly options: HandlerOptions;
}

/** Without it, Nest makes a plain object of a ServiceError and drops the stack. */
@Catch()
class RethrowFilter implements ExceptionFilter {
  catch(error: unknown): never {
    throw error;
  }
}

const RETHROW = UseFilters(new RethrowFilter());

/** Makes a method of a Nest controller the handler of an operation. Boot refuses an operation without a handler or with two. */
export function Handles<Op extends Operation>(operation: Op, options: HandlerOptions = {}) {
  const handled: Handled = { operation, options };
  return <Method extends OperationHandler<Op>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    if (!descriptor.value) throw new Error(`@Handles(${operation.name}) must decorate a method`);
    Payload()(target, key, 0);
    Ctx()(target, key, 1);
    RETHROW(target, key, descriptor);
    MessagePattern(operation.name, handled)(target, key, descriptor);
  };
}
