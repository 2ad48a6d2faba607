import { LIMITS, type NodeType } from '@workspace-graph/contracts';
import { SEEN_SETS, type Statement, seen, statement } from '@workspace-graph/database';
import { NODE_JSON } from '../nodes/node.statements.js';
import { eventJson, linksOf, nodePath, responsibilitiesOf } from '../shared/projections.js';

/** Order of types within one step: what structures comes first. */
const TYPE_ORDER = `ARRAY['organization', 'area', 'process', 'project', 'principle']`;
const DETAIL_EVENTS = 3;
export const HUBS_TOLD = 5;
const PARENTS_TOLD = 2;
/** Characters of a note on a health. */
const NOTE_LENGTH = 100;
/** Bytes of details without texts: their keys and empty lists. */
export const EMPTY_DETAILS_BYTES = 160;
/** Of the room, what the nearest details may take in any case: what is left over is theirs. */
const DETAILS_SHARE = 0.05;

/** Neighbours of one kind looked at from one node: many around the node asked for, fewer farther out. */
const fanOf = (level: number): string => (level === 1 ? '$7::int' : 'least($7::int, greatest(50, $8::int / 8))');
const SHOWN = `${seen('n')} AND ($6::boolean OR n.status <> 'archived')`;

/** Neighbours of `p` by one relation in one direction, by index and in the order of ids, one more than the fan. */
const neighbours = (direction: 'outgoing' | 'incoming', level: number): string => {
  const [here, there] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
  // The members of an organization come by type and name instead.
  const condition = direction === 'incoming' ? `WHERE NOT (p.type = 'organization' AND r.relation = 'belongs_to')` : '';
  return `
    SELECT x.id, x.type, x.name_folded, r.relation, '${direction}' AS direction, x.place FROM unnest($5::text[]) AS r(relation) CROSS JOIN LATERAL (
      SELECT n.id, n.type, n.name_folded, row_number() OVER (ORDER BY e.${there}) AS place
      FROM graph.edge e JOIN graph.node n ON n.id = e.${there}
      WHERE e.${here} = p.id AND e.relation = r.relation AND ${SHOWN} ORDER BY e.${there} LIMIT ${fanOf(level)} + 1) x ${condition}`;
};

/** Members of an organization: areas first, so that they are not lost among projects. */
const members = (level: number): string => `
    SELECT x.id, x.type, x.name_folded, 'belongs_to', 'incoming', row_number() OVER () AS place FROM (
      SELECT m.* FROM unnest(${TYPE_ORDER}) WITH ORDINALITY AS t(type, rank) CROSS JOIN LATERAL (
        SELECT n.id, n.type, n.name_folded FROM graph.node n WHERE n.organization_id = p.id AND n.type = t.type AND ${SHOWN}
        ORDER BY n.name_folded, n.id LIMIT ${fanOf(level)} + 1) m
      WHERE p.type = 'organization' AND 'belongs_to' = ANY ($5::text[]) LIMIT ${fanOf(level)} + 1) x`;

/** One step outwards: the edges walked, the new nodes they lead to, and everything seen so far. */
const walk = (level: number): string => `
  step${level} AS MATERIALIZED (
    SELECT p.id AS from_id, p.type = 'organization' AS by_organization, s.*, s.place > ${fanOf(level)} AS beyond
    FROM level${level - 1} p CROSS JOIN LATERAL (${neighbours('outgoing', level)} UNION ALL ${neighbours('incoming', level)} UNION ALL ${members(level)}) s
    WHERE (SELECT count(*) FROM seen${level - 1}) <= $7::int
  ), level${level} AS MATERIALIZED (
    SELECT s.id, s.type, ${level} AS depth, s.via, count(*) OVER ()::int AS found,
      row_number() OVER (ORDER BY s.by_organization, array_position(${TYPE_ORDER}, s.type), s.name_folded, s.id) AS place
    FROM (
      SELECT s.id, s.type, s.name_folded, bool_and(s.by_organization) AS by_organization,
        string_agg('{"from":"' || s.from_id || '","relation":"' || s.relation || '","direction":"' || s.direction || '"}', ','
          ORDER BY s.from_id, s.relation, s.direction) AS via
      FROM step${level} s
      WHERE NOT s.beyond AND s.id NOT IN (SELECT v.id FROM seen${level - 1} v) GROUP BY s.id, s.type, s.name_folded
    ) s
    ORDER BY place LIMIT greatest(0, $7::int + 1 - (SELECT count(*) FROM seen${level - 1}))
  ), seen${level} AS MATERIALIZED (SELECT id FROM seen${level - 1} UNION ALL SELECT id FROM level${level})`;

