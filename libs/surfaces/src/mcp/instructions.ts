import { hasFiles, type ToolTable } from './tool-table.js';

const STEPS = [
  'Begin with svc_get_context. Without node_id it reads the home node of this connection; if the connection has none, find a node with svc_search or svc_list_nodes.',
  'In place of an id, calls accept the path of a node (kubernetes/areas/sig-network) or the unique name of a node, actor, user or group. svc_list_duties lists what an actor is responsible for.',
  'Answers begin with an outline. Within max_tokens, the nearest nodes have details, the rest only names. Read left_out, then request a single node or a larger budget instead of reading everything.',
  'Lists have pages: send next_cursor as cursor. With a home node, lists cover it and its neighbours; scope: "global" covers everything you may see.',
  'Write down what should outlast this conversation with svc_log: decisions with their reason, discoveries, blockers, milestones. Supersede or resolve an event instead of logging its opposite.',
  'Nodes that you may not see do not exist for you. For an id that is not found, request access with svc_request_access.',
  'Changes that widen access or cannot be undone first return a preview and change nothing. Show it to the person you work for, and repeat the call with confirmed: true once they agree.',
  'Send the version you read as expected_version. On CONFLICT read details.current, apply your change to it and try again.',
];

/** Where there are folders of nodes. */
const FILE_STEPS = [
  'Files of a node are in its folder on this device (local_path; svc_mirror creates it): work in progress in wip, results in outputs, reference in resources. Files saved there are tracked automatically.',
  'Before you end a session in which you changed files, call svc_status.',
];

/** What a client is told when it connects. Kept under 2 KB: every agent carries it in its context. */
export function instructionsFor(table: ToolTable): string {
  const steps = [...STEPS, ...(hasFiles(table) ? FILE_STEPS : [])];
  return `Workspace Graph is the shared map of an organisation: organizations, projects, processes, areas and principles as nodes, joined by edges, each with its responsibilities, data sources, tools and a timeline of events. People and agents read and write the same graph.

How to work with it
${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}

Errors are JSON: code, message, details, request_id. The resources svc://guide/model, svc://guide/rules and svc://guide/vocabulary explain the rest.`;
}
