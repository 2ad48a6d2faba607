import { type Caller, ServiceError } from '@workspace-graph/contracts';

export { seenBy } from '@workspace-graph/database';

/** The refusal of an absent node and of a hidden one alike. */
export function nodeNotFound(nodeId: string): ServiceError {
  return new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`, { node_id: nodeId });
}

/** The user to record as author of a change; null for the system itself. */
export function authorOf(caller: Caller): string | null {
  return caller.via === 'system' ? null : caller.user_id;
}

/** The refusal to a caller who may read a node and not write on it. */
export function nodeIsReadOnly(nodeId: string): ServiceError {
  return new ServiceError('FORBIDDEN', `You may read the node ${nodeId}, but not write to it.`, { node_id: nodeId });
}
