import { statement } from '@workspace-graph/database';
import { SEEN_SETS, seen } from '../shared/projections.js';

/** Scores by which hits in names come before each other, and all of them before hits in texts, which stay below 100. */
const EXACT = 1_000;
const BEGINNING = 900;
const WORD = 800;
const INSIDE = 700;
export const LOWEST_NAME_SCORE = 500;

/** Weights of an event's text, of descriptions, goals and names in a rank. */
const WEIGHTS = `'{0.25, 0.2, 0.4, 1.0}'::float4[]`;
const ESCAPED = `regexp_replace(w.word, '([\\\\%_])', '\\\\\\1', 'g')`;

/** What is asked, prepared once: the folded text, its patterns for names, and the query for words. */
const ASKED = `
  folded AS MATERIALIZED (SELECT btrim(regexp_replace(graph.fold($3::text), '\\s+', ' ', 'g')) AS text),
  pattern AS MATERIALIZED (
    SELECT array_agg('%' || ${ESCAPED} || '%' ORDER BY length(w.word) DESC) AS parts
    FROM folded f, unnest(string_to_array(f.text, ' ')) AS w(word) WHERE w.word <> ''
  ), words AS MATERIALIZED (
    -- The text form of a query ends in its last word, which stands for every word that begins so.
    SELECT CASE WHEN querytree(q.words) IN ('', 'T') THEN NULL
      WHEN q.words::text LIKE '%''' AND f.text NOT LIKE '%"' THEN (q.words::text || ':*')::tsquery ELSE q.words END AS query
    FROM folded f, LATERAL (SELECT websearch_to_tsquery('simple', f.text) AS words) q
  )`;
const FOLDED = '(SELECT f.text FROM folded f)';
const QUERY = '(SELECT w.query FROM words w)';

/** Every part of what is asked stands in the name. `name` is looked at for the longest part first. */
const inName = (name: string): string => `
  ${name} LIKE (SELECT p.parts[1] FROM pattern p) AND n.name_folded LIKE ALL ((SELECT p.parts FROM pattern p)::text[])`;
const WANTED_NODE = `
  ($8::text[] IS NULL OR n.type = ANY ($8::text[]))
  AND ($9::uuid IS NULL OR n.organization_id = (SELECT o.id FROM graph.node o WHERE o.id = $9::uuid AND ${seen('o')}))`;
const BEST_FIRST = 'ORDER BY score DESC, at DESC, id DESC LIMIT $4::int + 1';
const AFTER_CURSOR = '(h.score, h.at, h.id) < ($5::float8, $6::timestamptz, $7::uuid)';

/** The shorter the rest of the name, the better; archived nodes come after the others of their kind. */
const NAME_SCORE = `
  CASE WHEN n.name_folded = ${FOLDED} THEN ${EXACT} WHEN starts_with(n.name_folded, ${FOLDED}) THEN ${BEGINNING}
    WHEN ts_filter(n.search, '{a}') @@ ${QUERY} THEN ${WORD} ELSE ${INSIDE} END
  + least(40, 40 * length(${FOLDED})::float8 / length(n.name_folded)) - CASE WHEN n.status = 'archived' THEN 45 ELSE 0 END`;
const textScore = (search: string): string => `(100 * ts_rank(${WEIGHTS}, ${search}, ${QUERY}, 32))::float8`;

/**
 * Hits, best first. Texts are looked through only when names do not fill the page. $1 user, $2 sees all, $3 what is
 * asked, $4 page size, $5 to $7 sort key, $8 types, $9 organization, $10 nodes wanted, $11 events wanted.
 */
const searchText = (candidateName: string): string => `
  WITH ${SEEN_SETS},
  ${ASKED},
  named AS MATERIALIZED (
    SELECT h.* FROM (
      SELECT n.id AS node_id, NULL::uuid AS event_id, n.id, n.updated_at AS at, ${NAME_SCORE} AS score
      FROM graph.node n WHERE $10::boolean AND ${seen('n')} AND ${inName(candidateName)} AND ${WANTED_NODE}
    ) h WHERE ${AFTER_CURSOR} ${BEST_FIRST}
  ), mentioned AS (
    SELECT h.* FROM (
      SELECT n.id AS node_id, NULL::uuid AS event_id, n.id, n.updated_at AS at, ${textScore('n.search')} AS score
      FROM graph.node n WHERE $10::boolean AND ${seen('n')} AND n.search @@ ${QUERY} AND NOT (${inName('n.name_folded')}) AND ${WANTED_NODE}
      UNION ALL
      SELECT n.id, e.id, e.id, e.occurred_at, ${textScore('e.search')}
      FROM graph.event e CROSS JOIN LATERAL (
        -- Looked up one by one: joined as a whole, the planner would read all nodes for a few events.
        SELECT n.id FROM graph.node n WHERE n.id = e.node_id AND ${seen('n')} AND ${WANTED_NODE} OFFSET 0) n
      WHERE $11::boolean AND e.search @@ ${QUERY} AND e.status IN ('active', 'resolved')
    ) h WHERE (SELECT count(*) FROM named) <= $4::int AND ${AFTER_CURSOR} ${BEST_FIRST}
  ), best AS (
    SELECT h.* FROM (SELECT * FROM named UNION ALL SELECT * FROM mentioned) h ${BEST_FIRST}
  )
  SELECT h.event_id, h.id, graph.iso(h.at) AS at, h.score, n.id AS node_id, n.type AS node_type, n.name AS node_name,
    CASE WHEN h.event_id IS NULL AND h.score < ${LOWEST_NAME_SCORE} THEN n.goal END AS goal,
    CASE WHEN h.event_id IS NULL AND h.score < ${LOWEST_NAME_SCORE} THEN n.description END AS description,
    (SELECT e.content FROM graph.event e WHERE e.id = h.event_id) AS content
  FROM best h JOIN graph.node n ON n.id = h.node_id ORDER BY h.score DESC, h.at DESC, h.id DESC`;

/** For what has a word of three letters or more: the index of trigrams finds names. */
export const SEARCH = statement('search.hits', searchText('n.name_folded'));
/** For shorter ones: trigrams do not help, and walking through their whole index is slower than through all names. */
export const SEARCH_SHORT = statement('search.hits_of_short', searchText(`(n.name_folded || '')`));
export const TRIGRAM_LENGTH = 3;

/** A row of SEARCH; the texts of what did not match in its name. */
export interface HitRow extends Record<string, unknown> {
  readonly event_id: string | null;
  readonly id: string;
  readonly at: string;
  readonly score: number;
  readonly node_id: string;
  readonly node_type: string;
  readonly node_name: string;
  readonly goal: string | null;
  readonly description: string | null;
  readonly content: string | null;
}