/** One of our own words as JSON, or null. */
const quoted = (word: string): string => `coalesce('"' || ${word} || '"', 'null')`;

/** The beginning of the note on a health that is not well: a longer one would crowd out other nodes. */
const healthNote = `coalesce(to_json(CASE WHEN n.health <> 'on_track' THEN CASE WHEN length(n.health_note) > ${NOTE_LENGTH}
    THEN left(n.health_note, ${NOTE_LENGTH}) || '…' ELSE n.health_note END END)::text, 'null')`;

/** Put together as text: of hundreds of lines, JSON functions would take most of the time. */
const outline = `'{"id":"' || n.id || '","type":"' || n.type || '","name":' || to_json(n.name)
  || ',"lifecycle":' || ${quoted('n.lifecycle')} || ',"health":' || ${quoted('n.health')} || ',"health_note":' || ${healthNote}
  || ',"depth":' || l.depth
  || ',"via":[' || l.via || '],"owner":' || coalesce(to_json(a.name)::text, 'null') || '}'`;

/** How a node is named in a call: by its path where the caller sees its organization, else by its id. */
const reference = `coalesce(${nodePath('n', 'o')}, n.id::text)`;

/** What the members of the organization that is asked for belong to within it: from the second step on. */
const parents = (depth: number): string =>
  depth < 2
    ? 'NULL::text[]'
    : `CASE WHEN l.depth = 1 AND (SELECT r.type FROM level0 r) = 'organization' THEN ARRAY(
        SELECT ltrim(file.node_folder(p.type, p.sync_key, NULL), '/') FROM graph.edge e JOIN graph.node p ON p.id = e.target_id
        WHERE e.source_id = n.id AND e.relation = 'belongs_to' AND p.organization_id = n.organization_id AND ${seen('p')}
          AND ($6::boolean OR p.status <> 'archived') ORDER BY p.id LIMIT ${PARENTS_TOLD}) END`;

const details = `json_build_object('node_id', n.id, 'description', n.description, 'goal', n.goal,
  'responsibilities', ${responsibilitiesOf('n.id')}, 'data_sources', ${linksOf('n.id', 'data_source')}, 'tools', ${linksOf('n.id', 'tool')},
  'recent_events', coalesce((
    SELECT json_agg(${eventJson('e')} ORDER BY e.occurred_at DESC, e.id DESC) FROM (
      SELECT * FROM graph.event e WHERE e.node_id = n.id AND e.status IN ('active', 'resolved')
      ORDER BY e.occurred_at DESC, e.id DESC LIMIT ${DETAIL_EVENTS}) e), '[]'))`;

/** The lines of the outline take their share of the room first; details for which none is left would cost most of the time. */
const mayFit = `s.details_bytes <= $9::int * greatest(${DETAILS_SHARE}, 1 - s.lines / $8::float8)`;

const SESSIONS_TOLD = 3;
/** Of the last changes of a session. */
const CHANGES_COUNTED = 200;

/** JSON array of the sessions that took up the node last, and of what they changed there. */
const RECENT_SESSIONS = `
  SELECT json_agg(json_build_object('id', r.id, 'name', r.name, 'state', r.state, 'at', graph.iso(r.last_activity_at), 'handoff', r.handoff_title,
    'changes', (
      SELECT coalesce(json_object_agg(c.action, c.count ORDER BY c.action), '{}')
      FROM (
        SELECT a.action, count(*) AS count
        FROM (SELECT * FROM audit.trail t WHERE t.session_id = r.id ORDER BY t.session_seq DESC NULLS LAST, t.at DESC, t.id DESC LIMIT ${CHANGES_COUNTED}) a
        WHERE a.target_id = $3::uuid OR EXISTS (SELECT FROM graph.event e WHERE e.id = a.target_id AND e.node_id = $3::uuid)
        GROUP BY a.action) c)) ORDER BY r.place)
  FROM session.recent_of_node($1::uuid, $2::boolean, $3::uuid, $10::uuid, ${SESSIONS_TOLD}) r WHERE EXISTS (SELECT FROM level0)`;

const levels = (depth: number): readonly number[] => Array.from({ length: depth }, (_, index) => index + 1);
const union = (parts: readonly string[], empty: string): string =>
  parts.length > 0 ? parts.join(' UNION ALL ') : empty;

/**
 * A node and what lies around it, walked step by step over visible nodes alone. $1 user, $2 sees all, $3 node, $4 most
 * bytes of the outline, $5 relations to follow, $6 archived ones too, $7 most nodes to look at, $8 most lines of the outline,
 * $9 most bytes of details when there are no lines, $10 session, which is told details of nodes that it holds alone. The
 * first row is the node itself, null when it is absent or hidden.
 */
