import { iso, isSeen, mySets } from './access.js';

/**
 * $1 user, $2 node, $3 kind, $4 content, $5 to $8 fresh ids: an event with its audit line, its message for the others
 * and the mark that the call was carried out, in one statement and so one transaction.
 */
export const LOG = `
  WITH ${mySets('$1::uuid')},
  n AS (
    SELECT x.id FROM graph.node x
    WHERE x.id = $2::uuid AND ${isSeen('x')} AND (x.access_set_id IS NULL OR NOT EXISTS (
      SELECT FROM graph.access_set_gate sg WHERE sg.access_set_id = x.access_set_id AND NOT EXISTS (
        SELECT FROM graph.gate_grant g WHERE g.gate_id = sg.gate_id AND g.access = 2
          AND g.principal_id IN (SELECT $1::uuid UNION ALL SELECT m.group_id FROM identity.membership m WHERE m.user_id = $1::uuid))))
    FOR KEY SHARE OF x
  ),
  e AS (
    INSERT INTO graph.event (id, node_id, kind, content, occurred_at, logged_by)
    SELECT $5::uuid, n.id, $3::text, $4::text, now(), $1::uuid FROM n RETURNING *
  ),
  reply AS (
    SELECT e.*, json_build_object('id', e.id, 'node_id', e.node_id, 'kind', e.kind, 'status', e.status, 'content', e.content,
      'occurred_at', ${iso('e.occurred_at')}, 'logged_at', ${iso('e.logged_at')}, 'logged_by', u.name, 'resolution', NULL,
      'resolved_at', NULL, 'resolved_by', NULL, 'supersedes_id', NULL, 'superseded_by_id', NULL, 'version', e.version)::text AS json
    FROM e JOIN identity."user" u ON u.id = e.logged_by
  ),
  audited AS (
    INSERT INTO audit.entry (id, user_id, via, action, target_kind, target_id, after, request_id)
    SELECT $6::uuid, $1::uuid, 'rest', 'log', 'event', e.id, jsonb_build_object('node_id', e.node_id, 'kind', e.kind,
      'content', e.content, 'occurred_at', ${iso('e.occurred_at')}), $8::text FROM e
  ),
  concerned AS (INSERT INTO audit.concern (node_id, at, entry_id, about) SELECT e.node_id, now(), $6::uuid, 'event' FROM e),
  told AS (
    INSERT INTO outbox.event (id, type, payload)
    SELECT $7::uuid, 'graph.changed', jsonb_build_object('node_ids', jsonb_build_array(e.node_id), 'action', 'log') FROM e
  ),
  applied AS (
    INSERT INTO outbox.applied_call (call_id, operation, request_sha256, reply)
    SELECT $8::text, 'log', sha256(convert_to($1 || $2::text || $3 || $4, 'UTF8')), reply.json::jsonb FROM reply
  )
  SELECT json FROM reply`;

/** $1 id of an event: what logging it has left in the database, besides the message, which is gone once it is sent. */
export const LEFT_BY_LOG = `
  SELECT a.via, a.action, a.target_kind, a.before, a.after - 'occurred_at' AS after, c.operation,
    c.reply - '{id,occurred_at,logged_at}'::text[] AS reply, e.logged_by, e.content, e.node_id
  FROM graph.event e
    LEFT JOIN audit.entry a ON a.target_id = e.id
    LEFT JOIN outbox.applied_call c ON c.reply ->> 'id' = e.id::text
  WHERE e.id = $1::uuid`;
