import { type ResourceLimits, Worker } from 'node:worker_threads';

/** Node compiles the sources of a worker itself; what was built runs as it is. */
const FROM_SOURCES = import.meta.url.endsWith('.ts');
const SOURCE_FLAGS = [
  '--conditions=@workspace-graph/source',
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('../../testing/source-worker.mjs', import.meta.url).href,
];

export interface WorkerStart {
  readonly data?: unknown;
  readonly resourceLimits?: ResourceLimits;
}

/** Starts a worker thread on a module of ours, named as the built one is: `new URL('./x.js', import.meta.url)`. */
export function startWorker(module: URL, { data, resourceLimits }: WorkerStart = {}): Worker {
  const entry = FROM_SOURCES ? new URL(module.href.replace(/\.js$/, '.ts')) : module;
  return new Worker(entry, {
    workerData: data,
    execArgv: FROM_SOURCES ? SOURCE_FLAGS : [],
    ...(resourceLimits && { resourceLimits }),
  });
}
