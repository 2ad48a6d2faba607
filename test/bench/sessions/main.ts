import { loadavg } from 'node:os';
import { type BenchCommand, progress } from '../bench-command.js';
import { describeMachine } from '../report/machine.js';
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
import { printSessionReport, type SessionFigure, type SessionReport } from './table.js';

const MEASURES: Readonly<Record<SessionPart, (stage: Stage) => Promise<SessionFigure[]>>> = {
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
  const before = loadavg();
  progress('starting …');
  await using stage = await openStage(options, progress);
  const figures: SessionFigure[] = [];
  for (const part of SESSION_PARTS.filter((name) => options.parts.has(name))) {
    progress(`${part} …`);
    figures.push(...(await MEASURES[part](stage)));
  }
  return {
    at: new Date().toISOString(),
    scale: options.scale,
    machine: describeMachine(),
    load: { before, after: loadavg() },
    durability: stage.durability,
    figures,
  };
}
