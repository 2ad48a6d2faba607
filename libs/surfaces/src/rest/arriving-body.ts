import type { Readable } from 'node:stream';
import { ServiceError } from '@workspace-graph/contracts';
import { abortable } from '@workspace-graph/platform';
import type { FastifyRequest } from 'fastify';
import { type Admission, admissionOf } from '../edge/admission.js';
import { bodyIncomplete, bodyTooLarge, unsupportedMediaType } from '../edge/error-answer.js';

/**
 * The body of a route that reads it as a stream; empty without one. It ends with the request's admission.
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE for a compressed body, PAYLOAD_TOO_LARGE for one that says so itself
 */
export function bodyStream(request: FastifyRequest, limitBytes: number): AsyncIterable<Buffer> {
  const { body, headers } = request;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedMediaType();
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  return body === undefined ? nothing() : arriving(body as Readable, limitBytes, admissionOf(request).ended);
}

/**
 * Passes bytes on that are to be stored. They end only once everything that the request rests on is confirmed, with the
 * caller as it was at the start: who reads them to their end may store them on that caller's behalf.
 * @throws ServiceError as `Admission.confirm`; SERVICE_UNAVAILABLE for a caller whose scope has changed meanwhile
 */
export async function* confirmedAtEnd(
  bytes: AsyncIterable<Uint8Array>,
  admission: Admission,
): AsyncGenerator<Uint8Array> {
  const { scope } = admission.caller;
  yield* bytes;
  if ((await admission.confirm()).scope === scope) return;
  throw new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The scope of the credential changed while the body was being received.',
  );
}

/** @throws ServiceError REQUEST_CANCELLED for a body that breaks off, PAYLOAD_TOO_LARGE, the reason of `ended` */
async function* arriving(body: Readable, limitBytes: number, ended: AbortSignal): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  // Not destroyed when the reader gives up: that would take away the connection on which the refusal is told.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of abortable(chunks, ended)) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : bodyIncomplete(error);
  }
}

async function* nothing(): AsyncGenerator<Buffer> {
  // A body that is not there is an empty one.
}
