import { type ActorRef, HitKind, type NodeType } from '@workspace-graph/contracts';
import { SEEN_SETS, type Statement, seen } from '@workspace-graph/database';
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
/** A node that the caller sees, of the types and in the organization that are asked for. */
const wantedNode = ({ isNarrowed }: Look): string => {
  if (!isNarrowed) return seen('n');
  const ofType = '($8::text[] IS NULL OR n.type = ANY ($8::text[]))';
  const organization = `(SELECT o.id FROM graph.node o WHERE o.id = $9::uuid AND ${seen('o')})`;
  return `${seen('n')} AND ${ofType} AND ($9::uuid IS NULL OR n.organization_id = ${organization})`;
};
/** The node that carries a hit. Looked up one by one: joined as a whole, the planner would read all nodes for a few hits. */
const nodeOf = (id: string, look: Look): string => `
  CROSS JOIN LATERAL (SELECT n.id, n.updated_at FROM graph.node n WHERE n.id = ${id} AND ${wantedNode(look)} OFFSET 0) n`;
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
const namedNodes = (look: Look): string => `
  SELECT 'node', n.id, n.id, n.updated_at,
    ${nameScore('n', `ts_filter(n.search, '{a}')`)} - CASE WHEN n.status = 'archived' THEN 45 ELSE 0 END
  FROM graph.node n WHERE ${inName('n', look.column)} AND ${wantedNode(look)}`;
const namedActors = ({ column }: Look): string => `
  SELECT 'actor', NULL::uuid, a.id, a.updated_at, ${nameScore('a', `to_tsvector('simple', a.name_folded)`)}
  FROM graph.actor a WHERE ${inName('a', column)} AND ${SEEN_ACTOR}`;

/** Files by name. Many are called the same, so that they are put in order before their nodes are looked up. */
const files = (look: Look): string => `
  SELECT * FROM (
    SELECT 'file', h.node_id, h.id, h.at, h.score FROM (
      SELECT h.* FROM (
        SELECT f.node_id, f.id, f.updated_at AS at, ${FILE} + ${closeness('f')} AS score
        FROM file.named_file() f WHERE ${inName('f', look.column)}
      ) h WHERE ${AFTER_CURSOR} ORDER BY h.score DESC, h.at DESC, h.id DESC OFFSET 0
    ) h ${nodeOf('h.node_id', look)} ${BEST_FIRST}
  ) f`;

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

/** Responsibilities by their text, by who holds them, or by both and their node. */
const responsibilities = (look: Look): string => `
  SELECT 'responsibility', r.node_id, r.id, n.updated_at,
    found.least + coalesce(CASE WHEN r.search @@ ${QUERY} THEN ${textScore('r.search')} END, 0)
  FROM (
    SELECT id, max(least) AS least FROM (
      SELECT r.id, ${RESPONSIBILITY} AS least FROM graph.responsibility r WHERE r.search @@ ${QUERY}
      UNION ALL
      SELECT ra.responsibility_id, ${RESPONSIBILITY} FROM graph.actor a JOIN graph.responsibility_assignee ra ON ra.actor_id = a.id
      WHERE ${inName('a', look.column)}
      UNION ALL
      SELECT s.id, ${SPREAD} FROM (${SPREAD_WORDS}) s
    ) found GROUP BY id
  ) found ${responsibilityOf('found.id')} ${nodeOf('r.node_id', look)}`;

/** Sources and tools by name. */
const links = (kind: HitKind, look: Look): string => `
  SELECT l.kind, l.node_id, l.id, n.updated_at, ${LINK} + ${closeness('l')}
  FROM graph.link l ${nodeOf('l.node_id', look)} WHERE l.kind = '${kind}' AND ${inName('l', look.column)}`;

const mentionedNodes = (look: Look): string => `
  SELECT 'node', n.id, n.id, n.updated_at, ${textScore('n.search')}
  FROM graph.node n WHERE n.search @@ ${QUERY} AND NOT (${inName('n', INDEXED)}) AND ${wantedNode(look)}`;
const mentionedEvents = (look: Look): string => `
  SELECT 'event', e.node_id, e.id, e.occurred_at, ${textScore('e.search')}
  FROM graph.event e ${nodeOf('e.node_id', look)} WHERE e.search @@ ${QUERY} AND e.status IN ('active', 'resolved')`;

/** Hits by what they are found in, the best first: each is looked for only when those before do not fill the page. */
const FOUND_IN: Readonly<Record<string, Partial<Record<HitKind, (look: Look) => string>>>> = {
  named: { node: namedNodes, actor: namedActors },
  carried: {
    responsibility: responsibilities,
    data_source: (look) => links('data_source', look),
    tool: (look) => links('tool', look),
    file: files,
  },
  mentioned: { node: mentionedNodes, event: mentionedEvents },
};

