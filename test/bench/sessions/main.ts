import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
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
  SessionBenchUsageError,
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

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Carries `npm run bench -- --sessions` out. @returns the exit code */
export async function sessionsMain(args: readonly string[]): Promise<number> {
  try {
    const options = readSessionBenchOptions(args);
    if (!options) {
      process.stdout.write(`${SESSION_BENCH_HELP}\n`);
      return 0;
    }
    const report = await measureSessions(options);
    process.stdout.write(`${printSessionReport(report)}\n`);
    if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof SessionBenchUsageError;
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    progress(isUsage ? `${error.message}\n\n${SESSION_BENCH_HELP}` : told);
    return isUsage ? 2 : 1;
  }
}

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
