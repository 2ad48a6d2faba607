import { LIMITS } from '@workspace-graph/contracts';
import { type Statement, statement } from '@workspace-graph/database';
import { LISTS, type ListName } from './document-reader.js';
import type { Kind } from './record-rules.js';

/** Stands for the organization of what has none. */
export const NOBODY = `'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * Temporary tables of one import. `import_<list>` holds the records as they were sent; the others what follows from
 * them: ids of the document and of the workspace, references resolved, problems.
 */
const TABLES: readonly string[] = [
  ...LISTS.map((list) => `import_${list} (place int PRIMARY KEY, row jsonb NOT NULL)`),
  'import_reference (list text, place int, path text, kind text, key text)',
  'import_stated_id (seq int GENERATED ALWAYS AS IDENTITY, list text, place int, path text, space text, id uuid)',
  'import_issue (seq int GENERATED ALWAYS AS IDENTITY, list text, place int, path text, message text)',
  'import_target (kind text, place int, key text, alias text, id uuid, is_new boolean, PRIMARY KEY (kind, place))',
  'import_name (kind text, key text, id uuid, PRIMARY KEY (kind, key))',
  `import_node (place int PRIMARY KEY, id uuid, is_new boolean, type text, stored_type text, organization_id uuid, stored_organization_id uuid,
    sync_key text, is_derived boolean)`,
  `import_edge (place int PRIMARY KEY, source_id uuid, target_id uuid, relation text, source_type text, target_type text,
    source_organization_id uuid, is_membership boolean)`,
  'import_share (place int, position int, node_id uuid, user_id uuid, group_id uuid, access text)',
  'import_event (place int PRIMARY KEY, id uuid, is_new boolean, node_id uuid, stored_node_id uuid, supersedes_id uuid)',
  'import_file (place int PRIMARY KEY, id uuid, has_id boolean, node_id uuid, path text, path_key text)',
];

const INDEXES: readonly string[] = [
  'import_target (id)',
  'import_node (id)',
  `import_node (coalesce(organization_id, ${NOBODY}), type, sync_key)`,
  'import_edge (source_id)',
  'import_event (id)',
];

/** Notices a caller that is gone in the midst of a statement, where the system can. */
const LEAVE_EARLY = `BEGIN SET client_connection_check_interval = '1s'; EXCEPTION WHEN OTHERS THEN NULL; END;`;

export const CREATE_STAGING = statement(
  'import.create_staging',
  `DO $$ BEGIN ${LEAVE_EARLY} SET work_mem = '32MB';
  ${TABLES.map((table) => `CREATE TEMP TABLE ${table};`).join('\n  ')}
  ${INDEXES.map((index) => `CREATE INDEX ON pg_temp.${index};`).join('\n  ')}
  ${LISTS.map((list) => `ALTER TABLE pg_temp.import_${list} ALTER row SET STORAGE EXTERNAL;`).join('\n  ')} END $$`,
);

/** $1: JSON array of place and record. */
export const ADD_RECORDS = Object.fromEntries(
  LISTS.map((list) => [
    list,
    statement(
      `import.add_${list}`,
      `INSERT INTO pg_temp.import_${list} (place, row) SELECT (x ->> 0)::int, x -> 1 FROM jsonb_array_elements($1::jsonb) x`,
    ),
  ]),
) as Record<ListName, Statement>;

const addTo = (table: string, columns: string): Statement =>
  statement(
    `import.add_${table}`,
    `INSERT INTO pg_temp.import_${table} (${columns.replaceAll(/ (?:text|int|uuid)/g, '')}) SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(${columns})`,
  );

export const ADD_REFERENCES = addTo('reference', 'list text, place int, path text, kind text, key text');
export const ADD_STATED_IDS = addTo('stated_id', 'list text, place int, path text, space text, id uuid');
export const ADD_ISSUES = addTo('issue', 'list text, place int, path text, message text');

/** The server knows nothing of temporary tables by itself, and would plan the statements about them badly. */
const ANALYZE_STAGING = statement(
  'import.analyze_staging',
  `DO $$ BEGIN ${TABLES.map((table) => `ANALYZE pg_temp.${table.split(' ')[0]};`).join(' ')} END $$`,
);

/** Problems in the order of the document, as far as they are told, and how many there are. */
export const ISSUES = statement(
  'import.issues',
  `
  SELECT coalesce(jsonb_agg(jsonb_build_object('path', i.path, 'message', i.message) ORDER BY i.nth), '[]') AS issues,
    (SELECT count(*)::int FROM pg_temp.import_issue) AS stored
  FROM (
    SELECT concat_ws('.', list, place, nullif(path, '')) AS path, message,
      row_number() OVER (ORDER BY array_position('{${LISTS.join(',')}}', list) NULLS FIRST, place, seq) AS nth
    FROM pg_temp.import_issue ORDER BY nth LIMIT ${LIMITS.importIssues}) i`,
);

interface Keyed {
  readonly kind: Kind;
  readonly list: ListName;
  readonly table: string;
  /** Column by which a record exists already under a key, or an alias. */
  readonly key: string;
}

const KEYED: readonly Keyed[] = [
  { kind: 'user', list: 'users', table: 'identity."user"', key: 'external_id' },
  { kind: 'group', list: 'groups', table: 'identity.user_group', key: 'name_folded' },
  { kind: 'actor', list: 'actors', table: 'graph.actor', key: 'import_key' },
  { kind: 'node', list: 'nodes', table: 'graph.node', key: 'import_key' },
  { kind: 'event', list: 'events', table: 'graph.event', key: 'import_key' },
];

const UUID = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`;
const asId = (text: string): string => `CASE WHEN ${text} ~ ${UUID} THEN (${text})::uuid END`;

