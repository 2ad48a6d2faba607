import { COMMON_ERRORS, ERRORS, type ErrorCode, LIMITS, SCOPES } from '@workspace-graph/contracts';
import { hasFiles, type ToolTable } from '../tool-table.js';
import { codes, page, table } from './markdown.js';

/** Explains access, confirmation, versions, limits and errors. */
export function rulesGuide(tools: ToolTable): string {
  return page(
    '# The rules',
    '## Who sees what',
    'A node shares itself with everyone, keeps private (its owner and creator), or names users and groups with read or write access. A node without a setting of its own inherits: from the nearest restricted node on every path upwards, all of which must allow the caller, else from its organization, else it is open to everyone. Credentials of the scope `manage` see everything.',
    'A node that you may not see is absent everywhere: in lists, counts, searches, edges and errors. NODE_NOT_FOUND therefore never tells whether it exists. `svc_explain_access` tells why you see a node; `svc_request_access` asks for one, with the same answer whether it exists or not.',
    `A credential has one of the scopes ${codes(SCOPES)}, each including the ones before it: reading; logging events; changing the structure, the sharing and the actors.`,
    '## Confirm first',
    'A change that lets somebody see more, or that cannot be taken back, answers `applied: false` with a preview of who gains and who loses access. The same call with `confirmed: true` carries it out. Nothing has changed before that.',
    '## Versions',
    'Nodes, events and actors have a `version`. Send it as `expected_version` with a change: if somebody was faster, the answer is CONFLICT with the current record in `details.current`, and nothing is lost. Calls that are marked idempotent can be repeated safely.',
    ...(hasFiles(tools) ? filesPart() : []),
    '## Limits',
    table(['what', 'at most'], limits()),
    '## Errors',
    'A failed call is a result with `isError` whose text is `{code, message, details, request_id}`.',
    table(['code', 'retry helps', 'what to do'], errorRows()),
  );
}

function filesPart(): string[] {
  return [
    '## Files',
    'A path within a node is section, folders and name, such as `wip/notes/plan.md`. Names that differ only by case or by the form of characters are one name, and the second of them is refused. Names that begin with a dot, temporary files and what a `.svcignore` names are left alone. Nothing is overwritten unseen: a new file never takes the place of another, and a replacement names the `sha256` it builds on.',
    'A local workspace has no remote storage: tools that need one answer LOCAL_MODE_NO_REMOTE, and files are `clean`, `deleted_local` or `new_local`.',
  ];
}

function limits(): [string, string][] {
  return [
    ['characters of a name', String(LIMITS.nameLength)],
    ['characters of a text', String(LIMITS.textLength)],
    ['items of a page', `${LIMITS.listMax}, ${LIMITS.listDefault} unless told`],
    ['depth of a context', String(LIMITS.contextDepthMax)],
    ['tokens of an answer that is read', `${LIMITS.tokensMax}, ${LIMITS.tokensDefault} unless told`],
    ['edges of each direction in a node', String(LIMITS.nodeEdges)],
    ['events in a node', String(LIMITS.nodeEvents)],
    ['recipients of a node', String(LIMITS.recipientsPerNode)],
    ['bytes of a request', String(LIMITS.bodyBytes)],
    ['bytes of a file that is read or written inline', String(LIMITS.inlineFileBytes)],
    ['characters of a path within a node', String(LIMITS.pathLength)],
    ['files of a page', `${LIMITS.filesMax}, ${LIMITS.filesDefault} unless told`],
  ];
}

function errorRows(): [string, string, string][] {
  const common = new Set<string>(COMMON_ERRORS);
  const codesInOrder = (Object.keys(ERRORS) as ErrorCode[]).sort(
    (a, b) => Number(common.has(a)) - Number(common.has(b)),
  );
  return codesInOrder.map((code) => [`\`${code}\``, ERRORS[code].retryable ? 'yes' : 'no', ERRORS[code].remedy]);
}
