import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Connections of a pool at this moment. */
export interface PoolUse {
  /** Open connections. */
  readonly total: number;
  /** Open connections that nobody uses. */
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const PREFIX = 'workspace_graph_';
/** Sums of gauges that are there by kind as well; by convention only counters end with `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The numbers of one process, in Prometheus' text format. Labels take names of routes and operations, never ids. */
export class Metrics {
  readonly registry = new Registry();
  private readonly http = this.histogram('http_request_seconds', 'Time to answer an HTTP request.', [
    'method',
    'route',
    'status',
  ]);
  private readonly operations = this.histogram('operation_seconds', 'Time to execute an operation.', [
    'operation',
    'outcome',
  ]);
  private readonly busCalls = this.histogram(
    'bus_call_seconds',
    'Time of a call over the bus, measured by the caller.',
    ['operation', 'outcome'],
  );
  private readonly authentications = this.counter('authentications_total', 'Verified credentials by result.', [
    'outcome',
  ]);
  private readonly refusals = this.counter('rate_limited_total', 'Requests refused by a rate limit.', ['by']);

  /** @param options.process false leaves out memory, CPU and event loop of the process */
  constructor(options: { readonly process?: boolean } = {}) {
    if (options.process === false) return;
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  httpRequest(method: string, route: string, status: number, seconds: number): void {
    this.http.observe({ method, route, status }, seconds);
  }

  /** @param outcome `ok` or an error code */
  operation(operation: string, outcome: string, seconds: number): void {
    this.operations.observe({ operation, outcome }, seconds);
  }

  /** @param outcome `ok` or an error code */
  busCall(operation: string, outcome: string, seconds: number): void {
    this.busCalls.observe({ operation, outcome }, seconds);
  }

  authentication(outcome: 'ok' | 'cached' | 'refused' | 'failed'): void {
    this.authentications.inc({ outcome });
  }

  rateLimited(by: 'credential' | 'address' | 'failures'): void {
    this.refusals.inc({ by });
  }

  /** Shows how a connection pool is used; read whenever the metrics are. */
  watchPool(name: string, read: () => PoolUse): void {
    const gauge = this.gauge(`${name}_pool_connections`, 'Connections of the pool.', ['state'], () => {
      for (const [state, count] of Object.entries<number>({ ...read() })) gauge.set({ state }, count);
    });
  }

  /** Shows a number; read whenever the metrics are. */
  watch(name: string, help: string, read: () => number): void {
    const gauge = this.gauge(name, help, [], () => gauge.set(read()));
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  private histogram<T extends string>(name: string, help: string, labelNames: T[]): Histogram<T> {
    return new Histogram({ name: PREFIX + name, help, labelNames, buckets: SECONDS, registers: [this.registry] });
  }

  private counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  private gauge<T extends string>(name: string, help: string, labelNames: T[], collect: () => void): Gauge<T> {
    return new Gauge({ name: PREFIX + name, help, labelNames, collect, registers: [this.registry] });
  }
}
