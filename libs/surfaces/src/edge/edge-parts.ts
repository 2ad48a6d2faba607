import type { Bus } from '@workspace-graph/bus';
import type { Health, Logger, Metrics, Shutdown, Tracing } from '@workspace-graph/platform';
import type { EdgeSettings } from './edge-settings.js';

/** What a process hands to its edge. */
export interface EdgeParts {
  readonly settings: EdgeSettings;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly health: Health;
  readonly shutdown: Pick<Shutdown, 'leaving' | 'stopping'>;
}

export const EDGE_PARTS = Symbol('workspace-graph:edge-parts');
