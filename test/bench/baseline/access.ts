/**
 * The access rule, by hand: ids of the access sets of which the user passes every gate, as a common table expression.
 * A node is seen when it has no set or one of these.
 */
export const mySets = (user: string): string => `
  my_set AS MATERIALIZED (
    SELECT sg.access_set_id AS id
    FROM graph.access_set_gate sg JOIN graph.access_set s ON s.id = sg.access_set_id
    WHERE sg.gate_id IN (
      SELECT g.gate_id FROM graph.gate_grant g
      WHERE g.principal_id IN (SELECT ${user} UNION ALL SELECT m.group_id FROM identity.membership m WHERE m.user_id = ${user}))
    GROUP BY sg.access_set_id, s.gate_count HAVING count(*) = s.gate_count
  )`;

/** Whether a row of nodes is seen; needs `mySets` in the statement. */
export const isSeen = (alias: string): string =>
  `(${alias}.access_set_id IS NULL OR ${alias}.access_set_id IN (SELECT id FROM my_set))`;

/** The wire form of a time. */
export const iso = (value: string): string => `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
