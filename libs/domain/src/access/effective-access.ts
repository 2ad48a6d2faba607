import type { AccessLevel, NodeType, Scope, Visibility } from '@workspace-graph/contracts';

/**
 * The rules of effective access, written down as plainly as possible and without a thought for
 * speed: every path is walked one by one. It is what the product's materialised access is compared
 * with in tests; graphs of some dozens of nodes are its measure.
 */

/** A node with its own sharing; `visibility` null means that it inherits. */
export interface AccessNode {
  /** Unique in the model. */
  readonly id: string;
  /** Organizations are no step on a path upwards; their list counts last. */
  readonly type: NodeType;
  /** Null for organizations. */
  readonly organizationId: string | null;
  /** Null inherits. */
  readonly visibility: Visibility | null;
  /** User that the owning actor is tied to. */
  readonly ownerUserId?: string | null;
  /** User that created the node. */
  readonly createdBy?: string | null;
  /** Counts for `group` only. */
  readonly recipients: readonly AccessRecipient[];
}

/** A user or a group with what it may do. */
export interface AccessRecipient {
  /** Id of a user or of a group. */
  readonly principalId: string;
  /** What the recipient may do. */
  readonly access: AccessLevel;
}

/** `belongs_to` between two nodes that are not organizations. */
export interface ParentEdge {
  /** The node that belongs to the other one, and inherits from it. */
  readonly childId: string;
  /** The node that it belongs to. */
  readonly parentId: string;
}

/** A user in a group. */
export interface Membership {
  /** The user. */
  readonly userId: string;
  /** The group; recipients name it. */
  readonly groupId: string;
}

/** A whole workspace, as far as access depends on it. */
export interface AccessModel {
  /** All nodes, organizations included. */
  readonly nodes: readonly AccessNode[];
  /** All `belongs_to` edges except those to organizations. */
  readonly parents: readonly ParentEdge[];
  /** All members of all groups. */
  readonly memberships: readonly Membership[];
}

/** A user with the scope of the credential in use. */
export interface AccessCaller {
  /** The user of the credential. */
  readonly userId: string;
  /** `manage` passes every gate; `read` limits the result to reading. */
  readonly scope: Scope;
}

export type EffectiveAccess = 'none' | AccessLevel;

const WEAKEST_FIRST: readonly EffectiveAccess[] = ['none', 'read', 'write'];

export function weakerAccess(a: EffectiveAccess, b: EffectiveAccess): EffectiveAccess {
  return WEAKEST_FIRST.indexOf(a) <= WEAKEST_FIRST.indexOf(b) ? a : b;
}

export function strongerAccess(a: EffectiveAccess, b: EffectiveAccess): EffectiveAccess {
  return weakerAccess(a, b) === a ? b : a;
}

/** What a caller may do on each node of the model, by node id. */
export function effectiveAccess(model: AccessModel, caller: AccessCaller): Map<string, EffectiveAccess> {
  return new Map(model.nodes.map((node) => [node.id, accessTo(model, node, caller)]));
}

/** What a caller may do on one node: the weakest over its gates, at most what the scope allows. */
function accessTo(model: AccessModel, node: AccessNode, caller: AccessCaller): EffectiveAccess {
  if (caller.scope === 'manage') return 'write';
  const granted = gatesOf(model, node).map((gate) => grantedBy(model, gate, caller.userId));
  return granted.reduce(weakerAccess, caller.scope);
}

/**
 * The restricted nodes whose sharing decides about a node; a caller must be allowed by each of them.
 * None means that the node is open.
 */
export function gatesOf(model: AccessModel, node: AccessNode): AccessNode[] {
  const deciders = [...new Set(pathEnds(model, node))];
  const restricted = deciders.filter(isRestricted);
  if (restricted.length > 0) return restricted;
  // A path that met no setting leaves the question to the organization.
  if (deciders.every((decider) => decider !== null)) return [];
  const organization = model.nodes.find((candidate) => candidate.id === node.organizationId);
  return organization && isRestricted(organization) ? [organization] : [];
}

/** For each path upwards the first node on it that has a setting, or null when there is none up to its top. */
function pathEnds(model: AccessModel, node: AccessNode): (AccessNode | null)[] {
  if (node.visibility !== null) return [node];
  const parentIds = model.parents.filter((edge) => edge.childId === node.id).map((edge) => edge.parentId);
  const parents = model.nodes.filter(
    (candidate) => parentIds.includes(candidate.id) && candidate.type !== 'organization',
  );
  return parents.length === 0 ? [null] : parents.flatMap((parent) => pathEnds(model, parent));
}

function isRestricted(node: AccessNode | null): node is AccessNode {
  return node?.visibility === 'private' || node?.visibility === 'group';
}

function grantedBy(model: AccessModel, gate: AccessNode, userId: string): EffectiveAccess {
  if (gate.ownerUserId === userId || gate.createdBy === userId) return 'write';
  if (gate.visibility !== 'group') return 'none';
  const groupIds = model.memberships.filter((membership) => membership.userId === userId).map(({ groupId }) => groupId);
  return gate.recipients
    .filter(({ principalId }) => principalId === userId || groupIds.includes(principalId))
    .map(({ access }): EffectiveAccess => access)
    .reduce(strongerAccess, 'none');
}
