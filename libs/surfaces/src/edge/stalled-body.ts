import { ServiceError } from '@workspace-graph/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BodyTimes } from './edge-settings.js';
import { sendRefusal } from './error-answer.js';

const DEFAULTS: BodyTimes = { stalledMs: 60_000, wholeMs: 120_000, streamedMs: 600_000 };
/** What each byte of a stream adds to its time: about 4 KB a second must come. */
const STREAMED_MS_PER_BYTE = 1 / 4;
/** That a body is late is noticed at most this part of the limit too late. */
const LOOKS_PER_LIMIT = 4;

/**
 * Refuses requests whose client sends nothing more of a body that it announced, or too little. Routes that read the body
 * as a stream may take long when much arrives; all others have a total time.
 */
export function endStalledBodies(server: FastifyInstance, given: Partial<BodyTimes> = {}): void {
  const times = { ...DEFAULTS, ...given };
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.raw.complete) watch(request, reply, times);
    done();
  });
}

function watch({ raw, routeOptions }: FastifyRequest, reply: FastifyReply, times: BodyTimes): void {
  const { streamsBody, takesBytes } = routeOptions.config;
  const isStream = streamsBody === true || takesBytes === true;
  const [mostMs, msPerByte] = isStream ? [times.streamedMs, STREAMED_MS_PER_BYTE] : [times.wholeMs, 0];
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
    if (nowMs - movedMs < times.stalledMs && !isSlow) return;
    clearInterval(timer);
    refuse(reply);
  }, Math.min(times.stalledMs, mostMs) / LOOKS_PER_LIMIT);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}

/** The connection ends with the answer, and the body for whoever still reads it. */
function refuse(reply: FastifyReply): void {
  const { raw } = reply.request;
  const refusal = new ServiceError('REQUEST_TIMEOUT', 'The body did not arrive in time.');
  if (reply.sent || reply.raw.headersSent) return void raw.destroy(refusal);
  reply.raw.once('close', () => raw.destroy(refusal));
  sendRefusal(reply.header('connection', 'close'), refusal);
}
