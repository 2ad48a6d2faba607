import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A client that lets so much pile up is not reading: its stream is cut, and it comes back and reads anew. */
const MAX_UNREAD_BYTES = 1_048_576;

export function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Sends a whole answer the ordinary way. */
export async function sendWhole(response: Response, reply: FastifyReply): Promise<void> {
  const text = await response.text();
  reply.code(response.status).headers(Object.fromEntries(response.headers));
  await reply.send(text === '' ? undefined : text);
}

/** Sends a stream, headers first. Resolves when it has ended, whoever ended it. */
export async function sendStream(response: Response, reply: FastifyReply, signal: AbortSignal): Promise<void> {
  const { raw } = reply.headers(Object.fromEntries(response.headers)).hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(response.status);
  raw.flushHeaders();
  try {
    if (response.body) await pump(response.body, raw, signal);
  } finally {
    raw.end();
  }
}

async function pump(body: ReadableStream<Uint8Array>, raw: ServerResponse, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const stop = () => void reader.cancel();
  if (signal.aborted) return reader.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      raw.write(chunk.value);
      if (raw.writableLength > MAX_UNREAD_BYTES) {
        raw.destroy();
        await reader.cancel();
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
