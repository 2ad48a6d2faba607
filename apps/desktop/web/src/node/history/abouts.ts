import type { AuditAbout } from '@workspace-graph/contracts';
import {
  Archive,
  ArchiveRestore,
  Bot,
  CalendarDays,
  File,
  FileUp,
  Link2,
  ListChecks,
  ListOrdered,
  type LucideIcon,
  Move,
  PencilLine,
  Plus,
  Undo2,
  UserMinus,
  Users,
  Waypoints,
} from 'lucide-react';
import type { Entry } from './names';

export type About = ReturnType<(typeof AuditAbout)['parse']>;

/** What changes are about, and the operations that do them. What happens to files is told by what it did to them. */
export const ACTIONS: Readonly<Record<About, readonly string[]>> = {
  node: [
    'create_node',
    'update_node',
    'move_node',
    'archive_node',
    'restore_node',
    'run_import',
    'delete_actor',
    'undo_session',
  ],
  access: [
    'set_access',
    'request_access',
    'approve_access_request',
    'refuse_access_request',
    'withdraw_access_request',
  ],
  responsibility: [
    'add_responsibility',
    'update_responsibility',
    'remove_responsibility',
    'reorder_responsibilities',
    'delete_actor',
  ],
  link: ['add_data_source', 'remove_data_source', 'add_tool', 'remove_tool'],
  edge: ['connect', 'disconnect', 'create_node', 'move_node', 'purge_node'],
  event: ['log', 'edit_event', 'resolve_event', 'supersede_event', 'archive_event', 'undo_session'],
  file: [],
  session: [
    'start_session',
    'connect_session',
    'init_session',
    'resume_session',
    'rename_session',
    'expand_scope',
    'add_to_session_scope',
    'review_scope',
    'answer_question',
    'answer_by_default',
    'interrupt_session',
    'suspend_session',
    'suspend_lost_session',
    'close_session',
    'archive_session',
    'undo_session',
  ],
};
export const ABOUTS = Object.keys(ACTIONS) as About[];

const ICONS: Readonly<Record<Exclude<About, 'node'>, LucideIcon>> = {
  access: Users,
  responsibility: ListChecks,
  link: Link2,
  edge: Waypoints,
  event: CalendarDays,
  file: File,
  session: Bot,
};
const OF_NODE: Readonly<Record<string, LucideIcon>> = {
  create_node: Plus,
  set_access: Users,
  approve_access_request: Users,
  move_node: Move,
  reorder_responsibilities: ListOrdered,
  archive_node: Archive,
  restore_node: ArchiveRestore,
  run_import: FileUp,
  delete_actor: UserMinus,
  undo_session: Undo2,
};
const KINDS: Readonly<Record<string, Exclude<About, 'node'>>> = {
  access_request: 'access',
  data_source: 'link',
  tool: 'link',
  responsibility: 'responsibility',
  edge: 'edge',
  event: 'event',
  file: 'file',
  session: 'session',
};

/** Whether a change is one of the node itself, and not of something that hangs on it or of a node joined to it. */
export function isOfNode({ target_kind, target_id }: Entry, nodeId: string): boolean {
  return target_kind === 'node' && target_id === nodeId;
}

export function iconOf(entry: Entry, nodeId: string): LucideIcon {
  if (isOfNode(entry, nodeId)) return OF_NODE[entry.action] ?? PencilLine;
  return ICONS[KINDS[entry.target_kind] ?? 'edge'];
}
