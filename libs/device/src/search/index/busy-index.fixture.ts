import { fold } from '@workspace-graph/domain';
import { packText } from '../text/packed-text.js';
import { SearchIndex } from './search-index.js';

/** Writes all files again and again until it is killed; run as a process of its own with the file of the index. */
const index = SearchIndex.open(process.argv[2] ?? '');
const names = Array.from({ length: 100 }, (_, name) => String(name));
index.note(
  names.map((name) => ({ fileId: name, nodeId: 'node', path: `wip/${name}.md`, sha256: 'new', modifiedMs: 1 })),
  [],
);
for (let round = 0; ; round += 1) {
  const text = `společné slovo, kolo${round}, ${'výplň '.repeat(200)}`;
  const words = new TextEncoder().encode(fold(text));
  index.put(names.map((fileId) => ({ fileId, sha256: String(round), state: 'done', text: packText(text), words })));
  process.stdout.write(`put ${round}\n`);
}