const contextText = (depth: number): string => `
  WITH ${SEEN_SETS},
  level0 AS MATERIALIZED (SELECT n.id, n.type FROM graph.node n WHERE n.id = $3::uuid AND ${seen('n')}),
  seen0 AS MATERIALIZED (SELECT id FROM level0)
  ${levels(depth)
    .map((level) => `,${walk(level)}`)
    .join('')},
  line AS MATERIALIZED (
    SELECT l.id, l.type, l.depth, l.via, (row_number() OVER (ORDER BY l.depth, l.place))::int AS place
    FROM (${union(
      levels(depth).map((level) => `SELECT id, type, depth, via, place FROM level${level}`),
      'SELECT NULL::uuid AS id, NULL::text AS type, 0 AS depth, NULL::text AS via, 0::bigint AS place WHERE $5::text[] IS NULL AND $6::boolean',
    )}) l
  ), shown AS MATERIALIZED (
    SELECT l.place, n.id, n.type, ${outline} AS outline, ${reference} AS reference, ${parents(depth)} AS parents,
      sum(${EMPTY_DETAILS_BYTES} + octet_length(n.description) + octet_length(n.goal)) OVER (ORDER BY l.place) AS details_bytes
    FROM line l JOIN graph.node n ON n.id = l.id LEFT JOIN graph.actor a ON a.id = n.owner_id
      LEFT JOIN graph.node o ON o.id = n.organization_id AND ${seen('o')} WHERE l.place <= least($7::int, $8::int)
  ), fitting AS MATERIALIZED (
    SELECT f.*, count(*) OVER () AS lines FROM (
      SELECT s.*, sum(octet_length(s.outline)) OVER (ORDER BY s.place) AS outline_bytes FROM shown s) f
    WHERE f.outline_bytes <= $4::int
  )
  SELECT 0 AS place, $3::uuid AS id, NULL AS type, (${NODE_JSON}) AS json, (${RECENT_SESSIONS})::text AS details,
    (SELECT coalesce(sum(f.found), 0)::int FROM (${union(
      levels(depth).map((level) => `(SELECT found FROM level${level} LIMIT 1)`),
      'SELECT 0 AS found',
    )}) f) AS found,
    ARRAY(SELECT h.from_id::text FROM (${union(
      levels(depth).map((level) => `SELECT ${level} AS level, from_id FROM step${level} WHERE beyond`),
      'SELECT 0 AS level, NULL::uuid AS from_id WHERE false',
    )}) h GROUP BY h.from_id ORDER BY min(h.level), h.from_id LIMIT ${HUBS_TOLD}) AS hubs,
    (SELECT count(*) > $7::int FROM line) AS cut,
    (SELECT ${reference} FROM graph.node n LEFT JOIN graph.node o ON o.id = n.organization_id AND ${seen('o')} WHERE n.id = $3::uuid AND ${seen('n')}) AS reference,
    NULL::text[] AS parents, (SELECT json_object_agg(t.type, t.count) FROM (SELECT type, count(*) FROM line GROUP BY type ORDER BY type) t) AS types
  UNION ALL
  SELECT s.place, s.id, s.type, s.outline, CASE WHEN ${mayFit} AND session.holds($10::uuid, n.id) THEN (${details})::text END, NULL, NULL, NULL, s.reference, s.parents, NULL
  FROM fitting s JOIN graph.node n ON n.id = s.id
  ORDER BY place`;

/** One statement for each depth. */
export const CONTEXT: readonly Statement[] = [0, ...levels(LIMITS.contextDepthMax)].map((depth) =>
  statement(`context.depth_${depth}`, contextText(depth)),
);

/** A row of CONTEXT. */
export interface ContextRow extends Record<string, unknown> {
  readonly place: number;
  readonly id: string;
  /** Of further rows. */
  readonly type: NodeType | null;
  /** First row: the node itself as JSON; further rows: a line of the outline as compact JSON. */
  readonly json: string | null;
  /** First row: the last sessions as a JSON array; further rows: details as JSON where there may be room for them. */
  readonly details: string | null;
  /** First row: how many nodes were found around it. */
  readonly found: number | null;
  /** First row: nodes with more neighbours than were looked at, the nearest of them. */
  readonly hubs: readonly string[] | null;
  /** First row: there are more nodes than the most. */
  readonly cut: boolean | null;
  /** How the node is named in a call. */
  readonly reference: string | null;
  /** Further rows: what the node belongs to within its organization, where the answer tells it. */
  readonly parents: readonly string[] | null;
  /** First row: how many nodes of each type were looked at. */
  readonly types: Readonly<Partial<Record<NodeType, number>>> | null;
}
