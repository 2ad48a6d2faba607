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
import { hasFiles, type ToolTable } from '../tool-table.js';
import { codes, page, table } from './markdown.js';

const TYPES: Record<NodeType, string> = {
  organization: 'A company, a team or a community. Everything else lives in exactly one.',
  project: 'Work with an end. Has a health besides its lifecycle.',
  process: 'Work that repeats.',
  area: 'Something that is looked after without an end: a topic, a system, a duty.',
  principle: 'A rule or belief that other nodes apply.',
};

const RELATIONS: Record<Relation, string> = {
  belongs_to: 'The source is part of the target. Sharing is inherited along it, and it never forms a circle.',
  related_to: 'The two have to do with each other.',
  applies: 'The source follows the target, usually a principle.',
  informed_by: 'The source draws on the target.',
};

const SECTION_MEANINGS: Record<Section, string> = {
  wip: 'Work in progress: drafts, notes, what is being made.',
  outputs: 'Results: what others may rely on.',
  resources: 'Reference: what the work draws on.',
};

/** Explains nodes, edges and what belongs to a node. */
export function modelGuide(tools: ToolTable): string {
  return page(
    '# The model',
    'The graph consists of nodes and directed edges between them.',
    '## Nodes',
    table(
      ['type', 'stands for', 'begins as'],
      NODE_TYPES.map((type) => [`\`${type}\``, TYPES[type], `\`${LIFECYCLES[type][0]}\``]),
    ),
    'A node has a name, a description, a goal, an owner, a lifecycle and a version that rises with each change. Its `sync_key` is made from its first name and never changes.',
    `A ${WORKING_TYPES.join(', ').replace(/, (\w+)$/, ' or $1')} also carries responsibilities in an order, each with the actors who answer for it, data sources and tools. An actor is a person or an automation; a person may be tied to a user.`,
    '## Edges',
    table(
      ['relation', 'meaning'],
      RelationSchema.options.map((relation) => [`\`${relation}\``, RELATIONS[relation]]),
    ),
    'Between two nodes there is at most one edge of each relation and direction, and none from a node to itself. Every node except an organization belongs to exactly one organization, and may belong to further nodes that are none; `svc_move_node` changes the organization.',
    '## Timeline',
    'Events tell what happened to a node: when it happened (`occurred_at`, which can be corrected), when it was recorded (`logged_at`, which cannot) and by whom. An event can be resolved, archived, or superseded by a newer one; the two then point to each other.',
    '## Lifecycle and status',
    `The lifecycle is set by people and agents; the status follows from it: \`done\` is completed, ${codes(['archived', 'retired', 'cancelled', 'inactive'])} are archived, everything else is active. Archiving keeps everything; purging removes the node for good.`,
    ...(hasFiles(tools) ? filesPart() : []),
  );
}

function filesPart(): string[] {
  return [
    '## Files',
    'A node has a folder on a device once `svc_mirror` has made it: its mirror. Files in the sections of that folder are tracked, each as a record with an id that stays the same when the file is moved or renamed. `local_path` tells where something lies here; it is null without a mirror on this device, and to others than its person and callers with manage.',
    table(
      ['section', 'holds'],
      SECTIONS.map((section) => [`\`${section}\``, SECTION_MEANINGS[section]]),
    ),
    'Whatever is saved, edited, moved or deleted there with ordinary programs is noticed by itself; `svc_create_file`, `svc_write_file`, `svc_move_file`, `svc_rename_folder` and `svc_delete_file` do the same by call. `svc_status` tells the state of every file, `svc_sync_health` what could not be taken in. Files of neighbouring nodes are read with `svc_read_file`, or by the path that it answers: do not write there, it would change the file itself. What was deleted or replaced can be restored for 30 days with `svc_restore_trash`.',
  ];
}
