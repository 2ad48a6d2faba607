import {
  type Span as ApiSpan,
  SpanKind as ApiSpanKind,
  type Context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../logging/index.js';
import { parseTraceparent } from './traceparent.js';
import type { Span, SpanKind, SpanOptions, Tracing, TracingOptions } from './tracing.js';

const KINDS: Readonly<Record<SpanKind, ApiSpanKind>> = {
  server: ApiSpanKind.SERVER,
  client: ApiSpanKind.CLIENT,
  internal: ApiSpanKind.INTERNAL,
};
/** Delay until a finished span is sent, in milliseconds. */
const SEND_AFTER_MS = 1_000;
/** Time for sending, retries included; the process also waits this long for a collector that is away when it ends. */
const SEND_WITHIN_MS = 2_000;

/** Sends spans to a collector. One that cannot be reached costs spans, never a request. */
export class OtlpTracing implements Tracing {
  readonly enabled = true;
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor(options: TracingOptions & { readonly url: string }) {
    diag.setLogger(intoLog(options.logger), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const exporter = new OTLPTraceExporter({ url: tracesUrl(options.url), timeoutMillis: SEND_WITHIN_MS });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.namespace': 'workspace-graph', 'service.name': options.process }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.ratio) }),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_AFTER_MS })],
    });
    this.tracer = this.provider.getTracer('workspace-graph');
  }

  start(name: string, { kind, parent, attributes }: SpanOptions): Span {
    return new OtlpSpan(
      this.tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, contextOf(parent)),
    );
  }

  close(): Promise<void> {
    return this.provider.shutdown();
  }
}

class OtlpSpan implements Span {
  readonly traceparent: string;

  constructor(private readonly span: ApiSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  set(name: string, value: string | number | boolean): void {
    this.span.setAttribute(name, value);
  }

  end(failure?: { readonly code: string; readonly isFault: boolean }): void {
    if (failure) this.span.setAttribute('error.type', failure.code);
    if (failure?.isFault) this.span.setStatus({ code: SpanStatusCode.ERROR, message: failure.code });
    this.span.end();
  }
}

function contextOf(parent: string | undefined): Context {
  const [, traceId, spanId, flags] = parseTraceparent(parent)?.split('-') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}

/** Collectors take traces under a path of their own. */
function tracesUrl(base: string): string {
  const bare = base.replace(/\/+$/, '');
  return bare.endsWith('/v1/traces') ? bare : `${bare}/v1/traces`;
}

function intoLog(logger: Logger): DiagLogger {
  const warn = (message: string): void => logger.warn({ context: 'tracing' }, message);
  const ignore = (message: string): void => logger.trace({ context: 'tracing' }, message);
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}
