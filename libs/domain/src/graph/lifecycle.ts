import {
  LIFECYCLES,
  type Lifecycle,
  type NodeStatus,
  type NodeType,
  STATUS_OF_LIFECYCLE,
} from '@workspace-graph/contracts';
import { assertNever } from '../assert-never.js';

/** The lifecycle values that a node type allows, in the order in which they usually follow each other. */
export function lifecyclesOf(type: NodeType): readonly Lifecycle[] {
  return LIFECYCLES[type];
}

export function isLifecycleOf(type: NodeType, lifecycle: Lifecycle): boolean {
  return lifecyclesOf(type).includes(lifecycle);
}

/** The lifecycle of a new node. */
export function defaultLifecycle(type: NodeType): Lifecycle {
  return LIFECYCLES[type][0];
}

export function statusOf(lifecycle: Lifecycle): NodeStatus {
  return STATUS_OF_LIFECYCLE[lifecycle];
}

/** The lifecycle that archiving a node of this type gives it. */
export function archivedLifecycle(type: NodeType): Lifecycle {
  switch (type) {
    case 'organization':
    case 'area':
    case 'principle':
      return 'archived';
    case 'project':
      return 'cancelled';
    case 'process':
      return 'retired';
    default:
      return assertNever(type);
  }
}

/**
 * The lifecycle that restoring an archived node gives it: the one it had before it was archived, or
 * the default of its type when that is unknown or was an archived one itself.
 */
export function restoredLifecycle(type: NodeType, former: Lifecycle | null): Lifecycle {
  const isUsable = former !== null && isLifecycleOf(type, former) && statusOf(former) !== 'archived';
  return isUsable ? former : defaultLifecycle(type);
}

/**
 * What a change of lifecycle amounts to. Every allowed value may follow every other; entering an
 * archived one is an archive and leaving it a restore, whichever operation asked for it.
 */
export type LifecycleChange = 'none' | 'change' | 'archive' | 'restore' | 'invalid';

/** Classifies the step `from` → `to`; `invalid` when the type does not allow `to`. */
export function lifecycleChange(type: NodeType, from: Lifecycle, to: Lifecycle): LifecycleChange {
  if (!isLifecycleOf(type, to)) return 'invalid';
  if (from === to) return 'none';
  const wasArchived = statusOf(from) === 'archived';
  const willBeArchived = statusOf(to) === 'archived';
  if (wasArchived === willBeArchived) return 'change';
  return willBeArchived ? 'archive' : 'restore';
}
