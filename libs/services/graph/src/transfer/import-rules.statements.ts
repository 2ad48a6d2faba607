import { type Statement, statement } from '@workspace-graph/database';
import { NOBODY, named } from './staging.statements.js';

/** Rules that need more than one record. Each notes what breaks it; columns are list, place, path within it, message. */
const rule = (name: string, select: string): Statement =>
  statement(`import.rule_${name}`, `INSERT INTO pg_temp.import_issue (list, place, path, message) ${select}`);

const LIST_OF_KIND = `kind || 's'`;

/** An event without a key has one made of its content, which nobody sent. */
const IS_SENT = `(kind <> 'event' OR key !~ '^content:[0-9a-f]{64}$')`;

const KEYS = rule(
  'keys',
  `
  SELECT ${LIST_OF_KIND}, place, CASE WHEN ${IS_SENT} THEN 'key' ELSE '' END, CASE
    WHEN ${IS_SENT} THEN format('the key "%s" is already used by %s.%s', key, ${LIST_OF_KIND}, first)
    ELSE format('equals %s.%s; of equal events all but one need a key', ${LIST_OF_KIND}, first) END
  FROM (SELECT kind, place, key, min(place) OVER (PARTITION BY kind, key) AS first FROM pg_temp.import_target WHERE key IS NOT NULL) t
  WHERE place <> first ORDER BY place`,
);

const SAME_RECORDS = rule(
  'same_records',
  `
  SELECT ${LIST_OF_KIND}, place, '', format('is the same %s as another record of the document', kind) FROM (
    SELECT kind, place, alias, key, row_number() OVER (PARTITION BY kind, id ORDER BY place) AS nth_of_id,
      row_number() OVER (PARTITION BY kind, alias ORDER BY place) AS nth_of_alias, row_number() OVER (PARTITION BY kind, key ORDER BY place) AS nth_of_key
    FROM pg_temp.import_target) t
  WHERE (key IS NULL OR nth_of_key = 1) AND (nth_of_id > 1 OR (alias IS NOT NULL AND nth_of_alias > 1)) ORDER BY place`,
);

const REFERENCES = rule(
  'references',
  `
  SELECT r.list, r.place, r.path, format('there is no %s with the key "%s", neither in the document nor in the workspace', r.kind, r.key)
  FROM pg_temp.import_reference r LEFT JOIN pg_temp.import_name known ON known.kind = r.kind AND known.key = r.key WHERE known.id IS NULL`,
);

const STATED_IDS = rule(
  'stated_ids',
  `
  SELECT list, place, path, CASE space WHEN 'file' THEN 'is the id of another file of the document' ELSE 'is the id of another record of the document' END
  FROM (SELECT *, row_number() OVER (PARTITION BY space, id ORDER BY seq) AS nth FROM pg_temp.import_stated_id) s WHERE nth > 1 ORDER BY seq`,
);

const TYPES = rule(
  'types',
  `
  SELECT 'nodes', place, 'type', format('the node exists as %s, and a type never changes', stored_type)
  FROM pg_temp.import_node WHERE NOT is_new AND type <> stored_type`,
);

const ORGANIZATIONS = rule(
  'organizations',
  `
  SELECT 'nodes', n.place, 'organization', CASE WHEN s.row ->> 'organization' IS NULL THEN 'is required: every node except an organization belongs to one'
    ELSE format('"%s" is not an organization', s.row ->> 'organization') END
  FROM pg_temp.import_node n JOIN pg_temp.import_nodes s ON s.place = n.place
    LEFT JOIN LATERAL (SELECT o.type FROM pg_temp.import_node o WHERE o.id = n.organization_id LIMIT 1) o ON true
    LEFT JOIN graph.node e ON e.id = n.organization_id
  WHERE n.type <> 'organization' AND CASE WHEN s.row ->> 'organization' IS NULL
    THEN (n.is_new OR s.row ? 'organization') AND NOT coalesce(s.row -> 'unreadable' ? 'organization', false)
    ELSE coalesce(o.type, e.type) <> 'organization' END`,
);

