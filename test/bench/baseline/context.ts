import { iso, isSeen, mySets } from './access.js';
import { NODE_READ } from './node-read.js';

const TYPES = `ARRAY['organization', 'area', 'process', 'project', 'principle']`;
const RELATIONS = `(VALUES ('belongs_to'), ('related_to'), ('applies'), ('informed_by')) r(relation)`;
/** Of a health that is not well, at most a hundred characters. */
const NOTE = `CASE WHEN n.health <> 'on_track' THEN CASE WHEN length(n.health_note) > 100 THEN left(n.health_note, 100) || '…' ELSE n.health_note END END`;
const shown = (alias: string): string => `${isSeen(alias)} AND ${alias}.status <> 'archived'`;
/** Neighbours of one relation and direction that are looked at from one node. */
const fan = (level: number): string => (level === 1 ? '$3::int' : '50');

const along = (direction: 'outgoing' | 'incoming', level: number): string => {
  const [here, there] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
  return `
    SELECT x.id, r.relation, '${direction}' AS direction FROM ${RELATIONS}, LATERAL (
      SELECT n.id FROM graph.edge e JOIN graph.node n ON n.id = e.${there}
      WHERE e.${here} = p.id AND e.relation = r.relation AND ${shown('n')}
      ORDER BY e.${there} LIMIT ${fan(level)}
    ) x${direction === 'incoming' ? ` WHERE p.type <> 'organization' OR r.relation <> 'belongs_to'` : ''}`;
};

/** What belongs to an organization, structure first. */
const members = (level: number): string => `
    (SELECT m.id, 'belongs_to', 'incoming' FROM unnest(${TYPES}) WITH ORDINALITY AS t(type, rank), LATERAL (
      SELECT n.id, n.name_folded FROM graph.node n
      WHERE p.type = 'organization' AND n.organization_id = p.id AND n.type = t.type AND ${shown('n')}
      ORDER BY n.name_folded, n.id LIMIT ${fan(level)}
    ) m ORDER BY t.rank, m.name_folded, m.id LIMIT ${fan(level)})`;

const seenBefore = (level: number): string =>
  Array.from({ length: level }, (_, index) => `SELECT id FROM level${index}`).join(' UNION ALL ');

const step = (level: number): string => `
  level${level} AS MATERIALIZED (
    SELECT n.id, n.type, ${level} AS depth, g.via,
      row_number() OVER (ORDER BY g.through_organization, array_position(${TYPES}, n.type), n.name_folded, n.id) AS place
    FROM (
      SELECT s.id, bool_and(p.type = 'organization') AS through_organization,
        json_agg(json_build_object('from', p.id, 'relation', s.relation, 'direction', s.direction)
          ORDER BY p.id, s.relation, s.direction) AS via
      FROM level${level - 1} p, LATERAL (${along('outgoing', level)} UNION ALL ${along('incoming', level)} UNION ALL ${members(level)}) s
      WHERE s.id NOT IN (${seenBefore(level)}) AND (SELECT count(*) FROM (${seenBefore(level)}) b) <= $3::int
      GROUP BY s.id
    ) g JOIN graph.node n ON n.id = g.id
    ORDER BY place LIMIT greatest(0, $3::int + 1 - (SELECT count(*) FROM (${seenBefore(level)}) b))
  )`;

/**
 * $1 user, $2 node, $3 most nodes, $4 most lines, $5 most bytes of details: the node whole in the first row with how many
 * nodes were found, then the first nodes around it with their lines and, as far as their texts may fit beside, details.
 */
export const context = (depth: number): string => {
  const levels = Array.from({ length: depth }, (_, index) => index + 1);
  return `
  WITH ${mySets('$1::uuid')},
  level0 AS MATERIALIZED (SELECT n.id, n.type FROM graph.node n WHERE n.id = $2::uuid AND ${isSeen('n')}),
  ${levels.map(step).join(',')},
  line AS MATERIALIZED (
    SELECT n.*, l.depth, l.place, json_build_object('id', n.id, 'type', n.type, 'name', n.name, 'lifecycle', n.lifecycle,
        'health', n.health, 'health_note', ${NOTE}, 'depth', l.depth, 'via', l.via, 'owner', w.name)::text AS outline
    FROM (${levels.map((level) => `SELECT * FROM level${level}`).join(' UNION ALL ')}) l
      JOIN graph.node n ON n.id = l.id LEFT JOIN graph.actor w ON w.id = n.owner_id
    ORDER BY l.depth, l.place LIMIT $4::int
  ),
  fitting AS MATERIALIZED (
    SELECT l.*, sum(160 + octet_length(l.description) + octet_length(l.goal)) OVER (ORDER BY l.depth, l.place)
      <= $5::int * greatest(0.05, 1 - count(*) OVER () / $4::float8) AS fits
    FROM line l
  )
  SELECT 0 AS depth, 0 AS place, $2::uuid AS id, (${NODE_READ}) AS outline, NULL AS details,
    (SELECT least($3::int, count(*)) FROM (${levels.map((level) => `SELECT id FROM level${level}`).join(' UNION ALL ')}) l) AS found
  UNION ALL
  SELECT n.depth, n.place, n.id, n.outline, CASE WHEN n.fits THEN json_build_object(
    'node_id', n.id, 'description', n.description, 'goal', n.goal,
    'responsibilities', (
      SELECT coalesce(json_agg(json_build_object('id', r.id, 'title', r.title, 'description', r.description, 'assignees', (
        SELECT coalesce(json_agg(json_build_object('id', a.id, 'type', a.type, 'name', a.name) ORDER BY ra.position), '[]')
        FROM graph.responsibility_assignee ra JOIN graph.actor a ON a.id = ra.actor_id WHERE ra.responsibility_id = r.id
      )) ORDER BY r.position), '[]') FROM graph.responsibility r WHERE r.node_id = n.id),
    'data_sources', k.data_sources, 'tools', k.tools,
    'recent_events', (
      SELECT coalesce(json_agg(json_build_object(
        'id', v.id, 'node_id', v.node_id, 'kind', v.kind, 'status', v.status, 'content', v.content,
        'occurred_at', ${iso('v.occurred_at')}, 'logged_at', ${iso('v.logged_at')}, 'logged_by', lu.name,
        'resolution', v.resolution, 'resolved_at', ${iso('v.resolved_at')}, 'resolved_by', ru.name,
        'supersedes_id', v.supersedes_id, 'superseded_by_id', NULL, 'version', v.version
      ) ORDER BY v.occurred_at DESC, v.id DESC), '[]')
      FROM (
        SELECT * FROM graph.event WHERE node_id = n.id AND status IN ('active', 'resolved')
        ORDER BY occurred_at DESC, id DESC LIMIT 3
      ) v LEFT JOIN identity."user" lu ON lu.id = v.logged_by LEFT JOIN identity."user" ru ON ru.id = v.resolved_by)
  )::text END, NULL
  FROM fitting n LEFT JOIN LATERAL (
    SELECT coalesce(json_agg(x.link ORDER BY x.position) FILTER (WHERE x.kind = 'data_source'), '[]') AS data_sources,
      coalesce(json_agg(x.link ORDER BY x.position) FILTER (WHERE x.kind = 'tool'), '[]') AS tools
    FROM (SELECT kind, position, json_build_object('id', id, 'name', name, 'url', url) AS link FROM graph.link WHERE node_id = n.id) x
  ) k ON n.fits
  ORDER BY depth, place`;
};
