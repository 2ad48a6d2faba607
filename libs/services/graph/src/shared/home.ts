import { type Caller, validationFailed } from '@workspace-graph/contracts';

/**
 * The node whose surroundings a reading call is limited to; undefined for everything the caller may see. `session` is
 * the default of a connection with a home node.
 * @throws ServiceError VALIDATION_FAILED on `scope` when `session` is asked for and the connection has no home node
 */
export function homeOf(scope: 'session' | 'global' | undefined, caller: Caller): string | undefined {
  const home = caller.home_node_id ?? undefined;
  if (scope === 'session' && home === undefined) {
    throw validationFailed([{ path: 'scope', message: 'this connection has no home node; use the scope global' }]);
  }
  return scope === 'global' ? undefined : home;
}
