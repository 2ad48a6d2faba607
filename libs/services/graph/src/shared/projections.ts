import { LIMITS } from '@workspace-graph/contracts';
import { seen, VISIBLE } from '@workspace-graph/database';

/**
 * SQL that builds the wire shapes of the contracts. Statements put these into `jsonb_build_object`, so that an answer
 * leaves the database as JSON. `$1` is always the caller's user and `$2` whether the caller sees everything.
 */

/** NodeRef of a row of nodes, ActorRef of a row of actors. */
export const nodeRef = (alias: string): string =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'name', ${alias}.name)`;

/** Path of a node by which calls may name it, beside its organization as the caller sees it; null where that is hidden. */
export const nodePath = (n: string, organization: string): string =>
  `CASE WHEN ${n}.type = 'organization' OR ${organization}.id IS NOT NULL THEN file.node_folder(${n}.type, ${n}.sync_key, ${organization}.sync_key) END`;

/** ActorRef by id, null for nobody. */
export const actorRef = (id: string): string =>
  `(SELECT json_build_object('id', a.id, 'type', a.type, 'name', a.name) FROM graph.actor a WHERE a.id = ${id})`;

/** Name of a user by id. */
export const userName = (id: string): string => `(SELECT u.name FROM identity.known_user u WHERE u.id = ${id})`;

/** Key-value pairs of NodeSummary, to stand inside json_build_object of a statement with SEEN_SETS. */
export const nodeSummaryFields = (n: string): string =>
  summaryFields(
    n,
    `CASE WHEN ${n}.organization_id IS NOT NULL THEN (
    SELECT ${nodeRef('o')} FROM graph.node o WHERE o.id = ${n}.organization_id AND ${seen('o')}) END`,
    `CASE WHEN ${n}.owner_id IS NOT NULL THEN ${actorRef(`${n}.owner_id`)} END`,
  );

/** The same for many nodes at once, where `FROM` ends in `nodeSummaryJoins`: nothing is looked up node by node. */
export const joinedSummaryFields = (n: string): string =>
  summaryFields(
    n,
    `CASE WHEN o.id IS NOT NULL THEN ${nodeRef('o')} END`,
    `CASE WHEN w.id IS NOT NULL THEN ${nodeRef('w')} END`,
  );
export const nodeSummaryJoins = (n: string): string => `
  LEFT JOIN graph.node o ON o.id = ${n}.organization_id AND ${seen('o')}
  LEFT JOIN graph.actor w ON w.id = ${n}.owner_id`;

const summaryFields = (n: string, organization: string, owner: string): string => `
  'id', ${n}.id, 'type', ${n}.type, 'name', ${n}.name, 'status', ${n}.status, 'lifecycle', ${n}.lifecycle, 'health', ${n}.health,
  'organization', ${organization}, 'owner', ${owner},
  'version', ${n}.version, 'created_at', graph.iso(${n}.created_at), 'updated_at', graph.iso(${n}.updated_at)`;

const eventFields = (e: string): string => `
  'id', ${e}.id, 'node_id', ${e}.node_id, 'kind', ${e}.kind, 'status', ${e}.status, 'content', ${e}.content,
  'occurred_at', graph.iso(${e}.occurred_at), 'logged_at', graph.iso(${e}.logged_at),
  'logged_by', CASE WHEN ${e}.logged_by IS NOT NULL THEN ${userName(`${e}.logged_by`)} END,
  'resolution', ${e}.resolution, 'resolved_at', graph.iso(${e}.resolved_at),
  'resolved_by', CASE WHEN ${e}.resolved_by IS NOT NULL THEN ${userName(`${e}.resolved_by`)} END, 'supersedes_id', ${e}.supersedes_id,
  'superseded_by_id', CASE WHEN ${e}.status = 'superseded' THEN (SELECT s.id FROM graph.event s WHERE s.supersedes_id = ${e}.id) END,
  'version', ${e}.version`;

/** GraphEvent of a row of events. */
export const eventJson = (e: string): string => `json_build_object(${eventFields(e)})`;

/** ListedEvent of a row of events. */
export const listedEventJson = (e: string): string => `(
  SELECT json_build_object(${eventFields(e)}, 'node_name', n.name, 'node_path', ${nodePath('n', 'o')})
  FROM graph.node n LEFT JOIN ${VISIBLE} o ON o.id = n.organization_id WHERE n.id = ${e}.node_id)`;

/** Responsibility of a row of responsibilities. */
export const responsibilityJson = (r: string): string => `json_build_object(
  'id', ${r}.id, 'title', ${r}.title, 'description', ${r}.description,
  'assignees', coalesce((
    SELECT json_agg(json_build_object('id', a.id, 'type', a.type, 'name', a.name) ORDER BY ra.position)
    FROM graph.responsibility_assignee ra JOIN graph.actor a ON a.id = ra.actor_id WHERE ra.responsibility_id = ${r}.id), '[]'))`;

/** Responsibilities of a node, in order. */
export const responsibilitiesOf = (nodeId: string): string => `coalesce((
  SELECT json_agg(${responsibilityJson('r')} ORDER BY r.position) FROM graph.responsibility r WHERE r.node_id = ${nodeId}), '[]')`;

/** The newest files of a node, one more than are shown being looked at along an index. */
export const filesOf = (nodeId: string): string => `(
  SELECT json_build_object(
    'items', coalesce(json_agg(json_build_object('id', f.id, 'path', f.path, 'status', file.status_of(f.section), 'size_bytes', f.size_bytes,
      'mime_type', f.mime_type, 'updated_at', graph.iso(f.updated_at)) ORDER BY f.updated_at DESC, f.id DESC) FILTER (WHERE f.place <= ${LIMITS.nodeFiles}), '[]'),
    'complete', count(*) <= ${LIMITS.nodeFiles})
  FROM (
    SELECT f.*, row_number() OVER (ORDER BY f.updated_at DESC, f.id DESC) AS place FROM (
      SELECT f.id, f.path, f.section, f.size_bytes, f.mime_type, f.updated_at FROM file.node_file(${nodeId}) f
      ORDER BY f.updated_at DESC, f.id DESC LIMIT ${LIMITS.nodeFiles + 1}) f) f)`;

/** Data sources or tools of a node, in order. */
export const linksOf = (nodeId: string, kind: 'data_source' | 'tool'): string => `coalesce((
  SELECT json_agg(json_build_object('id', l.id, 'name', l.name, 'url', l.url) ORDER BY l.position)
  FROM graph.link l WHERE l.node_id = ${nodeId} AND l.kind = '${kind}'), '[]')`;
