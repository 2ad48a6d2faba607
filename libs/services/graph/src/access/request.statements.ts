import { Id, LIMITS } from '@workspace-graph/contracts';
import { cursorOf, LAST_ID, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

type RequestKey = [id: string];

export const REQUEST_CURSOR = cursorOf<RequestKey>('list_access_requests', z.tuple([Id]));
export const REQUEST_START: RequestKey = [LAST_ID];

export const REQUEST = `json_build_object(
  'id', r.id, 'node_id', r.node_id, 'access', r.access, 'reason', r.reason, 'state', r.state,
  'requested_by', json_build_object('id', u.id, 'name', u.name), 'requested_at', graph.iso(r.requested_at),
  'decided_at', graph.iso(r.decided_at), 'decision_note', r.decision_note)`;

export const FROM_REQUEST = `graph.access_request r JOIN identity.known_user u ON u.id = r.user_id`;

/** $1 request. */
export const REQUEST_BY_ID = statement(
  'access_request.by_id',
  `SELECT ${REQUEST}::text AS json FROM ${FROM_REQUEST} WHERE r.id = $1::uuid`,
);

/** Locks the request $1; with the name of its user where they are disabled. */
export const REQUEST_FOR_CHANGE = statement(
  'access_request.for_change',
  `
  SELECT r.id::text AS id, r.node_id::text AS node_id, r.user_id::text AS user_id, r.access, r.state,
    CASE WHEN u.disabled_at IS NOT NULL THEN u.name END AS disabled_name
  FROM ${FROM_REQUEST} WHERE r.id = $1::uuid FOR UPDATE OF r`,
);

/** Requests of one user wait for each other, so that none goes past the limit. $1 user. */
export const LOCK_REQUESTER = statement(
  'access_request.lock_requester',
  `
  SELECT pg_advisory_xact_lock(7302, hashtext($1::text))`,
);

/**
 * What there is to know before the user $1 asks for the node $2, the same work whether that exists or not: the pending
 * request for it, how many others pend, and the access that the user has.
 */
export const REQUEST_SITUATION = statement(
  'access_request.situation',
  `
  SELECT (SELECT r.id::text FROM graph.access_request r WHERE r.user_id = $1::uuid AND r.node_id = $2::uuid AND r.state = 'pending') AS pending_id,
    (SELECT count(*)::int FROM graph.access_request r WHERE r.user_id = $1::uuid AND r.state = 'pending') AS pending_count,
    coalesce((SELECT graph.access_level(n.access_set_id, $1::uuid, $3::boolean) FROM graph.node n WHERE n.id = $2::uuid), 0)::int AS level`,
);

/** $1 request, $2 node, $3 user, $4 access, $5 reason. */
export const INSERT_REQUEST = statement(
  'access_request.insert',
  `
  INSERT INTO graph.access_request (id, node_id, user_id, access, reason) VALUES ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::text)`,
);

/** $1 request, $2 state, $3 who decided, $4 note. */
export const DECIDE_REQUEST = statement(
  'access_request.decide',
  `
  UPDATE graph.access_request SET state = $2::text, decided_at = now(), decided_by = $3::uuid, decision_note = $4::text WHERE id = $1::uuid`,
);

/** Requests of the user $1, or with $1 null of everybody for nodes that exist; state $2 or null, last id $3, page size $4. */
export const REQUEST_PAGE = statement(
  'access_request.page',
  pageJson(
    '$4::int',
    `
  SELECT ${REQUEST} AS item, ${REQUEST_CURSOR.sql('r.id')} AS cursor, row_number() OVER (ORDER BY r.id DESC) AS place
  FROM ${FROM_REQUEST}
  WHERE r.id < $3::uuid AND ($2::text IS NULL OR r.state = $2::text)
    AND CASE WHEN $1::uuid IS NULL THEN EXISTS (SELECT FROM graph.node n WHERE n.id = r.node_id) ELSE r.user_id = $1::uuid END
  ORDER BY r.id DESC LIMIT $4::int + 1`,
  ),
);

/** The gates of the node $1 that shut the user $2 out of the access $3 (1 read, 2 write), locked, in a fixed order. */
export const SHUTTING_GATES = statement(
  'access_request.shutting_gates',
  `
  SELECT g.id::text AS id, g.visibility FROM graph.node n
  JOIN graph.access_set_gate sg ON sg.access_set_id = n.access_set_id JOIN graph.node g ON g.id = sg.gate_id
  WHERE n.id = $1::uuid AND coalesce((
    SELECT max(t.access) FROM graph.gate_grant t WHERE t.gate_id = g.id
      AND t.principal_id IN (SELECT $2::uuid UNION ALL SELECT m.group_id FROM identity.member m WHERE m.user_id = $2::uuid)), 0) < $3::int
  ORDER BY g.id FOR NO KEY UPDATE OF g`,
);

/** Most requests of one user that may pend. */
export const PENDING_MAX = LIMITS.pendingAccessRequestsPerUser;
