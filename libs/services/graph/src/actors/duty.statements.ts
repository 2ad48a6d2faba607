import { Id } from '@workspace-graph/contracts';
import { cursorOf, FIRST_ID, pageJson, SEEN_SETS, seen, statement } from '@workspace-graph/database';
import { z } from 'zod';
import { nodeRef } from '../shared/projections.js';

/** Name and id of the node, and the place on it: first its owner, then its responsibilities in their order. */
type DutyKey = [nameFolded: string, nodeId: string, place: number];

export const DUTY_CURSOR = cursorOf<DutyKey>('list_duties', z.tuple([z.string(), Id, z.int32()]));
export const DUTIES_START: DutyKey = ['', FIRST_ID, -1];

const ITEM = `json_build_object('node', ${nodeRef('n')}, 'role', CASE WHEN r.id IS NULL THEN 'owner' ELSE 'assignee' END,
  'responsibility', CASE WHEN r.id IS NOT NULL THEN json_build_object('id', r.id, 'title', r.title, 'description', r.description) END)`;

/**
 * One page of what an actor answers for on visible nodes; no row when there is no such actor. $1 user, $2 sees all,
 * $3 actor, $4 statuses of nodes, $5 page size, $6 to $8 sort key.
 */
export const DUTIES = statement(
  'duty.list',
  `
  WITH ${SEEN_SETS}, duty AS (
    SELECT n.id AS node_id, 0 AS place, NULL::uuid AS responsibility_id FROM graph.node n WHERE n.owner_id = $3::uuid
    UNION ALL
    SELECT r.node_id, r.position + 1, r.id
    FROM graph.responsibility_assignee ra JOIN graph.responsibility r ON r.id = ra.responsibility_id WHERE ra.actor_id = $3::uuid
  )
  SELECT (${pageJson(
    '$5::int',
    `
    SELECT ${ITEM} AS item, ${DUTY_CURSOR.sql('n.name_folded', 'n.id', 'd.place')} AS cursor,
      row_number() OVER (ORDER BY n.name_folded, n.id, d.place) AS place
    FROM duty d JOIN graph.node n ON n.id = d.node_id LEFT JOIN graph.responsibility r ON r.id = d.responsibility_id
    WHERE ${seen('n')} AND n.status = ANY ($4::text[]) AND (n.name_folded, n.id, d.place) > ($6::text, $7::uuid, $8::int)
    ORDER BY n.name_folded, n.id, d.place LIMIT $5::int + 1`,
  )}) AS json FROM graph.actor a WHERE a.id = $3::uuid`,
);
