import { LIMITS } from '@workspace-graph/contracts';
import { levelOf, SEEN_SETS, seen, statement, VISIBLE } from '@workspace-graph/database';
import {
  eventJson,
  filesOf,
  linksOf,
  nodeRef,
  nodeSummaryFields,
  responsibilitiesOf,
  userName,
} from '../shared/projections.js';

const EDGES = LIMITS.nodeEdges;

/** One more than are shown, along an index, so that a node with many edges costs no more than one with few. */
const edgesOf = (direction: 'outgoing' | 'incoming'): string => {
  const [here, there] = direction === 'outgoing' ? ['source_id', 'target_id'] : ['target_id', 'source_id'];
  return `coalesce((
    SELECT array_agg(json_build_object('id', x.id, 'direction', '${direction}', 'relation', x.relation, 'node', x.node)
      ORDER BY x.relation, x.name_folded, x.id)
    FROM (
      SELECT e.id, e.relation, ${nodeRef('o')} AS node, o.name_folded
      FROM graph.edge e JOIN graph.node o ON o.id = e.${there} WHERE e.${here} = n.id AND ${seen('o')}
      ORDER BY e.relation, e.${there} LIMIT ${EDGES + 1}) x), '{}')`;
};

/** The nodes whose sharing applies to a restricted node. */
const gates = (fields: string): string =>
  `(SELECT ${fields} FROM graph.access_set_gate sg JOIN graph.node g ON g.id = sg.gate_id WHERE sg.access_set_id = n.access_set_id)`;

const nodeJson = (columns: string): string => `
  SELECT json_build_object(${nodeSummaryFields('n')},
    'description', n.description, 'goal', n.goal, 'sync_key', n.sync_key,
    'health_report', CASE WHEN n.health IS NOT NULL THEN json_build_object(
      'value', n.health, 'note', n.health_note, 'by', ${userName('n.health_by')}, 'at', graph.iso(n.health_at)) END,
    'responsibilities', ${responsibilitiesOf('n.id')},
    'data_sources', ${linksOf('n.id', 'data_source')},
    'tools', ${linksOf('n.id', 'tool')},
    'edges', (
      SELECT json_build_object(
        'items', array_to_json(d.outgoing[1:${EDGES}] || d.incoming[1:${EDGES}]),
        'complete', cardinality(d.outgoing) <= ${EDGES} AND cardinality(d.incoming) <= ${EDGES})
      FROM (SELECT ${edgesOf('outgoing')} AS outgoing, ${edgesOf('incoming')} AS incoming OFFSET 0) d),
    'recent_events', coalesce((
      SELECT json_agg(${eventJson('e')} ORDER BY e.occurred_at DESC, e.id DESC) FROM (
        SELECT * FROM graph.event e WHERE e.node_id = n.id AND e.status IN ('active', 'resolved')
        ORDER BY e.occurred_at DESC, e.id DESC LIMIT ${LIMITS.nodeEvents}) e), '[]'),
    'access', CASE WHEN n.access_set_id IS NULL
      THEN json_build_object('mode', 'everyone', 'inherited', n.visibility IS NULL, 'from', '[]'::json, 'level', 'write')
      ELSE json_build_object(
        'mode', ${gates(`CASE WHEN bool_or(g.visibility = 'private') THEN 'private' ELSE 'group' END`)},
        'inherited', n.visibility IS NULL,
        'from', ${gates(`json_agg(${nodeRef('g')} ORDER BY g.name_folded, g.id)`)},
        'level', CASE ${levelOf('n')} WHEN 2 THEN 'write' ELSE 'read' END) END,
    'files', ${filesOf('n.id')},
    'sessions', session.unarchived_of_node(n.id),
    'local_path', NULL
  )::text AS json${columns}
  FROM graph.node n WHERE n.id = $3::uuid AND ${seen('n')}`;

/**
 * The Node of one visible node as JSON text, for a statement with SEEN_SETS; no row when it is absent or hidden.
 * $1 user, $2 sees all, $3 node.
 */
export const NODE_JSON = nodeJson('');

/** The whole Node answer of one visible node, and its version. $1 user, $2 sees all, $3 node. */
export const NODE_DETAIL = statement('node.detail', `WITH ${SEEN_SETS} ${nodeJson(', n.version')}`);

const lockedNode = (lock: string): string => `
  SELECT n.id, n.type, n.name, n.description, n.goal, n.lifecycle, n.lifecycle_before_archive, n.status, n.health, n.health_note,
    n.organization_id, n.owner_id, n.visibility, n.sync_key, n.version, n.access_set_id
  FROM graph.node n WHERE n.id = $3::uuid AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = n.id)
  FOR ${lock}`;

/** A visible node's own columns, locked against other changes. $1 user, $2 sees all, $3 node. */
export const NODE_FOR_CHANGE = statement('node.for_change', lockedNode('NO KEY UPDATE'));

/** The same, also against new rows that refer to it. */
export const NODE_FOR_REMOVAL = statement('node.for_removal', lockedNode('UPDATE'));

/** Visible nodes of the given ids, kept from being purged. $1 user, $2 sees all, $3 ids. */
export const NODES_TO_JOIN = statement(
  'node.to_join',
  `
  SELECT n.id, n.type, n.name
  FROM graph.node n WHERE n.id = ANY ($3::uuid[]) AND EXISTS (SELECT FROM ${VISIBLE} v WHERE v.id = n.id)
  ORDER BY n.id FOR KEY SHARE`,
);

/**
 * A node with its belongs_to edges and the access of its organization; no row when the sync_key is taken, also by a node that another transaction is
 * just creating, or its folder is one that another node has left. $14 ids of the edges, $15 their targets.
 */
export const INSERT_NODE = statement(
  'node.insert',
  `
  WITH made AS (
    INSERT INTO graph.node (id, type, name, description, goal, lifecycle, health, health_by, health_at,
      organization_id, owner_id, sync_key, visibility, created_by, access_set_id)
    SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::uuid, CASE WHEN $8::uuid IS NOT NULL THEN now() END,
      $9::uuid, $10::uuid, $11::text, $12::text, $13::uuid, (SELECT o.access_set_id FROM graph.node o WHERE o.id = $9::uuid)
    WHERE NOT file.was_folder_of_other($1::uuid, $9::uuid, $2::text, $11::text)
    ON CONFLICT DO NOTHING RETURNING id
  ), joined AS (
    INSERT INTO graph.edge (id, source_id, target_id, relation, created_by)
    SELECT e.id, made.id, e.target_id, 'belongs_to', $13::uuid
    FROM made, unnest($14::uuid[], $15::uuid[]) AS e(id, target_id)
  )
  SELECT id FROM made`,
);
