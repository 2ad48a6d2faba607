import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Bus, CallOptions } from '@workspace-graph/bus';
import {
  type Caller,
  type Envelope,
  type InputOf,
  type Operation,
  type OutputOf,
  type ReplyOf,
  resolveReferences,
} from '@workspace-graph/contracts';
import { attributesOf, type Metrics, observe, type Tracing } from '@workspace-graph/platform';
import type { FastifyRequest } from 'fastify';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';
import { withIds } from '../references/named-ids.js';

/** Calls operations on behalf of a request: envelope, trace and metrics of the call. */
@Injectable()
export class OperationCalls {
  private readonly bus: Bus;
  private readonly metrics: Metrics;
  private readonly tracing: Tracing;

  constructor(@Inject(EDGE_PARTS) { bus, metrics, tracing }: EdgeParts) {
    this.bus = bus;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  /** @throws ServiceError */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, context: CallContext): Promise<ReplyOf<Op>> {
    const { request, caller, callId, options } = context;
    const parent = request.edge?.span.traceparent;
    const span = this.tracing.start(operation.name, {
      kind: 'client',
      ...(parent ? { parent } : {}),
      ...(this.tracing.enabled ? { attributes: attributesOf(operation, request.id) } : {}),
    });
    const { traceparent } = span;
    const envelope: Envelope = { callId, requestId: request.id, caller, ...(traceparent ? { traceparent } : {}) };
    return observe(
      () => this.bus.call(operation, input, envelope, options),
      span,
      (outcome, seconds) => this.metrics.busCall(operation.name, outcome, seconds),
    );
  }

  /** The input with ids where it names nodes, actors, users and groups otherwise. @throws ServiceError */
  withIds<I extends Readonly<Record<string, unknown>>>(input: I, context: Omit<CallContext, 'callId'>): Promise<I> {
    return withIds(input, async (references) => {
      const asked = { references: [...references] };
      const found = await this.call(resolveReferences, asked, { ...context, callId: randomUUID() });
      return (found as OutputOf<typeof resolveReferences>).ids;
    });
  }
}

/** The request for which an operation is called. */
export interface CallContext {
  /** Its edge has the span and the request id. */
  readonly request: FastifyRequest;
  /** The caller that the edge has verified. */
  readonly caller: Caller;
  /** Idempotency key of the call. */
  readonly callId: string;
  /** Signal and time limit. Default: those of the operation. */
  readonly options?: CallOptions;
}
