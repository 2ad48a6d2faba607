import { type BenchCommand, progress } from '../bench-command.js';
import type { Figure } from '../report/figures.js';
import { measureParts } from '../report/run.js';
import { measureAppends } from './append.js';
import { measureConnects } from './connect.js';
import { measureDelivery } from './delivery.js';
import { measureIdleSockets } from './idle.js';
import {
  readSessionBenchOptions,
  SESSION_BENCH_HELP,
  SESSION_PARTS,
  type SessionBenchOptions,
  type SessionPart,
} from './options.js';
import { measurePages } from './pages.js';
import { measureReplay } from './replay.js';
import { measureScope } from './scope.js';
import { openStage, type Stage } from './stage.js';
import { printSessionReport, type SessionReport } from './table.js';

const MEASURES: Readonly<Record<SessionPart, (stage: Stage) => Promise<Figure[]>>> = {
  idle: measureIdleSockets,
  append: measureAppends,
  connect: measureConnects,
  delivery: measureDelivery,
  replay: measureReplay,
  pages: measurePages,
  scope: measureScope,
};

/** `npm run bench -- --sessions` */
export const SESSIONS: BenchCommand<SessionBenchOptions, SessionReport> = {
  help: SESSION_BENCH_HELP,
  read: readSessionBenchOptions,
  measure: measureSessions,
  print: printSessionReport,
};

async function measureSessions(options: SessionBenchOptions): Promise<SessionReport> {
  progress('starting …');
  await using stage = await openStage(options, progress);
  const parts = SESSION_PARTS.filter((name) => options.parts.has(name));
  return {
    ...(await measureParts(options.scale, parts, (part) => MEASURES[part](stage))),
    durability: stage.durability,
  };
}
