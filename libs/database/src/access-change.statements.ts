import { statement } from './statement.js';

/** Users listed in a preview, of each direction. */
export const PREVIEW_USERS = 500;

/** Nodes named for each user of a preview. */
const SAMPLE_NODES = 10;

export const HOLD = statement('access_change.hold', `SELECT graph.hold_access()`);

export const LOCK = statement('access_change.lock', `SELECT graph.lock_access()`);

/** Takes the lock of access and records from here on what the transaction changes. */
export const RECORD = statement('access_change.record', `SELECT graph.record_access()`);

export const REFRESH = statement('access_change.refresh', `SELECT graph.refresh_access($1::uuid[])`);

export const REGRANT = statement('access_change.regrant', `SELECT graph.refresh_grants($1::uuid[])`);

/** Whether the transaction has recorded anything that can move access: most changes do not, and previewing is dear. */
export const MAY_MOVE = statement(
  'access_change.may_move',
  `
  SELECT EXISTS (SELECT FROM pg_temp.access_log_node l WHERE NOT l.created AND l.set_after IS DISTINCT FROM l.set_before)
    OR EXISTS (SELECT FROM pg_temp.access_log_grant) OR EXISTS (SELECT FROM pg_temp.access_log_member) AS may_move`,
);

export const END_RECORD = statement('access_change.end_record', `SELECT graph.end_access_record()`);

// Grants and memberships as they were before the transaction: what is there and not in the record, and what is recorded.
const GRANTS_BEFORE = `(
  SELECT g.gate_id, g.principal_id, g.access FROM graph.gate_grant g
  WHERE NOT EXISTS (SELECT FROM pg_temp.access_log_grant l WHERE l.gate_id = g.gate_id AND l.principal_id = g.principal_id)
  UNION ALL
  SELECT l.gate_id, l.principal_id, l.access_before FROM pg_temp.access_log_grant l WHERE l.access_before IS NOT NULL)`;
const MEMBERS_BEFORE = `(
  SELECT m.group_id, m.user_id FROM identity.member m
  WHERE NOT EXISTS (SELECT FROM pg_temp.access_log_member l WHERE l.group_id = m.group_id AND l.user_id = m.user_id)
  UNION ALL
  SELECT l.group_id, l.user_id FROM pg_temp.access_log_member l WHERE l.was)`;

interface LevelSource {
  readonly grants: string;
  readonly members: string;
}
const BEFORE: LevelSource = { grants: GRANTS_BEFORE, members: MEMBERS_BEFORE };
const AFTER: LevelSource = { grants: 'graph.gate_grant', members: 'identity.member' };

/** Principals of everybody: who passes is found from the lists of the gates, however many users there are. */
const everybody = (members: string): string => `
  SELECT g.principal_id AS user_id WHERE g.principal_id IN (SELECT e.user_id FROM enabled e)
  UNION ALL SELECT m.user_id FROM ${members} m WHERE m.group_id = g.principal_id AND m.user_id IN (SELECT e.user_id FROM enabled e)`;

/** Principals of the users concerned: found from those users, however many others pass. */
const concernedOnly = (members: string): string => `
  SELECT c.user_id FROM concerned c WHERE c.user_id = g.principal_id
  UNION ALL SELECT c.user_id FROM concerned c JOIN ${members} m ON m.user_id = c.user_id AND m.group_id = g.principal_id`;

/**
 * Every user of `users` who passes all gates of a set of `sets`, with the weakest access there. OFFSET 0 keeps the
 * planner, which knows nothing of the record's size, from expanding the lists of all gates first.
 */
const levels = (source: LevelSource, sets: string, users: (members: string) => string): string => `
  SELECT passed.set_id, passed.user_id, min(passed.access) AS access FROM (
    SELECT s.set_id, s.gate_count, s.gate_id, p.user_id, max(g.access) AS access
    FROM ${sets} s CROSS JOIN LATERAL (SELECT g.principal_id, g.access FROM ${source.grants} g WHERE g.gate_id = s.gate_id OFFSET 0) g
    CROSS JOIN LATERAL (${users(source.members)} OFFSET 0) p
    GROUP BY s.set_id, s.gate_count, s.gate_id, p.user_id
  ) passed GROUP BY passed.set_id, passed.gate_count, passed.user_id HAVING count(*) = passed.gate_count`;

