import type { ActorRef, HitKind, NodeType } from '@workspace-graph/contracts';
import { SEEN_SETS, seen, statement } from '@workspace-graph/database';
import { actorRef } from '../shared/projections.js';

/** The shortest word that the indexes of names find. */
export const TRIGRAM_LENGTH = 3;

/** Scores by which hits in names of nodes and actors come before each other. */
const EXACT = 1_000;
const BEGINNING = 900;
const WORD = 800;
const INSIDE = 700;
/** After them come responsibilities, names of sources and tools, and names of files; then texts. */
const RESPONSIBILITY = 400;
/** One whose words stand partly in the names of its node and of those who hold it. */
const SPREAD = 350;
const LINK = 300;
const FILE = 200;
const HIGHEST_TEXT_SCORE = 100;

/** Weights of an event's text, of descriptions, goals and names in a rank. */
const WEIGHTS = `'{0.25, 0.2, 0.4, 1.0}'::float4[]`;
const ESCAPED = `regexp_replace(w.word, '([\\\\%_])', '\\\\\\1', 'g')`;

/** Names that are looked at for one word, and of those the ones whose responsibilities are. */
const NAMES_OF_WORD = 500;
const NAMES_OF_ALL = 200;
/** What is asked with more words, or with an operator, is not looked for in several places. */
const MOST_WORDS = 8;
const OPERATORS = `'"|(^| )-|(^| )or( |$)'`;
/** As the query for words of a text: its last word stands for every word that begins so. */
const asPrefix = (query: string, text: string): string =>
  `CASE WHEN ${query}::text LIKE '%''' AND ${text} NOT LIKE '%"' THEN (${query}::text || ':*')::tsquery ELSE ${query} END`;

/** What is asked, prepared once: the folded text, its patterns for names, and the query for words. */
const ASKED = `
  folded AS MATERIALIZED (SELECT btrim(regexp_replace(graph.fold($3::text), '\\s+', ' ', 'g')) AS text),
  pattern AS MATERIALIZED (
    SELECT array_agg('%' || ${ESCAPED} || '%' ORDER BY length(w.word) DESC) AS parts
    FROM folded f, unnest(string_to_array(f.text, ' ')) AS w(word) WHERE w.word <> ''
  ), words AS MATERIALIZED (
    -- The text form of a query ends in its last word.
    SELECT CASE WHEN querytree(q.words) IN ('', 'T') THEN NULL ELSE ${asPrefix('q.words', 'f.text')} END AS query
    FROM folded f, LATERAL (SELECT websearch_to_tsquery('simple', f.text) AS words) q
  ), piece AS MATERIALIZED (
    SELECT p.pattern, length(w.word) >= ${TRIGRAM_LENGTH} AS is_long, ${asPrefix('q.words', 'w.word')} AS query,
      EXISTS (SELECT FROM graph.actor a WHERE a.name_folded LIKE p.pattern) AS names_somebody
    FROM folded f, unnest(string_to_array(f.text, ' ')) AS w(word), LATERAL (SELECT websearch_to_tsquery('simple', w.word) AS words) q,
      LATERAL (SELECT '%' || ${ESCAPED} || '%' AS pattern) p
    WHERE f.text ~ ' ' AND f.text !~ ${OPERATORS} AND cardinality(string_to_array(f.text, ' ')) <= ${MOST_WORDS} AND querytree(q.words) <> ''
  )`;
const FOLDED = '(SELECT f.text FROM folded f)';
const QUERY = '(SELECT w.query FROM words w)';

/** The column of a folded name as the longest part is looked for in it; an expression that no index has is read row by row. */
type NameColumn = (alias: string) => string;
const INDEXED: NameColumn = (alias) => `${alias}.name_folded`;
const UNINDEXED: NameColumn = (alias) => `(${alias}.name_folded || '')`;

/** Every part of what is asked stands in the name. */
const inName = (alias: string, column: NameColumn): string => `
  ${column(alias)} LIKE (SELECT p.parts[1] FROM pattern p) AND ${alias}.name_folded LIKE ALL ((SELECT p.parts FROM pattern p)::text[])`;
