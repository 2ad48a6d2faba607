import { hash } from 'node:crypto';
import { type GraphDocument, LIFECYCLES, type NodeType, WORKING_TYPES } from '@workspace-graph/contracts';
import {
  defaultLifecycle,
  fold,
  isLifecycleOf,
  linkProblem,
  parseFilePath,
  pathKey,
  syncKeyOf,
} from '@workspace-graph/domain';
import type { ListName } from './document-reader.js';

/** What records refer to by key. */
export type Kind = 'user' | 'group' | 'actor' | 'node' | 'event';
/** Ids that stand at most once in a document. */
export type IdSpace = 'edge' | 'responsibility' | 'link' | 'file';

/** Takes what is found in one record; paths are within it. */
export interface RecordNotes {
  issue(path: string, message: string): void;
  refer(kind: Kind, key: string | null | undefined, path: string): void;
  state(space: IdSpace, id: string | undefined, path: string): void;
}

/** Fields that the database takes beside a record's own. */
type Derived = Readonly<Record<string, unknown>>;
/** A record of a list, without those fields that could not be read. */
type Readable<L extends ListName> = Partial<GraphDocument[L][number]>;
type ReadableNode = Readable<'nodes'>;

/**
 * What is to be told of one record by itself. Each answers the derived fields; `alias` is a further name by which a
 * record may exist already.
 */
export const RECORD_RULES: { readonly [L in ListName]: (record: Readable<L>, notes: RecordNotes) => Derived } = {
  users: ({ external_id }) => ({ alias: external_id }),
  groups: ({ name, members = [] }, notes) => {
    for (const [place, { user }] of members.entries()) notes.refer('user', user, `members.${place}.user`);
    return { alias: name === undefined ? undefined : fold(name) };
  },
  actors: ({ type, user }, notes) => {
    if (type === 'automation' && user) notes.issue('user', 'only a person can be tied to a user');
    notes.refer('user', user, 'user');
    return {};
  },
  nodes: nodeRules,
  edges: ({ from, to, id, created_by }, notes) => {
    notes.refer('node', from, 'from');
    notes.refer('node', to, 'to');
    notes.refer('user', created_by, 'created_by');
    notes.state('edge', id, 'id');
    return {};
  },
  events: (event, notes) => {
    notes.refer('node', event.node, 'node');
    notes.refer('event', event.supersedes, 'supersedes');
    notes.refer('user', event.logged_by, 'logged_by');
    notes.refer('user', event.resolved_by, 'resolved_by');
    return { key: event.key ?? contentKey(event) };
  },
  files: fileRules,
  access_requests: ({ user, decided_by }, notes) => {
    notes.refer('user', user, 'user');
    notes.refer('user', decided_by, 'decided_by');
    return {};
  },
  audit: ({ user }, notes) => {
    notes.refer('user', user, 'user');
    return {};
  },
};

function nodeRules(node: ReadableNode, notes: RecordNotes): Derived {
  const { type, name, sync_key, organization } = node;
  if (type === 'organization' && organization)
    notes.issue('organization', 'an organization cannot belong to another node');
  else notes.refer('node', organization, 'organization');
  notes.refer('actor', node.owner, 'owner');
  for (const field of ['health_by', 'created_by'] as const) notes.refer('user', node[field], field);
  notes.refer('user', node.membership?.created_by, 'membership.created_by');
  notes.state('edge', node.membership?.id, 'membership.id');
  if (type !== undefined) statesOfType(node, type, notes);
  recipients(node, notes);
  responsibilities(node, notes);
  links(node, 'data_sources', notes);
  links(node, 'tools', notes);
  return {
    default_lifecycle: type && defaultLifecycle(type),
    slug: sync_key === undefined && name !== undefined && type ? syncKeyOf(name, type) : undefined,
  };
}

/** States that a node of this type cannot have. */
function statesOfType(node: ReadableNode, type: NodeType, notes: RecordNotes): void {
  for (const field of ['lifecycle', 'lifecycle_before_archive'] as const) {
    const value = node[field];
    if (value != null && !isLifecycleOf(type, value))
      notes.issue(field, `must be one of ${LIFECYCLES[type].join(', ')} for a node of type ${type}`);
  }
  if (type === 'project') return;
  for (const field of ['health', 'health_note'] as const)
    if (node[field] != null) notes.issue(field, 'only a project has a health');
}

function recipients({ sharing }: ReadableNode, notes: RecordNotes): void {
  sharing?.recipients.forEach(({ user, group }, place) => {
    const path = `sharing.recipients.${place}`;
    if ((user === undefined) === (group === undefined)) notes.issue(path, 'must name either a user or a group');
    if (sharing.visibility !== 'group') notes.issue(path, 'only the visibility "group" has recipients');
    notes.refer('user', user, `${path}.user`);
    notes.refer('group', group, `${path}.group`);
  });
}

function responsibilities(node: ReadableNode, notes: RecordNotes): void {
  onlyWorking(node, 'responsibilities', notes);
  node.responsibilities?.forEach(({ id, assignees }, position) => {
    const path = `responsibilities.${position}`;
    notes.state('responsibility', id, `${path}.id`);
    for (const [place, key] of assignees.entries()) notes.refer('actor', key, `${path}.assignees.${place}`);
  });
}

function links(node: ReadableNode, field: 'data_sources' | 'tools', notes: RecordNotes): void {
  onlyWorking(node, field, notes);
  node[field]?.forEach(({ id, url }, position) => {
    notes.state('link', id, `${field}.${position}.id`);
    const problem = url === null ? null : linkProblem(url);
    if (problem) notes.issue(`${field}.${position}.url`, problem);
  });
}

function onlyWorking(
  node: ReadableNode,
  field: 'responsibilities' | 'data_sources' | 'tools',
  notes: RecordNotes,
): void {
  const { type } = node;
  if (type === undefined || (node[field]?.length ?? 0) === 0 || (WORKING_TYPES as readonly NodeType[]).includes(type))
    return;
  notes.issue(field, `only ${WORKING_TYPES.join(', ')} can have these, not ${type}`);
}

/** Equal events of the same node are one event. */
function contentKey({ node, kind, occurred_at, content }: Readable<'events'>): string | undefined {
  if (node === undefined || kind === undefined || occurred_at === undefined || content === undefined) return undefined;
  return `content:${hash('sha256', JSON.stringify([node, kind, new Date(occurred_at).toISOString(), content]))}`;
}

function fileRules(file: Readable<'files'>, notes: RecordNotes): Derived {
  notes.refer('node', file.node, 'node');
  notes.refer('user', file.created_by, 'created_by');
  notes.refer('user', file.updated_by, 'updated_by');
  notes.state('file', file.id, 'id');
  if (file.path === undefined) return {};
  const parsed = parseFilePath(file.path);
  if ('value' in parsed) return { path: parsed.value.path, path_key: pathKey(parsed.value.path) };
  notes.issue('path', parsed.problem);
  return {};
}
