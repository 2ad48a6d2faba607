import { COMMON_ERRORS, ERRORS, type ErrorCode, LIMITS, SCOPES } from '@workspace-graph/contracts';
import { hasFolders, type ToolTable } from '../tool-table.js';
import { codes, page, table } from './markdown.js';

/** Explains access, confirmation, versions, limits and errors. */
export function rulesGuide(tools: ToolTable): string {
  return page(
    '# The rules',
    '## Who sees what',
    'A node is shared with everyone, is private (its owner and creator), or lists users and groups with read or write access. A node without its own setting inherits: from the nearest restricted node on every path upwards, all of which must allow the caller; otherwise from its organization; otherwise it is open to everyone. Credentials with the scope `manage` see everything.',
    'A node that you may not see is absent everywhere: in lists, counts, searches, edges and errors. NODE_NOT_FOUND therefore does not reveal whether it exists. `svc_explain_access` explains why you see a node; `svc_request_access` requests access to one, with the same answer whether it exists or not.',
    `A credential has one of the scopes ${codes(SCOPES)}. Each includes the ones before it: reading; logging events; changing the structure, the sharing and the actors.`,
    '## Confirm first',
    'A change that widens access or cannot be undone returns `applied: false` with a preview of who gains and who loses access. Until you repeat the call with `confirmed: true`, nothing changes.',
    '## Versions',
    'Nodes, events and actors have a `version`. Send it as `expected_version` with a change: if the record has changed since, the call fails with CONFLICT and the current record in `details.current`, and changes nothing. Calls that are marked idempotent can be repeated safely.',
    ...filesPart(tools),
    '## Limits',
    table(['limit', 'maximum'], limits()),
    '## Errors',
    'A failed call is a result with `isError` whose text is `{code, message, details, request_id}`.',
    table(['code', 'retry helps', 'what to do'], errorRows()),
  );
}

function filesPart(tools: ToolTable): string[] {
  return [
    '## Files',
    'A path within a node is section, folders and name, such as `wip/notes/plan.md`. Names that differ only by case or Unicode form count as the same name, and the second one is refused. Names that begin with a dot, temporary files and files that match a `.svcignore` are ignored. No file is overwritten unseen: a new file never replaces another, and a replacement sends the `sha256` that it is based on.',
    hasFolders(tools)
      ? 'A local workspace has no remote storage: tools that need one fail with LOCAL_MODE_NO_REMOTE, and files are `clean`, `deleted_local` or `new_local`.'
      : 'Other people and programs change the storage too. What you send is compared with what lies there now: CONFLICT tells its `sha256` in `details.current`. NO_REMOTE means that no rule gives the node a storage; REMOTE_UNAVAILABLE, that it does not answer at present. `repair_needed` in an answer means that the storage and the record are brought together later, by themselves.',
  ];
}

function limits(): [string, string][] {
  return [
    ['characters of a name', String(LIMITS.nameLength)],
    ['characters of a text', String(LIMITS.textLength)],
    ['items of a page', `${LIMITS.listMax}, default ${LIMITS.listDefault}`],
    ['depth of a context', String(LIMITS.contextDepthMax)],
    ['tokens of an answer', `${LIMITS.tokensMax}, default ${LIMITS.tokensDefault}`],
    ['edges of each direction in a node', String(LIMITS.nodeEdges)],
    ['events in a node', String(LIMITS.nodeEvents)],
    ['recipients of a node', String(LIMITS.recipientsPerNode)],
    ['bytes of a request', String(LIMITS.bodyBytes)],
    ['bytes of a file that is read or written inline', String(LIMITS.inlineFileBytes)],
    ['characters of a path within a node', String(LIMITS.pathLength)],
    ['files of a page', `${LIMITS.filesMax}, default ${LIMITS.filesDefault}`],
  ];
}

function errorRows(): [string, string, string][] {
  const common = new Set<string>(COMMON_ERRORS);
  const codesInOrder = (Object.keys(ERRORS) as ErrorCode[]).sort(
    (a, b) => Number(common.has(a)) - Number(common.has(b)),
  );
  return codesInOrder.map((code) => [`\`${code}\``, ERRORS[code].retryable ? 'yes' : 'no', ERRORS[code].remedy]);
}