const WANTED_NODE = `
  ($8::text[] IS NULL OR n.type = ANY ($8::text[]))
  AND ($9::uuid IS NULL OR n.organization_id = (SELECT o.id FROM graph.node o WHERE o.id = $9::uuid AND ${seen('o')}))`;
const WANTED = (kind: string): string => `'${kind}' = ANY ($10::text[])`;
/** The node that carries a hit. Looked up one by one: joined as a whole, the planner would read all nodes for a few hits. */
const nodeOf = (id: string): string => `
  CROSS JOIN LATERAL (SELECT n.id, n.updated_at FROM graph.node n WHERE n.id = ${id} AND ${seen('n')} AND ${WANTED_NODE} OFFSET 0) n`;
const BEST_FIRST = 'ORDER BY score DESC, at DESC, id DESC LIMIT $4::int + 1';
const AFTER_CURSOR = '(h.score, h.at, h.id) < ($5::float8, $6::timestamptz, $7::uuid)';
const isFilledBy = (...parts: string[]): string =>
  `(${parts.map((part) => `(SELECT count(*) FROM ${part})`).join(' + ')}) > $4::int`;

/** The shorter the rest of the name, the better. */
const closeness = (alias: string): string => `least(40, 40 * length(${FOLDED})::float8 / length(${alias}.name_folded))`;
const nameScore = (alias: string, words: string): string => `
  CASE WHEN ${alias}.name_folded = ${FOLDED} THEN ${EXACT} WHEN starts_with(${alias}.name_folded, ${FOLDED}) THEN ${BEGINNING}
    WHEN ${words} @@ ${QUERY} THEN ${WORD} ELSE ${INSIDE} END + ${closeness(alias)}`;
const textScore = (search: string): string =>
  `(${HIGHEST_TEXT_SCORE} * ts_rank(${WEIGHTS}, ${search}, ${QUERY}, 32))::float8`;

/** An actor is somebody to those who see something that it owns or answers for. */
const SEEN_ACTOR = `((SELECT $2::boolean)
  OR EXISTS (SELECT FROM graph.node n WHERE n.owner_id = a.id AND ${seen('n')})
  OR EXISTS (SELECT FROM graph.responsibility_assignee ra JOIN graph.responsibility r ON r.id = ra.responsibility_id
    JOIN graph.node n ON n.id = r.node_id WHERE ra.actor_id = a.id AND ${seen('n')}))`;

/** Nodes and actors by name; archived nodes come after the others of their kind. */
const named = (column: NameColumn): string => `
  SELECT 'node' AS kind, n.id AS node_id, n.id, n.updated_at AS at,
    ${nameScore('n', `ts_filter(n.search, '{a}')`)} - CASE WHEN n.status = 'archived' THEN 45 ELSE 0 END AS score
  FROM graph.node n WHERE ${WANTED('node')} AND ${seen('n')} AND ${inName('n', column)} AND ${WANTED_NODE}
  UNION ALL
  SELECT 'actor', NULL, a.id, a.updated_at, ${nameScore('a', `to_tsvector('simple', a.name_folded)`)}
  FROM graph.actor a
  WHERE ${WANTED('actor')} AND $8::text[] IS NULL AND $9::uuid IS NULL AND ${inName('a', column)} AND ${SEEN_ACTOR}`;

/** Files by name. Many are called the same, so that they are put in order before their nodes are looked up. */
const files = (column: NameColumn): string => `
  SELECT 'file', h.node_id, h.id, h.at, h.score FROM (
    SELECT h.* FROM (
      SELECT f.node_id, f.id, f.updated_at AS at, ${FILE} + ${closeness('f')} AS score
      FROM file.named_file() f WHERE ${WANTED('file')} AND ${inName('f', column)}
    ) h WHERE ${AFTER_CURSOR} ORDER BY h.score DESC, h.at DESC, h.id DESC OFFSET 0
  ) h ${nodeOf('h.node_id')} ${BEST_FIRST}`;

