import { type Envelope, type Operation, type Owner, ServiceError } from '@workspace-graph/contracts';

/**
 * Thrown by a dispatch whose instance cannot carry a call out while another one may: it is not ready, or over a limit of
 * its own. What it began must be undone or protected by the call id.
 */
export class Declined extends Error {
  constructor(readonly refusal: ServiceError) {
    super(refusal.message, { cause: refusal });
    this.name = 'Declined';
  }
}

export function tooLarge(what: 'request' | 'reply' | 'event', limitBytes: number): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `The ${what} is larger than ${limitBytes} bytes.`, {
    limit_bytes: limitBytes,
  });
}

export function unavailable(owner: Owner): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', `The ${owner} service cannot be reached.`);
}

export function shuttingDown(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'This process is shutting down.');
}

export function notPublished(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The event could not be published.');
}

export function timedOut(operation: Operation, timeoutMs: number): ServiceError {
  return new ServiceError('TIMEOUT', `${operation.name} did not answer within ${timeoutMs} ms.`);
}

/** A call that was under way when the credential of its caller came to an end. */
export function untold({ name }: Operation): ServiceError {
  const message = `The credential has ended, so nobody tells any more whether ${name} was carried out.`;
  return new ServiceError('UNAUTHENTICATED', message);
}

export function cancelled(): ServiceError {
  return new ServiceError('REQUEST_CANCELLED', 'The caller cancelled the request.');
}

/** A call from another process that names no caller, or one that calls inside its own process alone. */
export function unnamed(): ServiceError {
  return new ServiceError('UNAUTHENTICATED', 'A call from another process needs a caller.');
}

/** INTERNAL, as the outside may see it; `cause` stays in this process. */
export function internal(cause?: unknown): ServiceError {
  return new ServiceError('INTERNAL', 'Something went wrong inside the service.', undefined, { cause });
}

const PRINTABLE = /^[\x21-\x7e]{1,200}$/;

/** Ids travel in headers, so they are held to what a header carries unchanged. @throws ServiceError INTERNAL */
export function checkEnvelope(envelope: Envelope): void {
  for (const id of [envelope.callId, envelope.requestId]) {
    if (!PRINTABLE.test(id))
      throw internal(new Error('call and request ids must be 1 to 200 printable ASCII characters'));
  }
}

/** @throws ServiceError INTERNAL, for the same reason */
export function checkEventId(id: string): void {
  if (!PRINTABLE.test(id)) throw internal(new Error('an event id must be 1 to 200 printable ASCII characters'));
}

export function isPrintable(value: string | undefined): value is string {
  return value !== undefined && PRINTABLE.test(value);
}

/** Refuses to serve what belongs to another owner or is listed twice. */
export function checkOperations(owner: Owner, operations: readonly Operation[]): void {
  const seen = new Set<string>();
  for (const operation of operations) {
    if (operation.owner !== owner) throw new Error(`${operation.name} belongs to ${operation.owner}, not to ${owner}`);
    if (seen.has(operation.name)) throw new Error(`${operation.name} is listed twice`);
    seen.add(operation.name);
  }
}
