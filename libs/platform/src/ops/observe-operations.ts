import { type Operation, ServiceError } from '@workspace-graph/contracts';
import type { Logger } from '../logging/index.js';
import type { Metrics } from '../metrics/index.js';
import type { OperationObserver } from '../operations/index.js';
import type { Span, Tracing } from '../tracing/index.js';

const FAULT_STATUS = 500;

/** Counts, times and traces every operation that this process carries out: `registry.observe(observeOperations(…))`. */
export function observeOperations(metrics: Metrics, tracing: Tracing): OperationObserver {
  return (operation, { envelope }, run) =>
    observe(
      run,
      tracing.start(operation.name, {
        kind: 'server',
        parent: envelope.traceparent,
        attributes: attributesOf(operation, envelope.requestId),
      }),
      (outcome, seconds) => metrics.operation(operation.name, outcome, seconds),
    );
}

/** Runs a step and tells how it ended: `ok` or an error code, and how many seconds it took. */
export async function observe<T>(
  run: () => Promise<T>,
  span: Span,
  record: (outcome: string, seconds: number) => void,
): Promise<T> {
  const startedAtMs = performance.now();
  const seconds = (): number => (performance.now() - startedAtMs) / 1_000;
  try {
    const result = await run();
    span.end();
    record('ok', seconds());
    return result;
  } catch (error) {
    const code = codeOf(error);
    span.end({ code, isFault: !(error instanceof ServiceError) || error.status >= FAULT_STATUS });
    record(code, seconds());
    throw error;
  }
}

export function attributesOf(operation: Operation, requestId: string): Readonly<Record<string, string>> {
  return { 'rpc.service': operation.owner, 'rpc.method': operation.name, request_id: requestId };
}

/** Writes a line for every operation that this process carries out, under the id of its request. */
export function logOperations(logger: Logger): OperationObserver {
  return async ({ name }, { envelope }, run) => {
    const startedAtMs = performance.now();
    const record = (outcome: string): void => {
      const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
      logger.info({ request_id: envelope.requestId, operation: name, outcome, ms }, 'operation');
    };
    try {
      const reply = await run();
      record('ok');
      return reply;
    } catch (error) {
      record(codeOf(error));
      throw error;
    }
  };
}

function codeOf(error: unknown): string {
  return error instanceof ServiceError ? error.code : 'INTERNAL';
}
