import { type BenchCommand, progress } from '../bench-command.js';
import { type Figure, figureTable } from '../report/figures.js';
import { type FigureReport, headOf, measureParts } from '../report/run.js';
import { measureLarge, measureSmall } from './copies.js';
import { measureLinks, measureMemory } from './memory.js';
import {
  readTransferBenchOptions,
  TRANSFER_BENCH_HELP,
  TRANSFER_PARTS,
  type TransferBenchOptions,
  type TransferPart,
} from './options.js';
import { openStage, type Stage } from './stage.js';

const MEASURES: Readonly<Record<TransferPart, (stage: Stage) => Promise<Figure[]>>> = {
  links: measureLinks,
  memory: measureMemory,
  small: measureSmall,
  large: measureLarge,
};

/** `npm run bench -- --transfer` */
export const TRANSFER: BenchCommand<TransferBenchOptions, FigureReport> = {
  help: TRANSFER_BENCH_HELP,
  read: readTransferBenchOptions,
  measure: async (options) => {
    progress('starting …');
    await using stage = await openStage(options, progress);
    const parts = TRANSFER_PARTS.filter((name) => options.parts.has(name));
    return await measureParts(options.scale, parts, (part) => MEASURES[part](stage));
  },
  print: (report) => [headOf(report, 'beside rclone'), '', ...figureTable(report.figures)].join('\n'),
};
