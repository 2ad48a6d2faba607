import type { Caller, Envelope, Operation, ParsedInputOf, ReplyOf } from '@workspace-graph/contracts';

/** What a handler learns of its call besides the input. */
export interface OperationContext {
  readonly operation: Operation;
  /** As the handler gets it: valid, defaults filled in. */
  readonly input: unknown;
  readonly envelope: Envelope;
  /** Who calls. For internal operations made by the system itself: the system caller. */
  readonly caller: Caller;
  /** Aborted when the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
}

export type OperationHandler<Op extends Operation> = (
  input: ParsedInputOf<Op>,
  context: OperationContext,
) => Promise<ReplyOf<Op>>;

export interface HandlerOptions {
  /** The handler answers the same whatever it is given: it gets undefined, for an input that breaks the schema too. */
  readonly anyInput?: boolean;
}

/** An operation and how a method handles it. */
export interface Handled {
  readonly operation: Operation;
  readonly options: HandlerOptions;
}

const HANDLED = Symbol('workspace-graph:handled-operation');

/** Makes a method of a Nest provider the handler of an operation. Boot refuses an operation without a handler or with two. */
export function Handles<Op extends Operation>(operation: Op, options: HandlerOptions = {}) {
  return <Method extends OperationHandler<Op>>(
    _target: object,
    _key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    if (!descriptor.value) throw new Error(`@Handles(${operation.name}) stands on something that is not a method`);
    Reflect.defineMetadata(HANDLED, { operation, options } satisfies Handled, descriptor.value);
  };
}

/** What a method handles, if anything. */
export function handledBy(method: unknown): Handled | undefined {
  return typeof method === 'function' ? (Reflect.getMetadata(HANDLED, method) as Handled | undefined) : undefined;
}