/** Name, title, path or content of a hit. */
const TEXTS: Readonly<Record<HitKind, string>> = {
  node: 'n.name',
  event: '(SELECT e.content FROM graph.event e WHERE e.id = h.id)',
  responsibility: '(SELECT r.title FROM graph.responsibility r WHERE r.id = h.id)',
  actor: '(SELECT a.name FROM graph.actor a WHERE a.id = h.id)',
  data_source: '(SELECT l.name FROM graph.link l WHERE l.id = h.id)',
  tool: '(SELECT l.name FROM graph.link l WHERE l.id = h.id)',
  file: '(SELECT f.path FROM file.named_file() f WHERE f.id = h.id)',
};
/** Of a node, where it was found by its texts. */
const GOALS = { node: `CASE WHEN h.score < ${HIGHEST_TEXT_SCORE} THEN n.goal END` };
const DESCRIPTIONS = {
  node: `CASE WHEN h.score < ${HIGHEST_TEXT_SCORE} THEN n.description END`,
  responsibility: '(SELECT r.description FROM graph.responsibility r WHERE r.id = h.id)',
};
const HOLDERS = {
  responsibility: `(
      SELECT coalesce(json_agg(${actorRef('ra.actor_id')} ORDER BY ra.position), '[]')
      FROM graph.responsibility_assignee ra WHERE ra.responsibility_id = h.id)`,
};
/** What hits of these kinds show; null for the others. */
const shown = (kinds: readonly HitKind[], values: Partial<Record<HitKind, string>>): string => {
  const cases = kinds.flatMap((kind) => (values[kind] === undefined ? [] : `WHEN '${kind}' THEN ${values[kind]}`));
  return cases.length === 0 ? 'NULL' : `CASE h.kind ${cases.join(' ')} END`;
};

/**
 * Hits of these kinds, best first. $1 user, $2 sees all, $3 what is asked, $4 page size, $5 to $7 sort key; of a search that
 * is narrowed $8 types and $9 organization. Nothing is in it that these kinds do not need: what is not executed is set up too.
 */
function searchText(kinds: readonly HitKind[], look: Look): string {
  const groups: string[] = [];
  const tables = Object.entries(FOUND_IN).flatMap(([group, finders]) => {
    const hits = kinds.flatMap((kind) => finders[kind]?.(look) ?? []).join('\n  UNION ALL\n');
    if (hits === '') return [];
    const isOpen = groups.length === 0 ? '' : `NOT ${isFilledBy(...groups)} AND `;
    groups.push(group);
    return `${group} AS MATERIALIZED (
    SELECT h.* FROM (${hits} OFFSET 0) h(kind, node_id, id, at, score) WHERE ${isOpen}${AFTER_CURSOR} ${BEST_FIRST}
  )`;
  });
  return `
  WITH ${SEEN_SETS},
  ${ASKED},
  ${tables.join(',\n  ')},
  best AS (SELECT h.* FROM (${groups.map((group) => `SELECT * FROM ${group}`).join(' UNION ALL ')}) h ${BEST_FIRST})
  SELECT h.kind, h.id, graph.iso(h.at) AS at, h.score, n.id AS node_id, n.type AS node_type, n.name AS node_name,
    ${shown(kinds, GOALS)} AS goal, ${shown(kinds, DESCRIPTIONS)} AS description, ${shown(kinds, TEXTS)} AS text,
    ${shown(kinds, HOLDERS)} AS holders
  FROM best h LEFT JOIN graph.node n ON n.id = h.node_id ORDER BY h.score DESC, h.at DESC, h.id DESC`;
}

/** Kinds of hits that are asked for all the time, besides all of them and each one alone. */
const USUAL = new Set(['node', 'event']);
const made = new Map<string, Statement>();

/** How a search goes about it. */
interface Look {
  readonly column: NameColumn;
  /** Only nodes of some types, or of one organization, and what they carry. */
  readonly isNarrowed: boolean;
}

/**
 * Finds hits of these kinds; null where there can be none. One statement for each combination, so that each is planned once for
 * what it looks for: as a parameter, the server would plan it anew each time, which takes longer than the search. Those that are
 * asked all the time have a name; the many others leave nothing on the server. For words below three letters, trigrams do not
 * help, and walking through their whole index is slower than through all names.
 */
export function searchStatement(
  wanted: readonly HitKind[],
  { isShort, isNarrowed }: { readonly isShort: boolean; readonly isNarrowed: boolean },
): Statement | null {
  // Actors belong to no organization.
  const kinds = HitKind.options.filter((kind) => wanted.includes(kind) && !(isNarrowed && kind === 'actor'));
  if (kinds.length === 0) return null;
  const isAll = HitKind.options.every((kind) => wanted.includes(kind));
  const isUsual = kinds.length < 2 || isAll || kinds.every((kind) => USUAL.has(kind));
  const name = `search.${isShort ? 'short.' : ''}${isNarrowed ? 'narrow.' : ''}${isAll ? 'all' : kinds.join('.')}`;
  const known = made.get(name);
  if (known) return known;
  const text = searchText(kinds, { column: isShort ? UNINDEXED : INDEXED, isNarrowed });
  const statement = { name: isUsual ? name : '', text };
  made.set(name, statement);
  return statement;
}

/** A row of what `searchStatement` finds. */
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
