import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchCommand, carryOut, progress } from './bench-command.js';
import { type BenchedPlace, benchPlace } from './bench-place.js';
import { HELP, type Options, readOptions } from './options.js';
import { describeMachine } from './report/machine.js';
import type { Report } from './report/report.js';
import { printReport } from './report/tables.js';
import { SCALES } from './scales.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const GRAPH: BenchCommand<Options, Report> = { help: HELP, read: readOptions, measure, print: printReport };

/** Carries the command out. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  // Each benchmark loads only what it measures.
  if (args.includes('--files')) return carryOut((await import('./files/main.js')).FILES, args);
  if (args.includes('--client')) return carryOut((await import('./client/main.js')).CLIENT, args);
  if (args.includes('--transfer')) return carryOut((await import('./transfer/main.js')).TRANSFER, args);
  if (args.includes('--sessions')) return carryOut((await import('./sessions/main.js')).SESSIONS, args);
  return carryOut(GRAPH, args);
}

async function measure(options: Options): Promise<Report> {
  const benched: BenchedPlace[] = [];
  for (const name of options.places) benched.push(await benchPlace(name, { options, root, progress }));
  return {
    at: new Date().toISOString(),
    scale: options.scale,
    graph: SCALES[options.scale].graph,
    restrictedNodes: benched[0]?.restrictedNodes ?? 0,
    secondsPerSide: options.seconds,
    machine: describeMachine(),
    places: benched.map((each) => each.report),
  };
}
