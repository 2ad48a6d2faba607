import type { Config, ProcessName } from '../config/index.js';
import { Health } from '../health/index.js';
import { createProcessLogger, type Logger } from '../logging/index.js';
import { keepHeapSmall } from '../memory/index.js';
import { Metrics } from '../metrics/index.js';
import { Shutdown } from '../shutdown/index.js';
import { createTracing, type Tracing } from '../tracing/index.js';

/** What every process of the product has. */
export interface ProcessParts {
  /** Name of the process in logs, traces and at the broker. */
  readonly name: ProcessName;
  /** Its environment, validated. */
  readonly config: Config;
  /** Log of the process, on standard output. */
  readonly logger: Logger;
  /** Everything that is opened adds the step that closes it. */
  readonly shutdown: Shutdown;
  /** Counters of the process, shown at `/metrics`. */
  readonly metrics: Metrics;
  /** Not ready until the start is complete, and again from the announcement of a stop. */
  readonly health: Health;
  /** Traces of the process; records nothing without a collector. */
  readonly tracing: Tracing;
  /** Aborted when the process stops: a start that waits for something then ends. */
  readonly stopping: AbortSignal;
}

export interface ProcessOptions {
  /** Milliseconds for which a stop is announced before work is refused. Default 0. */
  readonly announceMs?: number;
}

/**
 * Opens what a process needs before it does anything, and runs its start. What was opened is closed again when the start
 * fails.
 * @throws what the start throws
 */
export async function startProcess<T>(
  name: ProcessName,
  config: Config,
  start: (parts: ProcessParts) => Promise<T>,
  { announceMs = 0 }: ProcessOptions = {},
): Promise<T> {
  keepHeapSmall();
  const logger = createProcessLogger(name, config);
  const shutdown = new Shutdown({ announceMs, graceMs: config.SVC_SHUTDOWN_GRACE_MS, logger });
  const stopping = new AbortController();
  shutdown.add('announce', 'start', () => stopping.abort());
  shutdown.listen();
  const health = new Health(logger);
  let isStarted = false;
  health.add('start', () => isStarted);
  shutdown.add('announce', 'readiness', () => health.stop());
  try {
    const tracing = await createTracing({
      ...(config.SVC_OTLP_URL ? { url: config.SVC_OTLP_URL } : {}),
      ratio: config.SVC_TRACE_RATIO,
      process: name,
      logger,
    });
    shutdown.add('last', 'traces', () => tracing.close());
    const metrics = new Metrics();
    const result = await start({ name, config, logger, shutdown, metrics, health, tracing, stopping: stopping.signal });
    isStarted = true;
    // What was answered before says nothing any more.
    await health.isUsable('start');
    return result;
  } catch (error) {
    await shutdown.begin('the start failed');
    throw error;
  }
}
