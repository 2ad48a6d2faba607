import { type Envelope, type Operation, ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { BusLogger, CallContext, Dispatch } from './bus.js';
import { encodeError, encodeOutput, fromText, type Outcome } from './codec.js';
import { Declined, internal, timedOut } from './failures.js';

const FAULT_STATUS = 500;

/** One call on its way through a handler, with the signal that ends it early. */
export class Run implements CallContext {
  readonly envelope: Envelope;
  private readonly controller = new AbortController();
  private readonly deadlineAtMs: number;
  private readonly deadline: NodeJS.Timeout;

  constructor(
    readonly operation: Operation,
    envelope: Envelope,
    readonly timeoutMs: number,
  ) {
    this.envelope = { ...envelope, caller: envelope.caller && Object.freeze({ ...envelope.caller }) };
    this.deadlineAtMs = performance.now() + timeoutMs;
    this.deadline = setTimeout(() => this.abort(timedOut(operation, timeoutMs)), timeoutMs);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  remainingMs(): number {
    return Math.max(0, Math.floor(this.deadlineAtMs - performance.now()));
  }

  abort(reason: ServiceError): void {
    this.controller.abort(reason);
  }

  /** Releases the deadline's timer. */
  end(): void {
    clearTimeout(this.deadline);
  }

  /** Runs the handler on the JSON text of an input. Never throws: whatever happens becomes an outcome. */
  async perform(dispatch: Dispatch, text: string, replyBytes: number, logger: BusLogger): Promise<Outcome> {
    try {
      return encodeOutput(await dispatch(this.operation, parseInput(text), this), replyBytes);
    } catch (error) {
      const declined = error instanceof Declined;
      const refusal = this.asRefusal(declined ? error.refusal : error, logger);
      const outcome = encodeError(refusal, this.envelope.requestId, replyBytes);
      return declined ? { ...outcome, kind: 'declined' } : outcome;
    }
  }

  private asRefusal(error: unknown, logger: BusLogger): ServiceError {
    if (error instanceof ServiceError) {
      this.noteCause(error, logger);
      return error;
    }
    // A handler that stops on its signal throws whatever its libraries make of the abort.
    if (this.signal.aborted) return this.signal.reason as ServiceError;
    logger.error(
      { err: error, operation: this.operation.name, request_id: this.envelope.requestId },
      'an operation failed unexpectedly',
    );
    return internal(error);
  }

  /** The caller learns that a service is unavailable; who runs it has to learn why. */
  private noteCause({ status, code, cause }: ServiceError, logger: BusLogger): void {
    if (status < FAULT_STATUS || cause === undefined) return;
    logger.warn(
      { err: cause, code, operation: this.operation.name, request_id: this.envelope.requestId },
      'an operation could not be carried out',
    );
  }
}

/** @throws ServiceError VALIDATION_FAILED for what is no JSON */
export function parseInput(text: string): unknown {
  try {
    return fromText(text);
  } catch (error) {
    throw error instanceof SyntaxError ? validationFailed([{ path: '', message: 'The input is not JSON.' }]) : error;
  }
}