/** A record of the document is an existing one when its id, its key or its alias is, and a new one otherwise. */
const targetsOf = ({ kind, list, table, key }: Keyed): Statement =>
  statement(
    `import.targets_${kind}`,
    `
  INSERT INTO pg_temp.import_target (kind, place, key, alias, id, is_new)
  SELECT '${kind}', s.place, s.key, s.alias, coalesce(f.id, s.id, s.new_id), f.id IS NULL
  FROM (SELECT place, row ->> 'key' AS key, row ->> 'alias' AS alias, (row ->> 'id')::uuid AS id, (row ->> 'new_id')::uuid AS new_id FROM pg_temp.import_${list}) s
  LEFT JOIN ${table} by_id ON by_id.id = s.id
  LEFT JOIN ${table} by_key_id ON by_key_id.id = ${asId('s.key')}
  LEFT JOIN ${table} by_key ON by_key.${key} = s.key
  LEFT JOIN ${table} by_alias ON by_alias.${key} = s.alias
  CROSS JOIN LATERAL (SELECT coalesce(by_id.id, by_key_id.id, by_key.id, by_alias.id) AS id) f`,
  );

const NAMES_OF_DOCUMENT = statement(
  'import.names_of_document',
  `
  INSERT INTO pg_temp.import_name (kind, key, id)
  SELECT DISTINCT ON (kind, key) kind, key, id FROM pg_temp.import_target WHERE key IS NOT NULL ORDER BY kind, key, place`,
);

/** Keys that are referred to and stand in the workspace alone. */
const namesOfWorkspace = ({ kind, table, key }: Keyed): Statement =>
  statement(
    `import.names_${kind}`,
    `
  INSERT INTO pg_temp.import_name (kind, key, id)
  SELECT '${kind}', r.key, coalesce(by_id.id, by_key.id) FROM (SELECT DISTINCT key FROM pg_temp.import_reference WHERE kind = '${kind}') r
  LEFT JOIN ${table} by_id ON by_id.id = ${asId('r.key')} LEFT JOIN ${table} by_key ON by_key.${key} = r.key
  WHERE coalesce(by_id.id, by_key.id) IS NOT NULL ON CONFLICT DO NOTHING`,
  );

/** The id behind a key; null for an unknown one. */
export const named = (kind: Kind, key: string): string =>
  `(SELECT known.id FROM pg_temp.import_name known WHERE known.kind = '${kind}' AND known.key = ${key})`;

