import { isOfNode } from './abouts';
import type { Entry } from './names';
import { isCut } from './title';
import { isNothing } from './value';

/** In the order in which they are told; others come after them. */
const FIELDS = [
  'name',
  'title',
  'content',
  'path',
  'type',
  'kind',
  'relation',
  'description',
  'goal',
  'lifecycle',
  'health',
  'health_note',
  'owner_id',
  'organization_id',
  'parent_ids',
  'visibility',
  'recipients',
  'assignee_ids',
  'assignee_id',
  'responsibility_ids',
  'url',
  'occurred_at',
  'status',
  'resolution',
  'superseded_by',
  'access',
  'state',
  'decision_note',
  'node_ids',
  'review',
  'reason',
];
/** What the workspace keeps for itself, or the title of a change says. */
const UNTOLD = new Set([
  'lifecycle_before_archive',
  'sync_key',
  'source_id',
  'target_id',
  'supersedes_id',
  'sha256',
  'size_bytes',
  'mime_type',
  'modified_at',
  'version',
  'position',
  'request_id',
  'entries',
  'undone',
  'kept',
  'mode',
  'runner',
  'client',
]);
/** What the title of a change calls its target by, by the kind of that. */
const NAMES: Readonly<Record<string, string>> = {
  responsibility: 'title',
  data_source: 'name',
  tool: 'name',
  event: 'content',
  file: 'path',
  session: 'name',
};

/** The fields of a change that are told under its title. */
export function fieldsOf(entry: Entry, nodeId: string): readonly string[] {
  const { before, after, target_kind: kind } = entry;
  if (kind === 'node' && !isOfNode(entry, nodeId)) return entry.action === 'move_node' ? ['organization_id'] : [];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const isTold = before === null || after === null ? isToldOfWhole : isToldOfChange;
  const place = (name: string) => (FIELDS.includes(name) ? FIELDS.indexOf(name) : FIELDS.length);
  return names.filter((name) => !UNTOLD.has(name) && isTold(name, entry)).sort((a, b) => place(a) - place(b));
}

/** Of what was made or removed: what it was made with, unless its title says so. */
function isToldOfWhole(name: string, { before, after, action, target_kind: kind }: Entry): boolean {
  const value = (before ?? after)?.[name];
  if (name === NAMES[kind]) return isCut(String(value));
  if (name === 'node_id') return kind === 'session';
  // Otherwise it is a word of the workspace's own.
  if (name === 'reason') return action === 'expand_scope';
  return name !== 'occurred_at' && !isNothing(value);
}

/** Of what stays: what differs. */
function isToldOfChange(name: string, { before, after, target_kind: kind }: Entry): boolean {
  if (name === 'reason' || (name === 'node_id' && kind !== 'file')) return false;
  return JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]);
}
