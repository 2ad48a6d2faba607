export { createTracing, NO_TRACING } from './create-tracing.js';
export { parseTraceparent } from './traceparent.js';
export type {
  Span,
  SpanAttributes,
  SpanKind,
  SpanOptions,
  Tracing,
  TracingOptions,
} from './tracing.js';
