import { Readable } from 'node:stream';
import { HttpException } from '@nestjs/common';
import { LIMITS, ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { FastifyReply } from 'fastify';

const REALM = 'Bearer realm="workspace-graph"';
const RETRY_AFTER_SECONDS = 1;
/** Headers that tell of a content, and would tell wrong things of another one. */
const OF_CONTENT = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'x-deck-preview',
];

/** The refusal that an error stands for; undefined for a surprise. */
export function asRefusal(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = fieldsOf(error);
  if (code === 'FST_ERR_BAD_URL') return validationFailed([{ path: '', message: 'The path is not a valid URL.' }]);
  return fromStatus(error instanceof HttpException ? error.getStatus() : statusCode);
}

export function unsupportedMediaType(): ServiceError {
  return new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json, not compressed.');
}

export function bodyTooLarge(limitBytes: number): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes.`, {
    limit_bytes: limitBytes,
  });
}

export function bodyIncomplete(cause: unknown): ServiceError {
  return new ServiceError('REQUEST_CANCELLED', 'The body ended before it was complete.', undefined, { cause });
}

export function internalError(cause: unknown): ServiceError {
  return new ServiceError('INTERNAL', 'Something went wrong inside the service.', undefined, { cause });
}

export function routeNotFound(): ServiceError {
  return new ServiceError('ROUTE_NOT_FOUND', 'There is no such route.');
}

export function methodNotAllowed(method: string, allowed: readonly string[]): ServiceError {
  return new ServiceError('METHOD_NOT_ALLOWED', `${method} is not allowed here; ${allowed.join(', ')} are.`, {
    allowed,
  });
}

/** Sends the error object with the headers that belong to its code. */
export function sendRefusal(reply: FastifyReply, refusal: ServiceError): void {
  reply.send(answerOf(reply, refusal));
}

/** The error object in place of an answer that is on its way out and is thrown away. */
export function refuseInstead(reply: FastifyReply, refusal: ServiceError, payload: unknown): string {
  if (payload instanceof Readable) payload.destroy();
  for (const name of OF_CONTENT) reply.removeHeader(name);
  return answerOf(reply, refusal);
}

function answerOf(reply: FastifyReply, refusal: ServiceError): string {
  const { request } = reply;
  if (refusal.code === 'UNAUTHENTICATED') {
    reply.header(
      'www-authenticate',
      request.headers.authorization === undefined ? REALM : `${REALM}, error="invalid_token"`,
    );
  } else if (refusal.retryable) {
    reply.header('retry-after', String(refusal.details?.retry_after_seconds ?? RETRY_AFTER_SECONDS));
  }
  // What is left of a body that was refused would be taken for the next request.
  if (refusal.code === 'PAYLOAD_TOO_LARGE') reply.header('connection', 'close');
  reply.removeHeader('content-encoding').code(refusal.status).header('content-type', 'application/json; charset=utf-8');
  return JSON.stringify(refusal.toBody(request.id));
}

function fromStatus(status: number | undefined): ServiceError | undefined {
  if (status === undefined || status < 400 || status >= 500) return undefined;
  switch (status) {
    case 404:
    case 405:
    case 414:
      return routeNotFound();
    case 413:
      return bodyTooLarge(LIMITS.bodyBytes);
    case 415:
      return unsupportedMediaType();
    default:
      return validationFailed([{ path: '', message: 'The request could not be read.' }]);
  }
}

function fieldsOf(error: unknown): { readonly code?: unknown; readonly statusCode?: number } {
  if (typeof error !== 'object' || error === null) return {};
  const code: unknown = Reflect.get(error, 'code');
  const statusCode: unknown = Reflect.get(error, 'statusCode');
  return { code, ...(typeof statusCode === 'number' ? { statusCode } : {}) };
}
