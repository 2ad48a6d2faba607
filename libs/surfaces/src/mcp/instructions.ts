import { hasFolders, type ToolTable } from './tool-table.js';

const STEPS = [
  'Begin with svc_get_context. Without node_id it reads the home node of your session; if there is none, find a node with svc_search and call svc_session_init.',
  'Your session may change its home node and read the neighbours. Search and overview reach further; otherwise bring in all nodes of the task at once with svc_expand_scope and a reason, which people see.',
  'In place of an id, calls accept the path of a node (kubernetes/areas/sig-network) or the unique name of a node, actor, user or group.',
  'Answers begin with an outline and detail the nearest nodes within max_tokens. Read left_out, then request one node or a larger budget.',
  'Lists cover your scope and have pages: send next_cursor as cursor. svc_list_nodes with scope: "global" lists all that you may see.',
  'Write down what should outlast this conversation with svc_log: decisions with their reason, discoveries, blockers, milestones. Supersede or resolve an event rather than log its opposite.',
  'Nodes that you may not see do not exist for you; ask with svc_request_access.',
  'Changes that widen access or cannot be undone first return a preview. Show it to your person; repeat it with confirmed: true once they agree.',
  'Send the version you read as expected_version. On CONFLICT apply your change to details.current and try again.',
  'Before you end, write a handoff with svc_session_log: what is done, what is open.',
];

/** Where there are folders of nodes. */
const FOLDER_STEPS = [
  'Files of a node are in its folder on this device (local_path; svc_mirror creates it): work in progress in wip, results in outputs, reference in resources. Files saved there are tracked. Before you end a session in which you changed files, call svc_status.',
];

/** Where files are on the remotes of the organisation alone. */
const FILE_STEPS = [
  'Files of a node are in the storage of the organisation: svc_list_files, svc_read_file, svc_create_file, svc_write_file. Work in progress belongs in wip, results in outputs, reference in resources.',
];

/** What a client is told when it connects. Kept under 2 KB: every agent carries it in its context. */
export function instructionsFor(table: ToolTable): string {
  const steps = [...STEPS, ...(hasFolders(table) ? FOLDER_STEPS : FILE_STEPS)];
  return `Workspace Graph is the map that people and agents of an organisation share: organizations, projects, processes, areas and principles are nodes, joined by edges, with responsibilities, data sources, tools and a timeline.

How to work with it
${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}

Errors are JSON: code, message, details, request_id. The resources svc://guide/model, svc://guide/rules and svc://guide/vocabulary explain the rest.`;
}
