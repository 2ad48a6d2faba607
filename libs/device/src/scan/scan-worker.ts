import { serveThread } from '../search/threads/serve.js';
import { type ReadOrder, readFiles, statFiles } from './disk-read.js';
import { DiskWalk, type WalkOrder } from './disk-walk.js';

/** What a thread of the scanner is asked. A walk that was started goes on with `next` until its end is told. */
export type ScanRequest =
  | { readonly kind: 'walk'; readonly order: WalkOrder }
  | { readonly kind: 'next' }
  | { readonly kind: 'read'; readonly order: ReadOrder }
  | { readonly kind: 'stat'; readonly root: string; readonly paths: readonly string[] };

let walk: DiskWalk | null = null;

serveThread((request: ScanRequest) => ({ reply: answer(request) }));

function answer(request: ScanRequest): unknown {
  switch (request.kind) {
    case 'walk':
      walk = new DiskWalk(request.order);
      return nextPart(walk);
    case 'next':
      if (!walk) throw new Error('No walk was started in this thread');
      return nextPart(walk);
    case 'read':
      return readFiles(request.order);
    case 'stat':
      return statFiles(request);
  }
}

function nextPart(current: DiskWalk): unknown {
  const part = current.next();
  if (part.end) walk = null;
  return part;
}