/** A sync_key never changes, so a node cannot go where its key is taken. */
const SYNC_KEYS = rule(
  'sync_keys',
  `
  SELECT 'nodes', c.place, CASE WHEN c.is_new THEN 'sync_key' ELSE 'organization' END, format(CASE
    WHEN c.is_left THEN 'the sync_key "%2$s" was that of another %1$s, whose folder on the remotes is left to it'
    WHEN c.is_new THEN '"%2$s" is taken by another %1$s of the organization'
    ELSE 'has another %1$s with the sync_key "%2$s"' END, c.type, c.sync_key)
  FROM (
    SELECT *, row_number() OVER (PARTITION BY organization_id, type, sync_key ORDER BY place) AS nth,
      file.was_folder_of_other(id, organization_id, type, sync_key) AS is_left
    FROM pg_temp.import_node
    WHERE NOT is_derived AND sync_key IS NOT NULL AND (type = 'organization' OR organization_id IS NOT NULL)
      AND (is_new OR organization_id IS DISTINCT FROM stored_organization_id)) c
  WHERE c.nth > 1 OR c.is_left OR EXISTS (
    SELECT FROM graph.node n WHERE coalesce(n.organization_id, ${NOBODY}) = coalesce(c.organization_id, ${NOBODY})
      AND n.type = c.type AND n.sync_key = c.sync_key AND n.id <> c.id)`,
);

const SHARES = rule(
  'shares',
  `
  SELECT 'nodes', place, 'sharing.recipients.' || position, 'is in the list twice' FROM (
    SELECT *, row_number() OVER (PARTITION BY node_id, coalesce(user_id, group_id) ORDER BY place, position) AS nth
    FROM pg_temp.import_share WHERE num_nonnulls(user_id, group_id) = 1) s WHERE nth > 1 ORDER BY place, position`,
);

const CLAIMS = rule(
  'claims',
  `
  SELECT 'groups', g.place, 'claim', 'is the claim of another group' FROM (
    SELECT s.place, s.row ->> 'claim' AS claim, row_number() OVER (PARTITION BY s.row ->> 'claim' ORDER BY s.place) AS nth
    FROM pg_temp.import_groups s JOIN pg_temp.import_target t ON t.kind = 'group' AND t.place = s.place WHERE t.is_new) g
  WHERE g.claim IS NOT NULL AND (g.nth > 1 OR EXISTS (SELECT FROM identity.user_group o WHERE o.claim = g.claim))`,
);

const USERS_OF_ACTORS = rule(
  'users_of_actors',
  `
  WITH stated AS MATERIALIZED (
    SELECT s.place, t.id, ${named('user', `s.row ->> 'user'`)} AS user_id
    FROM pg_temp.import_actors s JOIN pg_temp.import_target t ON t.kind = 'actor' AND t.place = s.place WHERE s.row ? 'user'),
  placed AS (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY place) AS nth FROM stated WHERE user_id IS NOT NULL)
  SELECT 'actors', p.place, 'user', 'is already tied to another actor' FROM placed p
  WHERE p.nth > 1 OR EXISTS (SELECT FROM graph.actor a WHERE a.user_id = p.user_id AND a.id NOT IN (SELECT id FROM stated))`,
);

const JOINED_NODES = rule(
  'joined_nodes',
  `
  SELECT 'edges', e.place, '', p.message FROM (
    SELECT *, row_number() OVER (PARTITION BY source_id, target_id, relation ORDER BY place) AS nth FROM pg_temp.import_edge
    WHERE source_id IS NOT NULL AND target_id IS NOT NULL) e
  CROSS JOIN LATERAL (VALUES
    (e.source_id = e.target_id, 'a node cannot have an edge to itself'),
    (e.is_membership AND e.source_type = 'organization', 'an organization cannot belong to another node'),
    (e.is_membership AND e.source_type <> 'organization' AND e.source_organization_id <> e.target_id, 'the node belongs to another organization'),
    (e.nth > 1 AND NOT e.is_membership AND e.relation IS NOT NULL, 'is in the document twice')) p(applies, message)
  WHERE p.applies ORDER BY e.place`,
);

/** The first edge on a cycle of parents that the document closes, with its own edges or with those that are there. */
const CYCLES = rule(
  'cycles',
  `
  WITH RECURSIVE added AS MATERIALIZED (
    SELECT place, source_id, target_id FROM pg_temp.import_edge WHERE relation = 'belongs_to' AND NOT is_membership AND source_id <> target_id),
  above(place, start, at) AS (
    SELECT place, source_id, target_id FROM added
    UNION
    SELECT a.place, a.start, p.target_id FROM above a CROSS JOIN LATERAL (
      SELECT e.target_id FROM pg_temp.import_edge e WHERE e.source_id = a.at AND e.relation = 'belongs_to' AND NOT e.is_membership AND e.target_id IS NOT NULL
      UNION ALL SELECT e.target_id FROM graph.edge e WHERE e.source_id = a.at AND e.relation = 'belongs_to') p
    WHERE a.at <> a.start)
  SELECT 'edges', min(place), '', 'belongs_to edges form a cycle' FROM above WHERE start = at HAVING count(*) > 0`,
);