/** Names that have some of the words, first those that few others have. `condition` is on the row `x` of `table`. */
const withSomeWords = (table: string, condition: string): string => `
  SELECT named.id FROM (
    SELECT named.id, count(*) OVER (PARTITION BY p.pattern) AS others FROM piece p CROSS JOIN LATERAL (
      SELECT x.id FROM ${table} x WHERE x.name_folded LIKE p.pattern AND ${condition} LIMIT ${NAMES_OF_WORD}
    ) named WHERE p.is_long
  ) named GROUP BY named.id ORDER BY sum(1.0 / named.others) DESC, named.id LIMIT ${NAMES_OF_ALL}`;
const HELD_BY_NAMED = `(p.names_somebody AND EXISTS (
      SELECT FROM graph.responsibility_assignee ra JOIN graph.actor a ON a.id = ra.actor_id
      WHERE ra.responsibility_id = r.id AND a.name_folded LIKE p.pattern))`;

/** Looked up one by one, as the nodes are. */
const responsibilityOf = (id: string): string => `
  CROSS JOIN LATERAL (SELECT r.id, r.node_id, r.search FROM graph.responsibility r WHERE r.id = ${id} OFFSET 0) r`;

/** Responsibilities that have each word in their text, in a name of who holds them or in that of their node; not all in the last. */
const SPREAD_WORDS = `
  SELECT r.id FROM (
    SELECT r.id FROM (${withSomeWords('graph.node', seen('x'))}) n
      CROSS JOIN LATERAL (SELECT r.id FROM graph.responsibility r WHERE r.node_id = n.id OFFSET 0) r
    UNION
    SELECT ra.id FROM (${withSomeWords('graph.actor', 'true')}) a
      CROSS JOIN LATERAL (SELECT ra.responsibility_id AS id FROM graph.responsibility_assignee ra WHERE ra.actor_id = a.id OFFSET 0) ra
  ) likely ${responsibilityOf('likely.id')}
    CROSS JOIN LATERAL (SELECT n.name_folded FROM graph.node n WHERE n.id = r.node_id OFFSET 0) n
  WHERE NOT EXISTS (SELECT FROM piece p WHERE NOT r.search @@ p.query AND n.name_folded NOT LIKE p.pattern AND NOT ${HELD_BY_NAMED})
    AND EXISTS (SELECT FROM piece p WHERE r.search @@ p.query OR ${HELD_BY_NAMED})`;

/** What nodes carry: responsibilities by their text, by who holds them or by both and their node, sources, tools and files by name. */
const carried = (column: NameColumn): string => `
  SELECT 'responsibility' AS kind, r.node_id, r.id, n.updated_at AS at,
    found.least + coalesce(CASE WHEN r.search @@ ${QUERY} THEN ${textScore('r.search')} END, 0) AS score
  FROM (
    SELECT id, max(least) AS least FROM (
      SELECT r.id, ${RESPONSIBILITY} AS least FROM graph.responsibility r WHERE r.search @@ ${QUERY}
      UNION ALL
      SELECT ra.responsibility_id, ${RESPONSIBILITY} FROM graph.actor a JOIN graph.responsibility_assignee ra ON ra.actor_id = a.id
      WHERE ${inName('a', column)}
      UNION ALL
      SELECT s.id, ${SPREAD} FROM (${SPREAD_WORDS}) s
    ) found WHERE ${WANTED('responsibility')} GROUP BY id
  ) found ${responsibilityOf('found.id')} ${nodeOf('r.node_id')}
  UNION ALL
  SELECT l.kind, l.node_id, l.id, n.updated_at, ${LINK} + ${closeness('l')}
  FROM graph.link l ${nodeOf('l.node_id')} WHERE l.kind = ANY ($10::text[]) AND ${inName('l', column)}
  UNION ALL
  SELECT * FROM (${files(column)}) f`;

