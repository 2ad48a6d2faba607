import { type BenchOptions, parse, UsageError } from '../bench-command.js';

export interface FileBenchOptions extends BenchOptions {
  readonly files: number;
  readonly documents: number;
  readonly edits: number;
  readonly searches: number;
  readonly records: 'memory' | 'postgres';
}

export const FILE_BENCH_HELP = `Usage: npm run bench -- --files [--count N] [--documents N] [--records memory|postgres] [--json FILE]

Measures a device: a first scan compared with find and sha256sum, a scan without changes compared with find, edits until they
are registered, memory, and searching documents compared with grep on the same tree. Prints one table.

  --count N       number of files to scan, default 50000; 0 skips scanning
  --documents N   number of documents to index and search, default 50000; 0 skips searching
  --edits N       number of edits of one file, default 50
  --searches N    number of searches, default 300
  --records KIND  where records are kept: memory measures only the device; postgres measures with the file service and a
                  separate database
  --json FILE     writes all results as JSON

Exit codes: 0 measured, 1 a measurement failed, 2 wrong usage.`;

/** Undefined when help is asked for. @throws UsageError */
export function readFileBenchOptions(args: readonly string[]): FileBenchOptions | undefined {
  const values = parse(args, {
    files: { type: 'boolean' },
    count: { type: 'string', default: '50000' },
    documents: { type: 'string', default: '50000' },
    edits: { type: 'string', default: '50' },
    searches: { type: 'string', default: '300' },
    records: { type: 'string', default: 'memory' },
  });
  if (values.help) return undefined;
  const { records } = values;
  if (records !== 'memory' && records !== 'postgres') throw new UsageError(`There is no kind of records ${records}.`);
  return {
    files: count(values.count),
    documents: count(values.documents),
    edits: count(values.edits),
    searches: count(values.searches),
    records,
    ...(values.json !== undefined && { jsonFile: values.json }),
  };
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new UsageError(`${text} is no count.`);
  return value;
}