/** Sets of the given kind of pairs with their gates; a purged gate still counts for what was. */
const gatesOf = (pairs: string): string => `
  SELECT s.id AS set_id, s.gate_count, gate_id FROM graph.access_set s CROSS JOIN unnest(s.gates) gate_id
  WHERE s.id IN (SELECT p.set_before FROM ${pairs} p UNION SELECT p.set_after FROM ${pairs} p)`;

const UNMOVED = `NOT EXISTS (
  SELECT FROM pg_temp.access_log_node l WHERE l.node_id = n.id AND (l.created OR l.set_after IS DISTINCT FROM l.set_before))`;

/**
 * Who gains and who loses by what the transaction has recorded, at most PREVIEW_USERS + 1 of each. Nodes are taken
 * together by pairs of access sets, before and after, so that the work grows with the sets that are touched. Nodes that
 * went from one set to another concern everybody who passes either; nodes that kept a set whose gates or groups changed
 * concern only the users of what changed. A purged node is gone for everybody: nobody's gain, nobody's loss.
 */
export const PREVIEW = statement(
  'access_change.preview',
  `
  WITH enabled AS MATERIALIZED (
    SELECT u.id AS user_id, u.name FROM identity.known_user u WHERE u.disabled_at IS NULL
  ), moved AS MATERIALIZED (
    SELECT n.id, n.name, l.set_before, l.set_after
    FROM pg_temp.access_log_node l JOIN graph.node n ON n.id = l.node_id
    WHERE NOT l.created AND l.set_after IS DISTINCT FROM l.set_before
  ), changed_grant AS MATERIALIZED (
    SELECT l.gate_id, l.principal_id FROM pg_temp.access_log_grant l
    LEFT JOIN graph.gate_grant g ON g.gate_id = l.gate_id AND g.principal_id = l.principal_id WHERE g.access IS DISTINCT FROM l.access_before
  ), changed_member AS MATERIALIZED (
    SELECT l.group_id, l.user_id FROM pg_temp.access_log_member l
    LEFT JOIN identity.member m ON m.group_id = l.group_id AND m.user_id = l.user_id WHERE l.was <> (m.user_id IS NOT NULL)
  ), concerned AS MATERIALIZED (
    SELECT e.user_id FROM enabled e WHERE e.user_id IN (
      SELECT c.user_id FROM changed_member c
      UNION ALL SELECT c.principal_id FROM changed_grant c
      UNION ALL SELECT m.user_id FROM changed_grant c JOIN identity.member m ON m.group_id = c.principal_id
      UNION ALL SELECT l.user_id FROM changed_grant c JOIN pg_temp.access_log_member l ON l.group_id = c.principal_id)
  ), touched_gate AS MATERIALIZED (
    SELECT c.gate_id FROM changed_grant c
    UNION SELECT g.gate_id FROM graph.gate_grant g WHERE g.principal_id IN (SELECT c.group_id FROM changed_member c)
  ), moved_pair AS MATERIALIZED (
    SELECT m.set_before, m.set_after, count(*) AS nodes FROM moved m GROUP BY m.set_before, m.set_after
  ), kept_pair AS MATERIALIZED (
    SELECT n.access_set_id AS set_before, n.access_set_id AS set_after, count(*) AS nodes FROM graph.node n
    WHERE n.access_set_id IN (SELECT sg.access_set_id FROM graph.access_set_gate sg JOIN touched_gate t ON t.gate_id = sg.gate_id)
      AND ${UNMOVED}
    GROUP BY n.access_set_id
  ),
  moved_set AS MATERIALIZED (${gatesOf('moved_pair')}),
  kept_set AS MATERIALIZED (${gatesOf('kept_pair')}),
  moved_before AS MATERIALIZED (${levels(BEFORE, 'moved_set', everybody)}),
  moved_after AS MATERIALIZED (${levels(AFTER, 'moved_set', everybody)}),
  kept_before AS MATERIALIZED (${levels(BEFORE, 'kept_set', concernedOnly)}),
  kept_after AS MATERIALIZED (${levels(AFTER, 'kept_set', concernedOnly)}),
  moved_level AS (
    SELECT p.set_before, p.set_after, p.nodes, r.user_id,
      CASE WHEN p.set_before IS NULL THEN 2 ELSE coalesce(b.access, 0) END AS was,
      CASE WHEN p.set_after IS NULL THEN 2 ELSE coalesce(a.access, 0) END AS becomes
    FROM (
      SELECT p.set_before, p.set_after, b.user_id FROM moved_pair p JOIN moved_before b ON b.set_id = p.set_before
      UNION SELECT p.set_before, p.set_after, a.user_id FROM moved_pair p JOIN moved_after a ON a.set_id = p.set_after
      UNION SELECT p.set_before, p.set_after, e.user_id FROM moved_pair p CROSS JOIN enabled e WHERE p.set_before IS NULL OR p.set_after IS NULL
    ) r JOIN moved_pair p ON p.set_before IS NOT DISTINCT FROM r.set_before AND p.set_after IS NOT DISTINCT FROM r.set_after
    LEFT JOIN moved_before b ON b.set_id = p.set_before AND b.user_id = r.user_id
    LEFT JOIN moved_after a ON a.set_id = p.set_after AND a.user_id = r.user_id
  ), kept_level AS (
    SELECT p.set_before, p.set_after, p.nodes, coalesce(b.user_id, a.user_id) AS user_id, coalesce(b.access, 0) AS was, coalesce(a.access, 0) AS becomes
    FROM kept_before b FULL JOIN kept_after a ON a.set_id = b.set_id AND a.user_id = b.user_id
    JOIN kept_pair p ON p.set_before = coalesce(b.set_id, a.set_id)
  ), different AS MATERIALIZED (
    SELECT l.set_before, l.set_after, l.nodes, l.user_id, CASE WHEN l.becomes > l.was THEN 'gain' ELSE 'lose' END AS direction
    FROM (TABLE moved_level UNION ALL TABLE kept_level) l WHERE l.becomes <> l.was
  ), named AS MATERIALIZED (
    SELECT s.set_before, s.set_after, s.id, s.name FROM (
      SELECT m.*, row_number() OVER (PARTITION BY m.set_before, m.set_after ORDER BY m.name, m.id) AS place FROM moved m
    ) s WHERE s.place <= ${SAMPLE_NODES}
    UNION ALL
    SELECT p.set_before, p.set_after, s.id, s.name FROM kept_pair p CROSS JOIN LATERAL (
      SELECT n.id, n.name FROM graph.node n WHERE n.access_set_id = p.set_after
        AND ${UNMOVED}
      ORDER BY n.name, n.id LIMIT ${SAMPLE_NODES}
    ) s
  ), listed AS MATERIALIZED (
    SELECT * FROM (
      SELECT d.direction, d.user_id, e.name, sum(d.nodes)::int AS node_count, row_number() OVER (PARTITION BY d.direction ORDER BY e.name, d.user_id) AS place
      FROM different d JOIN enabled e ON e.user_id = d.user_id GROUP BY d.direction, d.user_id, e.name
    ) x WHERE x.place <= ${PREVIEW_USERS} + 1
  ), sampled AS (
    SELECT l.direction, l.place, jsonb_build_object('user_id', l.user_id, 'user_name', l.name, 'node_count', l.node_count, 'sample', coalesce((
      SELECT jsonb_agg(jsonb_build_object('node_id', s.id, 'node_name', s.name) ORDER BY s.name, s.id) FROM (
        SELECT n.id, n.name FROM different d
        JOIN named n ON n.set_before IS NOT DISTINCT FROM d.set_before AND n.set_after IS NOT DISTINCT FROM d.set_after
        WHERE d.user_id = l.user_id AND d.direction = l.direction ORDER BY n.name, n.id LIMIT ${SAMPLE_NODES}) s), '[]')) AS line
    FROM listed l
  )
  SELECT (SELECT count(*)::int FROM moved m WHERE m.set_after IS NULL) AS opened,
    (SELECT coalesce(jsonb_agg(DISTINCT d.user_id), '[]') FROM different d) AS users,
    coalesce((SELECT jsonb_agg(s.line ORDER BY s.place) FROM sampled s WHERE s.direction = 'gain'), '[]') AS gains,
    coalesce((SELECT jsonb_agg(s.line ORDER BY s.place) FROM sampled s WHERE s.direction = 'lose'), '[]') AS loses`,
);
