// Measures scans of a folder beside find and sha256sum on the same tree. The sources are TypeScript that Node runs as it is.
import { parseArgs } from 'node:util';
import '../test/bench/source-names.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    edits: { type: 'string', default: '100' },
    seed: { type: 'string', default: '7' },
    records: { type: 'string', default: 'memory' },
  },
});
const { measureScan } = await import('../test/bench/files/scan.ts');
const figures = await measureScan({
  files: Number(values.files),
  edits: Number(values.edits),
  seed: Number(values.seed),
  records: values.records === 'postgres' ? 'postgres' : 'memory',
});
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
