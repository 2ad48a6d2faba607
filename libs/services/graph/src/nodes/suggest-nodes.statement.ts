import { namePattern, statement, VISIBLE } from '@workspace-graph/database';
import { nodeRef } from '../shared/projections.js';

/**
 * Visible nodes whose name contains a text: the whole name first, then beginnings of names, beginnings of words, the
 * rest; archived ones after all others. $1 user, $2 sees all, $3 text, $4 how many.
 */
export const SUGGEST_NODES = statement(
  'node.suggest',
  `
  WITH wanted AS MATERIALIZED (SELECT graph.fold($3::text) AS text),
  hit AS MATERIALIZED (
    SELECT n.id, n.type, n.name, n.name_folded, n.status FROM ${VISIBLE} n WHERE n.name_folded LIKE ${namePattern('$3::text')}
  ), best AS (
    SELECT hit.*, CASE WHEN hit.status = 'archived' THEN 4 ELSE 0 END + CASE
      WHEN hit.name_folded = wanted.text THEN 0
      WHEN starts_with(hit.name_folded, wanted.text) THEN 1
      WHEN strpos(hit.name_folded, ' ' || wanted.text) > 0 THEN 2
      ELSE 3 END AS rank
    FROM hit, wanted ORDER BY rank, hit.name_folded, hit.id LIMIT $4::int
  )
  SELECT json_build_object(
    'items', coalesce((SELECT json_agg(${nodeRef('b')} ORDER BY b.rank, b.name_folded, b.id) FROM best b), '[]'),
    'total', (SELECT count(*) FROM hit))::text AS json`,
);

/** The first visible nodes by name that are not archived, for no text at all. $1 user, $2 sees all, $3 how many. */
export const FIRST_NODES = statement(
  'node.first',
  `
  SELECT json_build_object(
    'items', coalesce((
      SELECT json_agg(${nodeRef('n')} ORDER BY n.name_folded, n.id) FROM (
        SELECT n.id, n.type, n.name, n.name_folded FROM ${VISIBLE} n WHERE n.status <> 'archived'
        ORDER BY n.name_folded, n.id LIMIT $3::int) n), '[]'),
    'total', (SELECT count(*) FROM ${VISIBLE} n WHERE n.status <> 'archived'))::text AS json`,
);
