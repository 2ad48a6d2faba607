import { LIMITS } from './limits.js';
import type { ObjectSchema, Operation, ReachAccess } from './operation.js';

/** What belongs to nodes and can be named by its id. `any`: a node, or an event or a file of one. */
export const REACH_KINDS = [
  'node',
  'event',
  'file',
  'edge',
  'responsibility',
  'link',
  'actor',
  'access_request',
  'session',
  'trash',
  'any',
] as const;
export type ReachKind = (typeof REACH_KINDS)[number];

/** Every field by which an input can name something of a node. */
export const REACH_FIELDS: Readonly<Record<string, ReachKind>> = {
  node_id: 'node',
  node_ids: 'node',
  organization_id: 'node',
  parent_id: 'node',
  parent_ids: 'node',
  source_id: 'node',
  target_id: 'any',
  new_node_id: 'node',
  positions: 'node',
  event_id: 'event',
  file_id: 'file',
  file_ids: 'file',
  edge_id: 'edge',
  responsibility_id: 'responsibility',
  responsibility_ids: 'responsibility',
  data_source_id: 'link',
  tool_id: 'link',
  access_request_id: 'access_request',
  session_id: 'session',
  trash_id: 'trash',
};
/** Named by many that reach no node through it; an operation that does says so. */
const OPTIONAL_FIELDS: Readonly<Record<string, ReachKind>> = { actor_id: 'actor' };

/** Something of a node that a call names, and what a session must hold of it. */
export interface Reached {
  readonly kind: ReachKind;
  readonly id: string;
  readonly access: Exclude<ReachAccess, 'free'>;
}

/** @throws Error when an operation does not say what it reaches */
export function refuseUnsaidReach({ name, input, tier, reach }: Operation): void {
  if ((reach === 'internal') !== (tier === 'internal' || tier === 'device'))
    throw new Error(`Operation ${name} must say what it reaches; only internal ones reach as internal`);
  if (reach === 'internal') return;
  const silent = namingFields(input).filter((field) => reach[field] === undefined);
  if (silent.length > 0) throw new Error(`Operation ${name} does not say what it reaches by ${silent.join(', ')}`);
  const unknown = Object.keys(reach).filter((field) => !(field in input.shape) || kindOf(field) === undefined);
  if (unknown.length > 0) throw new Error(`Operation ${name} cannot reach anything by ${unknown.join(', ')}`);
}

/** What a call names whose scope matters, of the parsed input of its operation. */
export function reachedBy({ reach }: Pick<Operation, 'reach'>, input: Readonly<Record<string, unknown>>): Reached[] {
  if (reach === 'internal') return [];
  return Object.entries(reach).flatMap(([field, access]) => {
    const kind = kindOf(field);
    if (access === 'free' || kind === undefined) return [];
    return idsIn(input[field]).map((id) => ({ kind, id, access }));
  });
}

function namingFields(input: ObjectSchema): string[] {
  return Object.keys(input.shape).filter((field) => Object.hasOwn(REACH_FIELDS, field));
}

function kindOf(field: string): ReachKind | undefined {
  return REACH_FIELDS[field] ?? OPTIONAL_FIELDS[field];
}

/** One id, a list of them, or a list of objects with a node each. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  return typeof value === 'object' && value !== null && 'node_id' in value ? idsIn(value.node_id) : [];
}

/** The one call that brings nodes into the scope of a session, as agents are told it. */
export function expandHint(nodeIds: readonly string[], access: 'read' | 'write'): string {
  const asked = nodeIds.slice(0, LIMITS.scopeNodesPerCall);
  return `Call svc_expand_scope with ${JSON.stringify({ node_ids: asked, access, reason: 'why the task needs it' })}, then repeat this call.`;
}
