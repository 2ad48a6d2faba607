import type {
  BusEventPayload,
  BusEventType,
  Envelope,
  InputOf,
  Operation,
  Owner,
  ReplyOf,
} from '@workspace-graph/contracts';

/**
 * `connecting`: nobody can be reached at the moment, the bus keeps trying. `draining`: no new work is taken, what is
 * under way is finished. `closed` is final. After each change to `ready`, events may have been missed.
 */
export type BusStatus = 'connecting' | 'ready' | 'draining' | 'closed';

/** What a service told the others after a commit. `id` is the same on every delivery of one event. */
export type BusEvent = {
  [T in BusEventType]: { readonly type: T; readonly id: string; readonly payload: BusEventPayload<T> };
}[BusEventType];
export type BusEventOf<T extends BusEventType> = Extract<BusEvent, { readonly type: T }>;

export interface CallOptions {
  /** Aborting it ends the call with REQUEST_CANCELLED and aborts the signal of the handler. */
  readonly signal?: AbortSignal;
  /** Time for the whole call, retries included. Default: the timeout of the operation. */
  readonly timeoutMs?: number;
}

/** What a handler gets in addition to its input. */
export interface CallContext {
  /** A separate copy; the caller in it is frozen. */
  readonly envelope: Envelope;
  /** Aborted with a ServiceError as its reason: REQUEST_CANCELLED, TIMEOUT, or SERVICE_UNAVAILABLE when a drain ran out of time. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the caller's deadline, never negative: the `timeoutMs` of calls made on its behalf. */
  remainingMs(): number;
}

/**
 * Answers one call with the output, or with RawJson. `input` is what JSON makes of the caller's input, unvalidated.
 * A thrown ServiceError reaches the caller as it is; anything else is logged and reaches it as a bare INTERNAL. A thrown
 * Declined sends the call to another instance; its refusal reaches the caller when none takes the call for the grace.
 * The same call id may arrive again, here or at another instance: commands are applied once per call id.
 */
export type Dispatch = (operation: Operation, input: unknown, context: CallContext) => Promise<unknown>;

/** Operations of one owner that this process serves, until `stop`. */
export interface Serving {
  /** The owner that was given to `serve`. */
  readonly owner: Owner;
  /**
   * Takes no calls until `resume`: they go to other instances. Running calls continue, but another instance may carry
   * them out as well, under the same call id.
   */
  pause(): Promise<void>;
  /** Resolves when calls can arrive again. Does nothing once stopped. */
  resume(): Promise<void>;
  /** Takes no further calls, answers those received, and resolves when they are. A second call waits for the same end. */
  stop(): Promise<void>;
}

export interface Subscription {
  /** Resolves when no listener of this subscription runs any more. */
  stop(): Promise<void>;
}

export interface SubscribeOptions {
  /** Subscriptions with the same group share the events: each event reaches one of them. Default: every event. */
  readonly group?: string;
}

/**
 * The port by which processes call operations and exchange events. Every transport behaves the same; `busConformance`
 * tests this.
 */
export interface Bus {
  /** Whether calls can be made now. Changes are reported to `onStatus`; `closed` is final. */
  readonly status: BusStatus;

  /**
   * Reports each change of status, not the current one. A listener that throws is logged. Returns the function that
   * ends it.
   */
  onStatus(listener: (status: BusStatus) => void): () => void;

  /**
   * Calls an operation and waits for its answer. Input and output pass through JSON: a Date arrives as text, undefined
   * members are dropped, a BigInt is INTERNAL. An answer that was RawJson arrives as RawJson.
   *
   * A call that nobody has received, or that every instance declined, is sent again for a short grace, then refused with
   * SERVICE_UNAVAILABLE. A call that may have been received is sent again, under the same call id, until it is answered
   * or its time is over (TIMEOUT); a read without a sign of life, no longer than that grace while nobody can be reached.
   * What is sent again goes to an instance that shows a sign of life, where there is one.
   *
   * @throws ServiceError and nothing else: the handler's, or PAYLOAD_TOO_LARGE (`details.limit_bytes`),
   * REQUEST_CANCELLED, SERVICE_UNAVAILABLE, TIMEOUT, INTERNAL
   */
  call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options?: CallOptions,
  ): Promise<ReplyOf<Op>>;

  /**
   * Serves operations of one owner. Instances of an owner share its calls. Resolves when calls can arrive or, while
   * nobody can be reached, at once: they then arrive as soon as the connection is there.
   *
   * @throws Error for an operation of another owner or one listed twice, and where access control forbids serving
   */
  serve(owner: Owner, operations: readonly Operation[], dispatch: Dispatch): Promise<Serving>;

  /**
   * Resolves when the event is on its way to those who listen at this moment; nobody else will get it.
   * @throws ServiceError SERVICE_UNAVAILABLE (publish it again later) or PAYLOAD_TOO_LARGE
   */
  publish(event: BusEvent): Promise<void>;

  /**
   * Listens to events. One subscription hears them one after the other: the next waits until the listener is done.
   * What a listener throws is logged.
   * @throws Error where access control forbids listening
   */
  subscribe<T extends BusEventType>(
    types: readonly T[],
    listener: (event: BusEventOf<T>) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Promise<Subscription>;

  /** Stops serving and listening as `Serving.stop` does, lets calls under way end, then leaves. */
  close(): Promise<void>;
}

/** Injection token of the process's bus. */
export const BUS = Symbol('workspace-graph:bus');

/** Fields first, then one line of text, as the common structured loggers take it. */
type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The part of a structured logger that the bus uses; a pino logger fits. */
export interface BusLogger {
  /** Details of the protocol, for the developer of a transport. */
  readonly debug: Log;
  /** Expected changes, such as a connection that was made. */
  readonly info: Log;
  /** Trouble that the bus handles itself, such as a lost connection or a slow listener. */
  readonly warn: Log;
  /** Failures of a handler or listener, and refusals by the broker. */
  readonly error: Log;
}
