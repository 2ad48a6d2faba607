import { randomBytes } from 'node:crypto';
import { observeOperations, type SpanOptions, type Tracing } from '@workspace-graph/platform';
import { startEdge } from '../../test/edge/edge-harness.js';

interface Recorded {
  readonly name: string;
  readonly kind: string;
  readonly parent: string | undefined;
  readonly traceparent: string;
  failure?: unknown;
}

/** Keeps the steps instead of sending them. */
class RecordedTracing implements Tracing {
  readonly enabled = true;
  readonly spans: Recorded[] = [];

  start(name: string, { kind, parent }: SpanOptions) {
    const trace = parent?.slice(3, 35) ?? randomBytes(16).toString('hex');
    const span: Recorded = { name, kind, parent, traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01` };
    this.spans.push(span);
    return {
      traceparent: span.traceparent,
      set: () => undefined,
      end: (failure?: unknown) => {
        span.failure = failure;
      },
    };
  }

  async close(): Promise<void> {
    this.spans.length = 0;
  }
}

describe('the trace of a request', () => {
  it('runs from the client over the edge and the bus into the service [edge.traces]', async () => {
    const tracing = new RecordedTracing();
    const edge = await startEdge({
      tracing,
      dispatch: (operation, input, envelope, signal) => {
        const context = { operation, input, envelope, signal, caller: edge.tokens.read.caller as never };
        return observeOperations(edge.metrics, tracing)(operation, context, async () => ({ id: 'x' }));
      },
    });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await edge.fetch('/nodes/0190a000-0000-7000-8000-000000000001', {
      token: edge.tokens.read,
      headers: { traceparent },
    });
    await edge.close();

    const [request, call, service] = tracing.spans;
    expect(tracing.spans.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'server GET /nodes/:node_id',
      'client get_node',
      'server get_node',
    ]);
    expect(request?.parent).toBe(traceparent);
    expect(call?.parent).toBe(request?.traceparent);
    expect(service?.parent).toBe(call?.traceparent);
  });
});
