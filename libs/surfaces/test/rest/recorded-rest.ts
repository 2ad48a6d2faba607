import type { Envelope, Operation } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../edge/edge-harness.js';

export const NODE_ID = '0190a000-0000-7000-8000-000000000001';
export const NODE = `/nodes/${NODE_ID}`;

interface Call {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  readonly envelope: Envelope;
}

/** The REST surface in front of a service that keeps each call, and answers what the spec says. */
export class RecordedRest {
  readonly calls: Call[] = [];
  answer: (operation: Operation) => unknown = () => ({});
  private started: EdgeHarness | undefined;

  get edge(): EdgeHarness {
    if (!this.started) throw new Error('The edge is not started');
    return this.started;
  }

  async start(): Promise<void> {
    this.started = await startEdge({
      dispatch: (operation, input, envelope) => {
        this.calls.push({ operation: operation.name, input: input as Record<string, unknown>, envelope });
        return this.answer(operation);
      },
    });
  }

  /** Forgets the calls; every answer is `{}` again. */
  reset(): void {
    this.calls.length = 0;
    this.answer = () => ({});
  }

  /** One request of a manager, with a body as JSON. */
  readonly send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    this.edge.fetch(path, {
      method,
      token: this.edge.tokens.manage,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}
