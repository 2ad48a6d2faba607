import { serveThread } from '../threads/serve.js';
import { extract, extractTracked } from './extract.js';
import type { Extraction, ExtractionRequest, TrackedText } from './extraction.js';

serveThread<ExtractionRequest | readonly TrackedText[], readonly Extraction[]>(async (request) => {
  const reply = 'handle' in request ? [await extract(request)] : await extractTracked(request);
  const buffers = reply.flatMap(({ text, words }) => [text, words].filter((bytes) => bytes !== null));
  return { reply, transfer: buffers.map((bytes) => bytes.buffer as ArrayBuffer) };
});
