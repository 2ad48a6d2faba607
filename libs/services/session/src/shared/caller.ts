import { type Caller, ServiceError } from '@workspace-graph/contracts';

export { seenBy } from '@workspace-graph/database';

/** The refusal of an absent session and of one that the caller may not see alike. */
export function sessionNotFound(sessionId: string): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId} that you may see.`, {
    session_id: sessionId,
  });
}

/** The refusal of an absent node and of a hidden one alike. */
export function nodeNotFound(nodeId: string): ServiceError {
  return new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`, { node_id: nodeId });
}

/** Whether the session is the caller's own. */
export function isOwner(caller: Caller, session: { readonly owner_id: string }): boolean {
  return caller.user_id === session.owner_id;
}
