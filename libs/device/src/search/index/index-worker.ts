import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve.js';
import type { IndexReply, IndexRequest } from './index-messages.js';
import { isDamage, SearchIndex } from './search-index.js';

const NOTHING: IndexReply = { rebuilt: false, toRead: [], found: [], snippets: [] };

const file = String(workerData);
let index = SearchIndex.open(file);

serveThread<IndexRequest, IndexReply>((request) => {
  try {
    return { reply: answer(request) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    index.close();
    SearchIndex.remove(file);
    index = SearchIndex.open(file);
    return { reply: { ...answer(request), rebuilt: true } };
  }
});

function answer(request: IndexRequest): IndexReply {
  switch (request.kind) {
    case 'note':
      return { ...NOTHING, toRead: index.note(request.files, request.removed) };
    case 'put':
      index.put(request.files, request.comesMore);
      return NOTHING;
    case 'begin-census':
      index.beginCensus();
      return NOTHING;
    case 'end-census':
      index.endCensus();
      return NOTHING;
    case 'remove-node':
      index.removeNode(request.nodeId);
      return NOTHING;
    case 'search':
      return { ...NOTHING, found: index.search(request.search) };
    case 'snippets':
      return { ...NOTHING, snippets: index.snippets(request.fileIds, request.terms) };
  }
}
