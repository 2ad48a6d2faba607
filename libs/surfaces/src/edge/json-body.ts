import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { LIMITS, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { jsonDepth } from '@workspace-graph/domain';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyIncomplete, bodyTooLarge, unsupportedMediaType } from './error-answer.js';

type Done = (error: Error | null, body?: unknown) => void;

/** Bodies are JSON, whole and at most `LIMITS.bodyBytes`, except where a route takes bytes or reads the stream itself. */
export function acceptJsonBodies(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    const encoding = request.headers['content-encoding'];
    if (request.routeOptions.config.streamsBody) return done(null, payload);
    if (encoding !== undefined && encoding !== 'identity') return done(unsupportedMediaType());
    collect(request, payload, (error, bytes) => {
      if (error || !bytes) return done(error);
      const problem = problemOf(bytes);
      if (problem) return done(validationFailed([{ path: '', message: problem }]));
      if (bytes.length === 0) return done(null, undefined);
      void parse(request, bytes.toString('utf8'), (failure: Error | null, body?: unknown) =>
        failure ? done(validationFailed([{ path: '', message: 'The body is not valid JSON.' }])) : done(null, body),
      );
    });
  });
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done: Done) =>
    request.routeOptions.config.takesBytes ? done(null, payload) : done(unsupportedMediaType()),
  );
}

function collect(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, bytes?: Buffer) => void,
): void {
  const limitBytes = LIMITS.bodyBytes;
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return done(bodyTooLarge(limitBytes));
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const finish = (error: Error | null): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    if (error) done(error);
    else done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  };
  const onEnd = (): void => finish(null);
  const onError = (error: Error): void => finish(error instanceof ServiceError ? error : bodyIncomplete(error));
  const onData = (chunk: Buffer): void => {
    sizeBytes += chunk.length;
    chunks.push(chunk);
    if (sizeBytes > limitBytes) finish(bodyTooLarge(limitBytes));
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

function problemOf(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return 'The body is not UTF-8.';
  return jsonDepth(bytes) > LIMITS.jsonDepth ? `The body is nested deeper than ${LIMITS.jsonDepth} levels.` : undefined;
}
