import { isSeen, mySets } from './access.js';

/**
 * $1 user, $2 folded words, $3 pattern of the longest one, $4 patterns of all, $5 the words as a text query: the first
 * 51 hits, names before texts; texts are only looked through when names do not fill the page.
 */
export const SEARCH = `
  WITH ${mySets('$1::uuid')},
  named AS MATERIALIZED (
    SELECT n.id AS node_id, NULL::uuid AS event_id, n.id, n.updated_at AS at, 'name' AS matched,
      CASE WHEN n.name_folded = $2::text THEN 1000 WHEN starts_with(n.name_folded, $2::text) THEN 900
        WHEN ts_filter(n.search, '{a}') @@ $5::tsquery THEN 800 ELSE 700 END
      + least(40, 40 * length($2::text)::float8 / length(n.name_folded)) - CASE WHEN n.status = 'archived' THEN 45 ELSE 0 END AS score
    FROM graph.node n WHERE n.name_folded LIKE $3::text AND n.name_folded LIKE ALL ($4::text[]) AND ${isSeen('n')}
    ORDER BY score DESC, at DESC, id DESC LIMIT 51
  ),
  told AS (
    SELECT * FROM (
      SELECT n.id AS node_id, NULL::uuid AS event_id, n.id, n.updated_at AS at, 'text' AS matched,
        100 * ts_rank('{0.25, 0.2, 0.4, 1.0}', n.search, $5::tsquery, 32)::float8 AS score
      FROM graph.node n WHERE n.search @@ $5::tsquery AND NOT (n.name_folded LIKE ALL ($4::text[])) AND ${isSeen('n')}
      UNION ALL
      SELECT e.node_id, e.id, e.id, e.occurred_at, 'text', 100 * ts_rank('{0.25, 0.2, 0.4, 1.0}', e.search, $5::tsquery, 32)::float8
      FROM graph.event e JOIN graph.node n ON n.id = e.node_id
      WHERE e.search @@ $5::tsquery AND e.status IN ('active', 'resolved') AND ${isSeen('n')}
    ) t
    WHERE (SELECT count(*) FROM named) <= 50 ORDER BY score DESC, at DESC, id DESC LIMIT 51
  )
  SELECT h.node_id, h.event_id, h.matched, h.score, n.type, n.name, n.goal, n.description, e.content
  FROM (SELECT * FROM named UNION ALL SELECT * FROM told) h
    JOIN graph.node n ON n.id = h.node_id LEFT JOIN graph.event e ON e.id = h.event_id
  ORDER BY h.score DESC, h.at DESC, h.id DESC LIMIT 51`;
