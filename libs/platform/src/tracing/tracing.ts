import type { Logger } from '../logging/index.js';

export type SpanKind = 'server' | 'client' | 'internal';
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Options of a step of a trace. */
export interface SpanOptions {
  /** `server`: the step answers a request. `client`: it waits for another process. */
  readonly kind: SpanKind;
  /** Trace context of the span that caused this one; without it a new trace begins. */
  readonly parent?: string;
  /** Attributes of the step; undefined values are omitted. */
  readonly attributes?: SpanAttributes;
}

/** One step of a trace. */
export interface Span {
  /** Trace context for the steps that this one causes. */
  readonly traceparent: string | undefined;
  /** Sets an attribute of the step. */
  set(name: string, value: string | number | boolean): void;
  /** Ends the step; with a code or error it failed. */
  end(failure?: { readonly code: string; readonly isFault: boolean }): void;
}

/** Records the steps of a request across processes. The trace context travels in the envelope, not in ambient state. */
export interface Tracing {
  /** False when no collector is configured: `start` then records nothing. */
  readonly enabled: boolean;
  /** Begins a step. End it in every case; steps that do not end are not sent. */
  start(name: string, options: SpanOptions): Span;
  /** Sends what is still buffered. */
  close(): Promise<void>;
}

/** Options of the traces of a process. */
export interface TracingOptions {
  /** Collector that takes OTLP over HTTP, such as http://collector:4318. Without it nothing is recorded. */
  readonly url?: string;
  /** Share of new traces that are recorded, 0 to 1. */
  readonly ratio: number;
  /** Name of the process in each trace. */
  readonly process: string;
  /** Receives failures to send traces. */
  readonly logger: Logger;
}
