import { serveThread } from '../threads/serve.js';
import type { Extraction, ExtractionRequest, TrackedText } from './extraction.js';

const DONE: Extraction = { state: 'done', sha256: null, text: null, words: null, problem: null };

/** Does what the name of the file says. */
serveThread<ExtractionRequest | readonly TrackedText[], readonly Extraction[]>(async (request) => {
  if ('handle' in request) await request.handle.close();
  const filename = 'handle' in request ? request.filename : (request[0]?.filename ?? '');
  if (filename.startsWith('hang')) for (;;) filename.normalize();
  if (filename.startsWith('die')) process.exit(3);
  if (filename.startsWith('swell'))
    for (const all: string[][] = []; ; ) all.push(Array.from({ length: 100_000 }, String));
  return { reply: [DONE] };
});
