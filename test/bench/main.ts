import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchedPlace, benchPlace } from './bench-place.js';
import { AnswersDiffer } from './measurements/compare.js';
import { HELP, type Options, readOptions, UsageError } from './options.js';
import { describeMachine } from './report/machine.js';
import type { Report } from './report/report.js';
import { printReport } from './report/tables.js';
import { SCALES } from './scales.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Carries the command out. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--files')) return (await import('./files/main.js')).filesMain(args);
  if (args.includes('--sessions')) return (await import('./sessions/main.js')).sessionsMain(args);
  try {
    const options = readOptions(args);
    if (options) await run(options);
    else process.stdout.write(`${HELP}\n`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      progress(`${error.message}\n\n${HELP}`);
      return 2;
    }
    progress(error instanceof AnswersDiffer ? error.message : String(error instanceof Error ? error.stack : error));
    return 1;
  }
}

async function run(options: Options): Promise<void> {
  const benched: BenchedPlace[] = [];
  for (const name of options.places) benched.push(await benchPlace(name, { options, root, progress }));
  const report: Report = {
    at: new Date().toISOString(),
    scale: options.scale,
    graph: SCALES[options.scale].graph,
    restrictedNodes: benched[0]?.restrictedNodes ?? 0,
    secondsPerSide: options.seconds,
    machine: describeMachine(),
    places: benched.map((each) => each.report),
  };
  process.stdout.write(`${printReport(report)}\n`);
  if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
}
