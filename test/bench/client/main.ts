import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchCommand, progress } from '../bench-command.js';
import { type Figure, figureTable } from '../report/figures.js';
import { type FigureReport, headOf, measureParts } from '../report/run.js';
import { measureDrawing } from './drawing.js';
import { measureFirstView } from './first-view.js';
import { measureLive } from './live.js';
import { measureLog } from './log.js';
import { measureMemory } from './memory.js';
import {
  CLIENT_BENCH_HELP,
  CLIENT_PARTS,
  type ClientBenchOptions,
  type ClientPart,
  readClientBenchOptions,
} from './options.js';
import { type ClientStage, openStage } from './stage.js';
import { measureTyping } from './typing.js';

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const MEASURES: Readonly<Record<ClientPart, (stage: ClientStage) => Promise<Figure[]>>> = {
  'first-view': measureFirstView,
  graph: measureDrawing,
  log: measureLog,
  typing: measureTyping,
  live: measureLive,
  memory: measureMemory,
};

/** `npm run bench -- --client` */
export const CLIENT: BenchCommand<ClientBenchOptions, FigureReport> = {
  help: CLIENT_BENCH_HELP,
  read: readClientBenchOptions,
  measure: measureClient,
  print: (report) => [headOf(report, 'no graphics card'), '', ...figureTable(report.figures)].join('\n'),
};

async function measureClient(options: ClientBenchOptions): Promise<FigureReport> {
  progress('starting …');
  await using stage = await openStage(options, root);
  const parts = CLIENT_PARTS.filter((name) => options.parts.has(name));
  // Awaited here, for the stage ends with this function.
  return await measureParts(options.scale, parts, (part) => MEASURES[part](stage));
}
