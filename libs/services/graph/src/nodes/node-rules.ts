import { type Lifecycle, type NodeType, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { isLifecycleOf, lifecyclesOf } from '@workspace-graph/domain';

/** Refuses what only projects have. */
export function refuseHealthOfOthers(type: NodeType, path: 'health' | 'health_note'): void {
  if (type !== 'project')
    throw validationFailed([{ path, message: `only projects have a health, and this node has the type ${type}` }]);
}

/** Refuses a lifecycle value of another type. */
export function refuseForeignLifecycle(type: NodeType, lifecycle: Lifecycle): void {
  if (isLifecycleOf(type, lifecycle)) return;
  throw new ServiceError('LIFECYCLE_INVALID', `lifecycle: ${lifecycle} is not a lifecycle value of the type ${type}.`, {
    allowed: lifecyclesOf(type),
  });
}
