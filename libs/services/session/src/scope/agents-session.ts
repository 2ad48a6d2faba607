import { type Caller, validationFailed } from '@workspace-graph/contracts';

/** The session in whose name an agent calls. @throws ServiceError VALIDATION_FAILED for callers without one */
export function agentsSession({ session_id }: Caller): string {
  if (session_id) return session_id;
  throw validationFailed([{ path: '', message: 'This is for agents that work in a session.' }]);
}
