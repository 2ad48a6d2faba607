import { serveThread } from '../threads/serve.js';
import { extract } from './extract.js';
import type { Extraction, ExtractionRequest } from './extraction.js';

serveThread<ExtractionRequest, Extraction>(async (request) => {
  const reply = await extract(request);
  return {
    reply,
    transfer: [reply.text, reply.words].flatMap((bytes) => (bytes ? [bytes.buffer as ArrayBuffer] : [])),
  };
});
