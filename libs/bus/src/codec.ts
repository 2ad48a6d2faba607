import { type ErrorBody, isErrorCode, type JsonFacts, RawJson, ServiceError } from '@workspace-graph/contracts';
import { internal, tooLarge } from './failures.js';

/** What tells of an outcome beside its body. */
export interface OutcomeHead {
  readonly kind: 'json' | 'raw' | 'error' | 'declined';
  /** Of text that must arrive unparsed. */
  readonly facts?: JsonFacts;
}

/**
 * How one call ended, as it travels: the JSON text of an output, text that must arrive unparsed, or an error body;
 * `declined` is an error of this instance alone.
 */
export interface Outcome extends OutcomeHead {
  /** Text, or its UTF-8 bytes as they arrived. */
  readonly body: string | Uint8Array;
}

/** Empty text stands for undefined, which JSON has no word for. */
function toText(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  return text ?? '';
}

export function fromText(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

/** @throws ServiceError PAYLOAD_TOO_LARGE, or INTERNAL for what JSON cannot hold */
export function encode(what: 'request' | 'event', value: unknown, limitBytes: number): string {
  const text = orInternal(() => toText(value));
  if (exceeds(text, limitBytes)) throw tooLarge(what, limitBytes);
  return text;
}

/** @throws ServiceError PAYLOAD_TOO_LARGE; TypeError for what JSON cannot hold */
export function encodeOutput(output: unknown, limitBytes: number): Outcome {
  const outcome: Outcome =
    output instanceof RawJson
      ? { kind: 'raw', body: output.source, facts: output.facts }
      : { kind: 'json', body: toText(output) };
  if (exceeds(outcome.body, limitBytes)) throw tooLarge('reply', limitBytes);
  return outcome;
}

export function encodeError(error: ServiceError, requestId: string, limitBytes: number): Outcome {
  const text = JSON.stringify(error.toBody(requestId));
  if (!exceeds(text, limitBytes)) return { kind: 'error', body: text };
  return encodeError(tooLarge('reply', limitBytes), requestId, Number.POSITIVE_INFINITY);
}

/** The caller's end of an outcome. @throws ServiceError that the handler threw */
export function settle(outcome: Outcome): unknown {
  switch (outcome.kind) {
    case 'raw':
      return new RawJson(outcome.body, outcome.facts);
    case 'json':
      return orInternal(() => fromText(textOf(outcome.body)));
    case 'error':
    case 'declined':
      throw refusalOf(outcome.body);
    default:
      throw internal(outcome.kind satisfies never);
  }
}

/** The error of an outcome that is one. @throws ServiceError INTERNAL when it is not JSON */
export function refusalOf(body: Outcome['body']): ServiceError {
  return toServiceError(orInternal(() => JSON.parse(textOf(body)) as ErrorBody));
}

function toServiceError(body: ErrorBody): ServiceError {
  // A newer peer may know codes that this build does not.
  return isErrorCode(body.code)
    ? ServiceError.fromBody(body)
    : internal(new Error(`unknown error code ${String(body.code)}`));
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/** A character takes at most three bytes, so most texts need no counting. */
function exceeds(body: string | Uint8Array, limitBytes: number): boolean {
  if (body.length > limitBytes) return true;
  return typeof body === 'string' && body.length * 3 > limitBytes && Buffer.byteLength(body) > limitBytes;
}

function orInternal<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw internal(error);
  }
}
