import { type GraphDocument, LIFECYCLES, type ValidationIssue } from '@workspace-graph/contracts';
import { isLifecycleOf } from '@workspace-graph/domain';
import type { Existing } from './existing.js';
import type { ImportPlan } from './import-rows.js';
import { findParentCycle } from './parent-cycle.js';

/** A value at a place of the document; null says nothing. */
interface Stated {
  readonly path: string;
  readonly value: unknown;
}

/**
 * What a document says twice, or otherwise than the workspace does: rules that the database would refuse without naming
 * a place. The plan's rows stand in the order of the document's records.
 */
export function contradictionsIn(document: GraphDocument, plan: ImportPlan, existing: Existing): ValidationIssue[] {
  return [
    ...document.nodes.flatMap((node, index) => misfits(node, `nodes.${index}`)),
    ...repeatedIds(document),
    ...repeatedRecipients(plan, document),
    ...claimsOfTwo(plan, existing),
    ...usersOfTwo(plan, existing),
    ...brokenChains(plan, existing),
  ];
}

/** States that a node of this type cannot have. */
function misfits(node: GraphDocument['nodes'][number], path: string): ValidationIssue[] {
  const { type, lifecycle, lifecycle_before_archive: before, health, health_note: note } = node;
  const message = `must be one of ${LIFECYCLES[type].join(', ')} for a node of type ${type}`;
  const isForeign = (value: typeof before | undefined): boolean => value != null && !isLifecycleOf(type, value);
  return [
    ...(isForeign(lifecycle) ? [{ path: `${path}.lifecycle`, message }] : []),
    ...(isForeign(before) ? [{ path: `${path}.lifecycle_before_archive`, message }] : []),
    ...(type === 'project'
      ? []
      : [
          ...(health === undefined ? [] : [{ path: `${path}.health`, message: 'only a project has a health' }]),
          ...(note == null ? [] : [{ path: `${path}.health_note`, message: 'only a project has a health' }]),
        ]),
  ];
}

function repeatedIds({ nodes, edges }: GraphDocument): ValidationIssue[] {
  const ofNodes = (field: 'responsibilities' | 'data_sources' | 'tools'): Stated[] =>
    nodes.flatMap((node, index) =>
      (node[field] ?? []).map(({ id }, place) => ({ path: `nodes.${index}.${field}.${place}.id`, value: id })),
    );
  const memberships = nodes.map((node, index) => ({
    path: `nodes.${index}.membership.id`,
    value: node.membership?.id,
  }));
  return [
    [...memberships, ...edges.map(({ id }, index) => ({ path: `edges.${index}.id`, value: id }))],
    ofNodes('responsibilities'),
    [...ofNodes('data_sources'), ...ofNodes('tools')],
  ].flatMap((stated) => repeated(stated, 'is the id of another one of the document'));
}

function repeatedRecipients({ shares }: ImportPlan, document: GraphDocument): ValidationIssue[] {
  const places = document.nodes.flatMap((node, index) =>
    (node.sharing?.recipients ?? []).map((_recipient, place) => `nodes.${index}.sharing.recipients.${place}`),
  );
  const stated = shares.map(({ node_id, user_id, group_id }, index) => {
    const recipient = user_id ?? group_id;
    return { path: places[index] ?? 'nodes', value: recipient && `${String(node_id)} ${String(recipient)}` };
  });
  return repeated(stated, 'is in the list twice');
}

function claimsOfTwo({ groups }: ImportPlan, existing: Existing): ValidationIssue[] {
  const made = groups.flatMap((group, index) =>
    group['isNew'] === true ? [{ path: `groups.${index}.claim`, value: group['claim'] }] : [],
  );
  return repeated(
    made,
    'is the claim of another group',
    existing.groups.map((group) => group.claim),
  );
}

function usersOfTwo({ actors }: ImportPlan, existing: Existing): ValidationIssue[] {
  const stating = new Set(actors.filter((actor) => actor['has_user'] === true).map((actor) => actor['id']));
  const others = existing.actors.filter((actor) => !stating.has(actor.id)).map((actor) => actor.user_id);
  const stated = actors.map((actor, index) => ({ path: `actors.${index}.user`, value: actor['user_id'] }));
  return repeated(stated, 'is another actor already', others);
}

/** An event takes the place of one event of the same node, and of that alone. */
function brokenChains({ events }: ImportPlan, existing: Existing): ValidationIssue[] {
  const nodeOf = new Map<unknown, unknown>(existing.events.map((event) => [event.id, event.node_id]));
  const moved = events.flatMap((event, index) =>
    event['isNew'] === false && nodeOf.get(event['id']) !== event['node_id']
      ? [{ path: `events.${index}.node`, message: 'the event belongs to another node, which never changes' }]
      : [],
  );
  for (const event of events) if (event['isNew'] === true) nodeOf.set(event['id'], event['node_id']);
  const successors = events.flatMap((event, index) =>
    event['isNew'] === true && event['supersedes_id'] != null ? [{ event, path: `events.${index}.supersedes` }] : [],
  );
  const elsewhere = successors
    .filter(({ event }) => nodeOf.get(event['supersedes_id']) !== event['node_id'])
    .map(({ path }) => ({ path, message: 'is an event of another node' }));
  const twice = repeated(
    successors.map(({ event, path }) => ({ path, value: event['supersedes_id'] })),
    'is superseded by another event already',
    existing.events.map((event) => event.supersedes_id),
  );
  const cycle = findParentCycle(
    [],
    successors.map(({ event }) => [String(event['id']), String(event['supersedes_id'])]),
  );
  const circle = cycle === null ? [] : [{ path: successors[cycle]?.path ?? '', message: 'makes a circle' }];
  return [...moved, ...elsewhere, ...twice, ...circle];
}

/** Values that stand a second time, or that `taken` has. */
function repeated(stated: readonly Stated[], message: string, taken: readonly unknown[] = []): ValidationIssue[] {
  const seen = new Set(taken);
  return stated.flatMap(({ path, value }) => {
    if (value === null || value === undefined) return [];
    if (seen.has(value)) return [{ path, message }];
    seen.add(value);
    return [];
  });
}
