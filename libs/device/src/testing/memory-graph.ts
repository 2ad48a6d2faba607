import {
  type Caller,
  type Context,
  getContext,
  type Operation,
  type ParsedInputOf,
  ServiceError,
} from '@workspace-graph/contracts';
import type { z } from 'zod';
import type { MemoryFileService } from './memory-file-service.js';

type ContextAnswer = z.infer<typeof Context>;
export type FakeNodeDetails = Partial<ContextAnswer['node']> &
  Partial<Pick<ContextAnswer, 'nodes' | 'recent_sessions'>>;

/** Answers `get_context` for the nodes of a MemoryFileService, with the details that a spec sets. */
export class MemoryGraph {
  readonly details = new Map<string, FakeNodeDetails>();
  /** Thrown by the next calls, until it is removed. */
  failure: Error | null = null;
  /** Who asked, the last one at the end. */
  readonly askers: (Caller | null)[] = [];

  static readonly operations: readonly Operation[] = [getContext];

  constructor(private readonly records: MemoryFileService) {}

  /** Fits `Bus.serve`. */
  readonly dispatch = async (
    _operation: Operation,
    input: unknown,
    { envelope }: { readonly envelope: { readonly caller: Caller | null } },
  ): Promise<unknown> => {
    this.askers.push(envelope.caller);
    if (this.failure) throw this.failure;
    const { node_id: nodeId = '' } = input as ParsedInputOf<typeof getContext>;
    const place = this.records.placeOf(nodeId, envelope.caller);
    if (!place) throw new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`);
    const { nodes = [], recent_sessions = [], ...details } = this.details.get(nodeId) ?? {};
    return {
      complete: true,
      nodes,
      recent_sessions,
      node: {
        id: nodeId,
        type: place.type,
        name: place.name,
        lifecycle: 'in_progress',
        health: null,
        organization: null,
        owner: null,
        description: '',
        goal: '',
        health_report: null,
        responsibilities: [],
        data_sources: [],
        tools: [],
        recent_events: [],
        ...details,
      },
    };
  };
}