const NODES = statement(
  'import.resolve_nodes',
  `
  INSERT INTO pg_temp.import_node (place, id, is_new, type, stored_type, organization_id, stored_organization_id, sync_key, is_derived)
  SELECT s.place, t.id, t.is_new, k.type, n.type,
    CASE WHEN k.type = 'organization' THEN NULL WHEN NOT t.is_new AND NOT s.row ? 'organization' THEN n.organization_id
      ELSE ${named('node', `s.row ->> 'organization'`)} END,
    n.organization_id, coalesce(n.sync_key, s.row ->> 'sync_key', s.row ->> 'slug'), t.is_new AND NOT s.row ? 'sync_key'
  FROM pg_temp.import_nodes s JOIN pg_temp.import_target t ON t.kind = 'node' AND t.place = s.place
    LEFT JOIN graph.node n ON n.id = t.id AND NOT t.is_new CROSS JOIN LATERAL (SELECT coalesce(s.row ->> 'type', n.type) AS type) k`,
);

const EDGES = statement(
  'import.resolve_edges',
  `
  INSERT INTO pg_temp.import_edge (place, source_id, target_id, relation, source_type, target_type, source_organization_id, is_membership)
  SELECT e.place, e.source_id, e.target_id, e.relation, x.source_type, x.target_type,
    CASE WHEN s.id IS NULL THEN os.organization_id ELSE s.organization_id END,
    coalesce(e.relation = 'belongs_to' AND (x.source_type = 'organization' OR x.target_type = 'organization'), false)
  FROM (
    SELECT place, row ->> 'relation' AS relation, ${named('node', `row ->> 'from'`)} AS source_id, ${named('node', `row ->> 'to'`)} AS target_id
    FROM pg_temp.import_edges) e
  LEFT JOIN LATERAL (SELECT n.* FROM pg_temp.import_node n WHERE n.id = e.source_id LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT n.* FROM pg_temp.import_node n WHERE n.id = e.target_id LIMIT 1) t ON true
  LEFT JOIN graph.node os ON os.id = e.source_id LEFT JOIN graph.node ot ON ot.id = e.target_id
  CROSS JOIN LATERAL (SELECT coalesce(s.type, os.type) AS source_type, coalesce(t.type, ot.type) AS target_type) x`,
);

const SHARES = statement(
  'import.resolve_shares',
  `
  INSERT INTO pg_temp.import_share (place, position, node_id, user_id, group_id, access)
  SELECT s.place, r.nth - 1, t.id, ${named('user', `r.value ->> 'user'`)}, ${named('group', `r.value ->> 'group'`)}, r.value ->> 'access'
  FROM pg_temp.import_nodes s JOIN pg_temp.import_node t ON t.place = s.place
    CROSS JOIN LATERAL jsonb_array_elements(s.row -> 'sharing' -> 'recipients') WITH ORDINALITY r(value, nth)`,
);

const EVENTS = statement(
  'import.resolve_events',
  `
  INSERT INTO pg_temp.import_event (place, id, is_new, node_id, stored_node_id, supersedes_id)
  SELECT s.place, t.id, t.is_new, ${named('node', `s.row ->> 'node'`)}, e.node_id, ${named('event', `s.row ->> 'supersedes'`)}
  FROM pg_temp.import_events s JOIN pg_temp.import_target t ON t.kind = 'event' AND t.place = s.place
    LEFT JOIN graph.event e ON e.id = t.id AND NOT t.is_new`,
);

const FILES = statement(
  'import.resolve_files',
  `
  INSERT INTO pg_temp.import_file (place, id, has_id, node_id, path, path_key)
  SELECT place, coalesce(row ->> 'id', row ->> 'new_id')::uuid, row ? 'id', ${named('node', `row ->> 'node'`)}, row ->> 'path', row ->> 'path_key'
  FROM pg_temp.import_files`,
);

/** Finds out what each record and each reference is, in this order. */
export const RESOLVE: readonly Statement[] = [
  ANALYZE_STAGING,
  ...KEYED.map(targetsOf),
  NAMES_OF_DOCUMENT,
  ...KEYED.map(namesOfWorkspace),
  ANALYZE_STAGING,
  NODES,
  EDGES,
  SHARES,
  EVENTS,
  FILES,
  ANALYZE_STAGING,
];
