// Measures searching in files beside grep; see docs/benchmarks.md. The sources are TypeScript that Node runs as it is.
import { parseArgs } from 'node:util';
import '../test/bench/source-names.mjs';

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000' },
    searches: { type: 'string', default: '300' },
    seed: { type: 'string', default: '7' },
    archive: { type: 'string', default: '' },
    'rest-ms': { type: 'string', default: '7000' },
  },
});
const { measureFileSearch } = await import('../test/bench/files/search.ts');
const figures = await measureFileSearch({
  documents: Number(values.documents),
  searches: Number(values.searches),
  seed: Number(values.seed),
  archive: values.archive,
  restMs: Number(values['rest-ms']),
});
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
