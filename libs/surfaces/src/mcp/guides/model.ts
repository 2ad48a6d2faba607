import {
  LIFECYCLES,
  NODE_TYPES,
  type NodeType,
  type Relation,
  Relation as RelationSchema,
  SECTIONS,
  type Section,
  WORKING_TYPES,
} from '@workspace-graph/contracts';
import { hasFolders, type ToolTable } from '../tool-table.js';
import { codes, page, table } from './markdown.js';

const TYPES: Record<NodeType, string> = {
  organization: 'A company, a team or a community. Every other node belongs to exactly one.',
  project: 'Work with an end. Has a health in addition to its lifecycle.',
  process: 'Work that repeats.',
  area: 'Something to maintain without an end: a topic, a system, a duty.',
  principle: 'A rule or belief that other nodes apply.',
};

const RELATIONS: Record<Relation, string> = {
  belongs_to: 'The source is part of the target. Sharing is inherited along it, and it never forms a cycle.',
  related_to: 'The two nodes are related.',
  applies: 'The source follows the target, usually a principle.',
  informed_by: 'The source draws on the target.',
};

const SECTION_MEANINGS: Record<Section, string> = {
  wip: 'Work in progress: drafts, notes, unfinished files.',
  outputs: 'Results that others can rely on.',
  resources: 'Reference material for the work.',
};

/** Where the files of a node are, and how they are worked with, on a device. */
const IN_FOLDERS = [
  '`svc_mirror` creates the folder of a node on a device: its mirror. Files in the sections of that folder are tracked, each as a record with an id that stays the same when the file is moved or renamed. `local_path` is the path on this device; it is null without a mirror on this device, and for callers other than its person and those with manage.',
  'The product detects files that ordinary programs save, edit, move or delete there; `svc_create_file`, `svc_write_file`, `svc_move_file`, `svc_rename_folder` and `svc_delete_file` do the same by call. `svc_status` reports the state of every file, `svc_sync_health` the files that could not be tracked. Read files of neighbouring nodes with `svc_read_file`, or from the path that it returns; do not write there, since that changes the file itself. `svc_restore_trash` restores deleted and replaced files for 30 days.',
] as const;

/** The same where there are no folders. */
const ON_REMOTES = [
  'The files of a node are in the storage of its organisation, each as a record with an id that stays the same when the file is moved or renamed. `local_path` is null here: a file is named by its path within the node.',
  '`svc_list_files` and `svc_search_files` find files, `svc_read_file` reads one; `svc_create_file`, `svc_write_file`, `svc_move_file` and `svc_delete_file` change them. Files that are put into the storage by other means are not listed before a device of the organisation has found them.',
] as const;

/** Explains nodes, edges and what belongs to a node. */
export function modelGuide(tools: ToolTable): string {
  return page(
    '# The model',
    'The graph consists of nodes and directed edges between them.',
    '## Nodes',
    table(
      ['type', 'meaning', 'first lifecycle'],
      NODE_TYPES.map((type) => [`\`${type}\``, TYPES[type], `\`${LIFECYCLES[type][0]}\``]),
    ),
    'A node has a name, a description, a goal, an owner, a lifecycle and a version that increases with each change. Its `sync_key` is derived from its first name and never changes.',
    `A ${WORKING_TYPES.join(', ').replace(/, (\w+)$/, ' or $1')} also has ordered responsibilities, each with the actors who hold it, data sources and tools. An actor is a person or an automation; a person can be tied to a user.`,
    '## Edges',
    table(
      ['relation', 'meaning'],
      RelationSchema.options.map((relation) => [`\`${relation}\``, RELATIONS[relation]]),
    ),
    'Two nodes have at most one edge of each relation and direction, and no node has an edge to itself. Every node except an organization belongs to exactly one organization, and can also belong to other nodes; `svc_move_node` changes the organization.',
    '## Timeline',
    'Events record what happened to a node: when it happened (`occurred_at`, which can be corrected), when it was recorded (`logged_at`, which cannot) and by whom. An event can be resolved, archived, or superseded by a newer one; the two then refer to each other.',
    '## Lifecycle and status',
    `People and agents set the lifecycle; the status is derived from it: \`done\` is completed, ${codes(['archived', 'retired', 'cancelled', 'inactive'])} are archived, all other values are active. Archiving keeps all data; purging removes the node permanently.`,
    ...filesPart(tools),
  );
}

function filesPart(tools: ToolTable): string[] {
  const [where, how] = hasFolders(tools) ? IN_FOLDERS : ON_REMOTES;
  return [
    '## Files',
    where,
    table(
      ['section', 'holds'],
      SECTIONS.map((section) => [`\`${section}\``, SECTION_MEANINGS[section]]),
    ),
    how,
  ];
}
