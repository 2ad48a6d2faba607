import type { Bus } from '@workspace-graph/bus';
import type { Health, Logger, Metrics, Shutdown, Tracing } from '@workspace-graph/platform';
import type { EdgeSettings } from './edge-settings.js';

/** What a process gives to its edge. Injected as `EDGE_PARTS`. */
export interface EdgeParts {
  /** The edge's part of the configuration. */
  readonly settings: EdgeSettings;
  /** On which credentials are verified and operations are called. */
  readonly bus: Bus;
  /** Log of the process. */
  readonly logger: Logger;
  /** Counts requests, credentials and refusals. */
  readonly metrics: Metrics;
  /** Begins a trace for each request. */
  readonly tracing: Tracing;
  /** Answers `/health/ready`. */
  readonly health: Health;
  /** Requests are refused once it is `stopping`; connections are closed after their answer while it is `leaving`. */
  readonly shutdown: Pick<Shutdown, 'leaving' | 'stopping'>;
}

export const EDGE_PARTS = Symbol('workspace-graph:edge-parts');
