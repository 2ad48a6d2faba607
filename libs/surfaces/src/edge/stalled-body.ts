import { ServiceError } from '@workspace-graph/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Longest time for the body of a route that takes it as a whole. */
const WHOLE_BODY_MS = 120_000;
/** A body that is read as a stream has so long, and more for each byte that has arrived: about 4 KB a second must come. */
const STREAMED_BODY_MS = 600_000;
const STREAMED_MS_PER_BYTE = 1 / 4;
/** A standstill is noticed at most this part of the limit too late. */
const LOOKS_PER_LIMIT = 4;

/**
 * Ends requests whose client sends nothing more of a body that it announced. Routes that read the body as a stream may
 * take long when much arrives; all others have a total time.
 */
export function endStalledBodies(server: FastifyInstance, stalledMs: number): void {
  server.addHook('onRequest', (request, _reply, done) => {
    if (!request.raw.complete) watch(request, stalledMs);
    done();
  });
}

function watch({ raw, routeOptions }: FastifyRequest, stalledMs: number): void {
  const { streamsBody, takesBytes } = routeOptions.config;
  const [mostMs, msPerByte] = streamsBody || takesBytes ? [STREAMED_BODY_MS, STREAMED_MS_PER_BYTE] : [WHOLE_BODY_MS, 0];
  const startMs = performance.now();
  const startBytes = raw.socket.bytesRead;
  let seenBytes = startBytes;
  let movedMs = startMs;
  const timer = setInterval(() => {
    if (raw.complete) return clearInterval(timer);
    const nowMs = performance.now();
    const { bytesRead } = raw.socket;
    // Bytes that wait to be read are the client's proof: it is this process that is slow.
    if (bytesRead !== seenBytes || raw.readableLength > 0) movedMs = nowMs;
    seenBytes = bytesRead;
    const isSlow = nowMs - startMs >= mostMs + (bytesRead - startBytes) * msPerByte;
    if (nowMs - movedMs >= stalledMs || isSlow) raw.destroy(stalled());
  }, stalledMs / LOOKS_PER_LIMIT);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}

function stalled(): ServiceError {
  return new ServiceError('REQUEST_CANCELLED', 'The body did not arrive in time.');
}
