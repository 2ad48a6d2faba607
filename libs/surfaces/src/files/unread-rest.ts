import type { FastifyReply, FastifyRequest } from 'fastify';

/** A rest of at most so many bytes is not worth ending a connection. */
const DRAINED_BYTES = 1_048_576;
/** In which a client hears an answer that came before it had sent everything. */
const LINGER_MS = 5_000;

/**
 * Lets a connection end on which the rest of a long body would still have to arrive. It is read for a moment: whoever closes while
 * something is on its way takes the answer along.
 */
export function leaveUnread({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const sizeBytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (raw.complete || sizeBytes <= DRAINED_BYTES) return;
  const { socket } = raw;
  const closes = /\bclose\b/i.test(headers.connection ?? '');
  // Else the server closes with the last byte of its answer.
  if (!reply.hasHeader('connection')) reply.header('connection', 'keep-alive');
  reply.raw.once('finish', () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    const end = (): void => {
      clearTimeout(timer);
      if (closes) socket.destroySoon();
    };
    if (raw.complete) end();
    else raw.once('close', end).resume();
  });
}
