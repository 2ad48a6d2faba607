export { Metrics, type PoolUse } from './metrics.js';
export { type MetricsRequest, mayReadMetrics } from './metrics-access.js';
