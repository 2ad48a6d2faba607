import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { describeMachine } from '../report/machine.js';
import { FILE_BENCH_HELP, FileBenchUsageError, readFileBenchOptions } from './options.js';
import { measureScan } from './scan.js';
import { measureFileSearch } from './search.js';
import { printFileFigures } from './table.js';

const SEED = 7;

/** Carries `npm run bench -- --files` out. @returns the exit code */
export async function filesMain(args: readonly string[]): Promise<number> {
  try {
    const options = readFileBenchOptions(args);
    if (!options) {
      process.stdout.write(`${FILE_BENCH_HELP}\n`);
      return 0;
    }
    const { files, documents, edits, searches, records } = options;
    const scan = files > 0 ? await measureScan({ files, edits, records, seed: SEED }) : null;
    const search =
      documents > 0 ? await measureFileSearch({ documents, searches, seed: SEED, archive: '', restMs: 0 }) : null;
    const figures = { scan, search, records, load: loadavg(), machine: describeMachine() };
    process.stdout.write(`${printFileFigures(figures)}\n`);
    if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(figures, null, 2)}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof FileBenchUsageError;
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(isUsage ? `${error.message}\n\n${FILE_BENCH_HELP}\n` : `${told}\n`);
    return isUsage ? 2 : 1;
  }
}
