import { loadavg } from 'node:os';
import type { BenchCommand } from '../bench-command.js';
import { describeMachine } from '../report/machine.js';
import { FILE_BENCH_HELP, type FileBenchOptions, readFileBenchOptions } from './options.js';
import { measureScan } from './scan.js';
import { measureFileSearch } from './search.js';
import { type FileFigures, printFileFigures } from './table.js';

const SEED = 7;

/** `npm run bench -- --files` */
export const FILES: BenchCommand<FileBenchOptions, FileFigures> = {
  help: FILE_BENCH_HELP,
  read: readFileBenchOptions,
  measure: measureFiles,
  print: printFileFigures,
};

async function measureFiles({ files, documents, edits, searches, records }: FileBenchOptions): Promise<FileFigures> {
  const scan = files > 0 ? await measureScan({ files, edits, records, seed: SEED }) : null;
  const search =
    documents > 0 ? await measureFileSearch({ documents, searches, seed: SEED, archive: '', restMs: 0 }) : null;
  return { scan, search, records, load: loadavg(), machine: describeMachine() };
}