const MENTIONED = `
  SELECT 'node' AS kind, n.id AS node_id, n.id, n.updated_at AS at, ${textScore('n.search')} AS score
  FROM graph.node n
  WHERE ${WANTED('node')} AND ${seen('n')} AND n.search @@ ${QUERY} AND NOT (${inName('n', INDEXED)}) AND ${WANTED_NODE}
  UNION ALL
  SELECT 'event', e.node_id, e.id, e.occurred_at, ${textScore('e.search')}
  FROM graph.event e ${nodeOf('e.node_id')}
  WHERE ${WANTED('event')} AND e.search @@ ${QUERY} AND e.status IN ('active', 'resolved')`;

/** A node that was found by its goal or its description. */
const IN_TEXT = `h.kind = 'node' AND h.score < ${HIGHEST_TEXT_SCORE}`;

/**
 * Hits, best first. Each kind is looked for only when better ones do not fill the page. $1 user, $2 sees all, $3 what is
 * asked, $4 page size, $5 to $7 sort key, $8 types, $9 organization, $10 kinds.
 */
const searchText = (column: NameColumn): string => `
  WITH ${SEEN_SETS},
  ${ASKED},
  named AS MATERIALIZED (SELECT h.* FROM (${named(column)} OFFSET 0) h WHERE ${AFTER_CURSOR} ${BEST_FIRST}),
  carried AS MATERIALIZED (
    SELECT h.* FROM (${carried(column)} OFFSET 0) h WHERE NOT ${isFilledBy('named')} AND ${AFTER_CURSOR} ${BEST_FIRST}
  ), mentioned AS (
    SELECT h.* FROM (${MENTIONED} OFFSET 0) h WHERE NOT ${isFilledBy('named', 'carried')} AND ${AFTER_CURSOR} ${BEST_FIRST}
  ), best AS (
    SELECT h.* FROM (SELECT * FROM named UNION ALL SELECT * FROM carried UNION ALL SELECT * FROM mentioned) h ${BEST_FIRST}
  )
  SELECT h.kind, h.id, graph.iso(h.at) AS at, h.score, n.id AS node_id, n.type AS node_type, n.name AS node_name,
    CASE WHEN ${IN_TEXT} THEN n.goal END AS goal,
    CASE h.kind WHEN 'node' THEN CASE WHEN ${IN_TEXT} THEN n.description END
      WHEN 'responsibility' THEN (SELECT r.description FROM graph.responsibility r WHERE r.id = h.id) END AS description,
    CASE h.kind WHEN 'actor' THEN (SELECT a.name FROM graph.actor a WHERE a.id = h.id)
      WHEN 'responsibility' THEN (SELECT r.title FROM graph.responsibility r WHERE r.id = h.id)
      WHEN 'file' THEN (SELECT f.path FROM file.named_file() f WHERE f.id = h.id)
      WHEN 'event' THEN (SELECT e.content FROM graph.event e WHERE e.id = h.id)
      WHEN 'node' THEN n.name
      ELSE (SELECT l.name FROM graph.link l WHERE l.id = h.id) END AS text,
    CASE WHEN h.kind = 'responsibility' THEN (
      SELECT coalesce(json_agg(${actorRef('ra.actor_id')} ORDER BY ra.position), '[]')
      FROM graph.responsibility_assignee ra WHERE ra.responsibility_id = h.id) END AS holders
  FROM best h LEFT JOIN graph.node n ON n.id = h.node_id ORDER BY h.score DESC, h.at DESC, h.id DESC`;

/** For what has a word of three letters or more: the indexes of trigrams find names. */
export const SEARCH = statement('search.hits', searchText(INDEXED));
/** For shorter ones: trigrams do not help, and walking through their whole index is slower than through all names. */
export const SEARCH_SHORT = statement('search.hits_of_short', searchText(UNINDEXED));

/** A row of SEARCH. */
export interface HitRow extends Record<string, unknown> {
  readonly kind: HitKind;
  readonly id: string;
  readonly at: string;
  readonly score: number;
  readonly node_id: string | null;
  readonly node_type: NodeType | null;
  readonly node_name: string | null;
  /** Null for a node that was found by its name. */
  readonly goal: string | null;
  readonly description: string | null;
  /** Name, title, path or content of what was found. */
  readonly text: string;
  readonly holders: ActorRef[] | null;
}
