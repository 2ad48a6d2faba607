import { type Caller, validationFailed } from '@workspace-graph/contracts';

/**
 * The session to whose scope a list of nodes is limited; null for everything the caller may see, the default of a session
 * without a home node.
 * @throws ServiceError VALIDATION_FAILED on `scope` when `session` is asked for without a session
 */
export function listedSession(scope: 'session' | 'global' | undefined, caller: Caller): string | null {
  const session = caller.session_id ?? null;
  if (scope === 'session' && session === null)
    throw validationFailed([{ path: 'scope', message: 'this call is not made in a session; use the scope global' }]);
  return (scope ?? (caller.home_node_id ? 'session' : 'global')) === 'global' ? null : session;
}
