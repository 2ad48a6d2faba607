import type { Logger } from '../logging/index.js';

export type SpanKind = 'server' | 'client' | 'internal';
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  readonly kind: SpanKind;
  /** Trace context of the span that caused this one; without it a new trace begins. */
  readonly parent?: string;
  readonly attributes?: SpanAttributes;
}

/** One step of a trace. */
export interface Span {
  /** Trace context for the steps that this one causes. */
  readonly traceparent: string | undefined;
  set(name: string, value: string | number | boolean): void;
  /** Ends the step; with a code or error it failed. */
  end(failure?: { readonly code: string; readonly isFault: boolean }): void;
}

/** Records the steps of a request across processes. The trace context travels in the envelope, not in ambient state. */
export interface Tracing {
  readonly enabled: boolean;
  start(name: string, options: SpanOptions): Span;
  /** Sends what is still buffered. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** Collector that takes OTLP over HTTP, such as http://collector:4318. Without it nothing is recorded. */
  readonly url?: string;
  /** Share of new traces that are recorded, 0 to 1. */
  readonly ratio: number;
  readonly process: string;
  readonly logger: Logger;
}