/** An event takes the place of one event of the same node, and of that alone. */
const SUCCESSORS = rule(
  'successors',
  `
  SELECT 'events', e.place, p.path, p.message FROM (
    SELECT *, CASE WHEN is_new AND supersedes_id IS NOT NULL THEN row_number() OVER (PARTITION BY is_new, supersedes_id ORDER BY place) END AS nth
    FROM pg_temp.import_event) e
  LEFT JOIN LATERAL (SELECT o.node_id FROM pg_temp.import_event o WHERE o.id = e.supersedes_id AND o.is_new LIMIT 1) o ON true
  LEFT JOIN graph.event g ON g.id = e.supersedes_id
  CROSS JOIN LATERAL (VALUES
    (NOT e.is_new AND e.stored_node_id <> e.node_id, 'node', 'the event belongs to another node, which never changes'),
    (e.is_new AND coalesce(o.node_id, g.node_id) <> e.node_id, 'supersedes', 'is an event of another node'),
    (e.nth > 1 OR (e.nth = 1 AND EXISTS (SELECT FROM graph.event x WHERE x.supersedes_id = e.supersedes_id)),
      'supersedes', 'is already superseded by another event')) p(applies, path, message)
  WHERE p.applies ORDER BY e.place`,
);

const CIRCLES_OF_EVENTS = rule(
  'circles_of_events',
  `
  WITH RECURSIVE chain(place, start, at) AS (
    SELECT place, id, supersedes_id FROM pg_temp.import_event WHERE is_new AND supersedes_id IS NOT NULL
    UNION
    SELECT c.place, c.start, e.supersedes_id FROM chain c JOIN pg_temp.import_event e ON e.id = c.at AND e.is_new AND e.supersedes_id IS NOT NULL
    WHERE c.at <> c.start)
  SELECT 'events', min(place), 'supersedes', 'forms a cycle' FROM chain WHERE start = at HAVING count(*) > 0`,
);

const PLACES_OF_FILES = rule(
  'places_of_files',
  `
  SELECT 'files', f.place, 'path', CASE WHEN f.nth > 1 THEN 'is the path of another file of the document, or differs from it only by case or Unicode form'
    ELSE format('differs only by case or Unicode form from "%s", which is already tracked', r.path) END
  FROM (SELECT *, row_number() OVER (PARTITION BY node_id, path_key ORDER BY place) AS nth FROM pg_temp.import_file
    WHERE node_id IS NOT NULL AND path_key IS NOT NULL) f
  LEFT JOIN file.record r ON r.node_id = f.node_id AND r.path_digest = md5(f.path_key)::uuid AND r.path <> f.path
    AND NOT (f.has_id AND EXISTS (SELECT FROM file.record k WHERE k.id = f.id))
  WHERE f.nth > 1 OR r.id IS NOT NULL`,
);

export const RULES: readonly Statement[] = [
  KEYS,
  SAME_RECORDS,
  REFERENCES,
  STATED_IDS,
  TYPES,
  ORGANIZATIONS,
  SYNC_KEYS,
  SHARES,
  CLAIMS,
  USERS_OF_ACTORS,
  JOINED_NODES,
  CYCLES,
  SUCCESSORS,
  CIRCLES_OF_EVENTS,
  PLACES_OF_FILES,
];

/** New nodes whose key was made of their name and is taken, at most 1,000 at once: each needs another one. */
export const TAKEN_SYNC_KEYS = statement(
  'import.taken_sync_keys',
  `
  SELECT d.place, s.row ->> 'slug' AS slug FROM pg_temp.import_node d JOIN pg_temp.import_nodes s ON s.place = d.place
  WHERE d.is_derived AND (file.was_folder_of_other(d.id, d.organization_id, d.type, d.sync_key) OR EXISTS (
      SELECT FROM graph.node n WHERE coalesce(n.organization_id, ${NOBODY}) = coalesce(d.organization_id, ${NOBODY}) AND n.type = d.type AND n.sync_key = d.sync_key)
    OR EXISTS (
      SELECT FROM pg_temp.import_node o WHERE coalesce(o.organization_id, ${NOBODY}) = coalesce(d.organization_id, ${NOBODY})
        AND o.type = d.type AND o.sync_key = d.sync_key AND o.place <> d.place AND (NOT o.is_derived OR o.place < d.place)))
  ORDER BY d.place LIMIT 1000`,
);

/** $1: JSON array of place and key. */
export const SET_SYNC_KEYS = statement(
  'import.set_sync_keys',
  `UPDATE pg_temp.import_node n SET sync_key = d.sync_key FROM jsonb_to_recordset($1::jsonb) AS d(place int, sync_key text) WHERE n.place = d.place`,
);
