import type { Readable } from 'node:stream';
import { ServiceError } from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { bodyIncomplete, bodyTooLarge, unsupportedMediaType } from '../edge/error-answer.js';

/**
 * The body of a route that reads it as a stream; empty without one.
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE for a compressed body, PAYLOAD_TOO_LARGE for one that says so itself
 */
export function bodyStream({ body, headers }: FastifyRequest, limitBytes: number): AsyncIterable<Buffer> {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedMediaType();
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  return body === undefined ? nothing() : arriving(body as Readable, limitBytes);
}

/** @throws ServiceError REQUEST_CANCELLED for a body that breaks off, PAYLOAD_TOO_LARGE */
async function* arriving(body: Readable, limitBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
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
