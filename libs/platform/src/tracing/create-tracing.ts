import type { Span, SpanOptions, Tracing, TracingOptions } from './tracing.js';

const NO_PARENT: Span = Object.freeze({ traceparent: undefined, set: nothing, end: nothing });

/** Records nothing and passes a trace context on, so that callers who trace keep their thread. */
export const NO_TRACING: Tracing = Object.freeze({
  enabled: false,
  start: (_name: string, { parent }: SpanOptions) =>
    parent === undefined ? NO_PARENT : { traceparent: parent, set: nothing, end: nothing },
  close: () => Promise.resolve(),
});

/** The SDK is loaded only where a collector is configured. */
export async function createTracing(options: TracingOptions): Promise<Tracing> {
  if (options.url === undefined) return NO_TRACING;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing({ ...options, url: options.url });
}

function nothing(): void {
  return undefined;
}
