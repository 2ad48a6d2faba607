import { LIMITS } from '@workspace-graph/contracts';
import { statement } from '@workspace-graph/database';
import { named } from './staging.statements.js';

/**
 * Each statement writes the staged records of one kind, new ones and changed ones, and answers how many there are
 * (`total`), `created` and `updated`; the rest is unchanged. $1 is the importing user.
 */

const counted = (created: string, updated: string | null): string =>
  `SELECT (SELECT count(*)::int FROM d) AS total, (SELECT count(*)::int FROM ${created}) AS created,
    ${updated === null ? '0' : `(SELECT count(*)::int FROM ${updated})`} AS updated, $1::uuid AS "by"`;

/** Records with keys of their own: their target, and the fields given with their types. */
const keyed = (kind: string, list: string): string =>
  `pg_temp.import_${list} s JOIN pg_temp.import_target t ON t.kind = '${kind}' AND t.place = s.place`;

const key = `nullif(s.row ->> 'key', s.row ->> 'id') AS import_key`;

export const IMPORT_USERS = statement(
  'import.users',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id, t.is_new, r.* FROM ${keyed('user', 'users')} CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(name text, external_id text, email text, handle text, max_scope text, claim_scope text, disabled_at timestamptz, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO identity."user" (id, name, external_id, email, handle, max_scope, claim_scope, disabled_at, version, created_at, updated_at)
    SELECT id, name, external_id, email, handle, max_scope, claim_scope, disabled_at, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE is_new RETURNING id)
  ${counted('made', null)}`,
);

export const IMPORT_GROUPS = statement(
  'import.groups',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id, t.is_new, r.* FROM ${keyed('group', 'groups')} CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(name text, claim text, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO identity.user_group (id, name, claim, version, created_at, updated_at)
    SELECT id, name, claim, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE is_new RETURNING id)
  ${counted('made', null)}`,
);

export const IMPORT_MEMBERS = statement(
  'import.members',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id AS group_id, ${named('user', `x.value ->> 'user'`)} AS user_id, x.value ->> 'source' AS source
    FROM ${keyed('group', 'groups')} CROSS JOIN LATERAL jsonb_array_elements(s.row -> 'members') x(value)),
  made AS (INSERT INTO identity.membership (group_id, user_id, source) SELECT group_id, user_id, source FROM d ON CONFLICT DO NOTHING RETURNING group_id)
  ${counted('made', null)}`,
);

export const IMPORT_ACTORS = statement(
  'import.actors',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id, t.is_new, ${key}, s.row ? 'user' AS has_user, ${named('user', `s.row ->> 'user'`)} AS user_id, r.*
    FROM ${keyed('actor', 'actors')} CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(type text, name text, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO graph.actor (id, type, name, user_id, import_key, version, created_at, updated_at)
    SELECT id, type, name, user_id, import_key, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE is_new RETURNING id),
  changed AS (
    UPDATE graph.actor a SET name = d.name, user_id = CASE WHEN d.has_user THEN d.user_id ELSE a.user_id END, version = a.version + 1, updated_at = now()
    FROM d WHERE a.id = d.id AND NOT d.is_new AND (a.name <> d.name OR (d.has_user AND a.user_id IS DISTINCT FROM d.user_id)) RETURNING a.id)
  ${counted('made', 'changed')}`,
);

/** Recomputes who may see what: the document's nodes, and those that it puts under others. */
export const REFRESH_NODES = statement(
  'import.refresh_nodes',
  `SELECT graph.refresh_access(ARRAY(SELECT id FROM pg_temp.import_node UNION SELECT source_id FROM pg_temp.import_edge WHERE relation = 'belongs_to' AND NOT is_membership))`,
);

/** The same for nodes with a list of their own whose owner the document ties to a user, or to none. */
export const REFRESH_GRANTS = statement(
  'import.refresh_grants',
  `
  SELECT graph.refresh_grants(ARRAY(SELECT n.id FROM graph.node n WHERE n.visibility IN ('private', 'group') AND n.owner_id IN (
    SELECT t.id FROM ${keyed('actor', 'actors')} WHERE s.row ? 'user')))`,
);

/** Keeps changes of what nodes carry away until the import is done. After the actors, as everywhere. */
const lockNodes = (name: string, ids: string): ReturnType<typeof statement> =>
  statement(
    `import.lock_${name}`,
    `SELECT count(*)::int AS total FROM (SELECT n.id FROM graph.node n WHERE n.id IN (${ids}) ORDER BY n.id FOR NO KEY UPDATE) locked`,
  );

export const LOCK_NODES = lockNodes('nodes', 'SELECT id FROM pg_temp.import_node WHERE NOT is_new');

/** Nodes of files may stand in the workspace alone. */
export const LOCK_NODES_OF_FILES = lockNodes('nodes_of_files', 'SELECT node_id FROM pg_temp.import_file');

const NODES = `
    SELECT t.id, t.is_new, t.type, t.organization_id, t.sync_key, ${key}, r.name, r.description, r.goal, r.lifecycle_before_archive, r.health_note,
      r.health_at, r.version, r.created_at, r.updated_at, coalesce(r.lifecycle, CASE WHEN t.is_new THEN r.default_lifecycle END) AS lifecycle,
      CASE WHEN t.type = 'project' THEN coalesce(r.health, CASE WHEN t.is_new THEN 'on_track' END) END AS health, s.row ? 'health_note' AS has_health_note,
      s.row ? 'owner' AS has_owner, ${named('actor', `s.row ->> 'owner'`)} AS owner_id, s.row ? 'sharing' AS has_sharing, s.row -> 'sharing' ->> 'visibility' AS visibility,
      ${named('user', `s.row ->> 'health_by'`)} AS health_by, ${named('user', `s.row ->> 'created_by'`)} AS created_by,
      (s.row -> 'membership' ->> 'id')::uuid AS membership_id, (s.row -> 'membership' ->> 'created_at')::timestamptz AS membership_at,
      ${named('user', `s.row -> 'membership' ->> 'created_by'`)} AS membership_by
    FROM pg_temp.import_node t JOIN pg_temp.import_nodes s ON s.place = t.place CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(name text, description text, goal text, lifecycle text, default_lifecycle text, lifecycle_before_archive text, health text, health_note text,
        health_at timestamptz, version int, created_at timestamptz, updated_at timestamptz)`;

/** New nodes with their edge to the organization. An export tells who made them; otherwise the importer did. */
export const IMPORT_NEW_NODES = statement(
  'import.new_nodes',
  `
  WITH d AS MATERIALIZED (${NODES} WHERE t.is_new),
  made AS (
    INSERT INTO graph.node (id, type, name, description, goal, lifecycle, lifecycle_before_archive, health, health_note, health_by, health_at,
      organization_id, owner_id, sync_key, visibility, import_key, created_by, version, created_at, updated_at)
    SELECT id, type, name, coalesce(description, ''), coalesce(goal, ''), lifecycle, lifecycle_before_archive, health, health_note, health_by, health_at,
      organization_id, owner_id, sync_key, visibility, import_key, CASE WHEN created_at IS NULL THEN $1::uuid ELSE created_by END,
      coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d RETURNING id),
  joined AS (
    INSERT INTO graph.edge (id, source_id, target_id, relation, created_by, created_at)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.edge o WHERE o.id = d.membership_id) THEN gen_random_uuid() ELSE coalesce(membership_id, gen_random_uuid()) END,
      id, organization_id, 'belongs_to',
      CASE WHEN membership_id IS NULL THEN $1::uuid ELSE membership_by END, coalesce(membership_at, now())
    FROM d WHERE organization_id IS NOT NULL)
  SELECT count(*)::int AS created FROM made`,
);

/** Existing nodes that differ, with the audit line of each. */
export const IMPORT_CHANGED_NODES = statement(
  'import.changed_nodes',
  `
  WITH d AS MATERIALIZED (${NODES} WHERE NOT t.is_new),
  wanted AS MATERIALIZED (
    SELECT n.id, d.name, coalesce(d.description, n.description) AS description, coalesce(d.goal, n.goal) AS goal,
      coalesce(d.lifecycle, n.lifecycle) AS lifecycle, coalesce(d.health, n.health) AS health,
      CASE WHEN d.has_health_note THEN d.health_note ELSE n.health_note END AS health_note, coalesce(d.organization_id, n.organization_id) AS organization_id,
      CASE WHEN d.has_owner THEN d.owner_id ELSE n.owner_id END AS owner_id, CASE WHEN d.has_sharing THEN d.visibility ELSE n.visibility END AS visibility,
      to_jsonb(n) AS was, n.organization_id AS old_organization
    FROM d JOIN graph.node n ON n.id = d.id),
  differing AS MATERIALIZED (
    SELECT w.* FROM wanted w JOIN graph.node n ON n.id = w.id
    WHERE (n.name, n.description, n.goal, n.lifecycle, n.health, n.health_note, n.organization_id, n.owner_id, n.visibility)
      IS DISTINCT FROM (w.name, w.description, w.goal, w.lifecycle, w.health, w.health_note, w.organization_id, w.owner_id, w.visibility)),
  changed AS (
    UPDATE graph.node n SET name = w.name, description = w.description, goal = w.goal, lifecycle = w.lifecycle, health = w.health, health_note = w.health_note,
      health_by = CASE WHEN n.health IS DISTINCT FROM w.health THEN $1::uuid ELSE n.health_by END,
      health_at = CASE WHEN n.health IS DISTINCT FROM w.health THEN now() ELSE n.health_at END,
      organization_id = w.organization_id, owner_id = w.owner_id, visibility = w.visibility, version = n.version + 1, updated_at = now()
    FROM differing w WHERE n.id = w.id RETURNING n.id),
  moved AS (
    UPDATE graph.edge e SET target_id = w.organization_id FROM differing w
    WHERE e.source_id = w.id AND e.target_id = w.old_organization AND e.relation = 'belongs_to' AND w.organization_id <> w.old_organization),
  told AS (
    INSERT INTO audit.entry (id, user_id, via, action, target_kind, target_id, before, after, request_id)
    SELECT gen_random_uuid(), $1::uuid, $2::text, 'run_import', 'node', w.id,
      jsonb_object_agg(f.key, w.was -> f.key) , jsonb_object_agg(f.key, f.value), $3::text
    FROM differing w, jsonb_each(to_jsonb(w) - 'id' - 'was' - 'old_organization') f
    WHERE w.was -> f.key IS DISTINCT FROM f.value GROUP BY w.id
    RETURNING id, at, action, target_kind, target_id),
  concerned AS (
    INSERT INTO audit.concern (node_id, at, entry_id, about)
    SELECT n.id, t.at, t.id, audit.about(t.action, t.target_kind, n.id = t.target_id)
    FROM told t JOIN differing w ON w.id = t.target_id CROSS JOIN LATERAL (
      -- A move changes the edges of both organizations.
      SELECT w.id UNION SELECT o.id FROM unnest(ARRAY[w.organization_id, w.old_organization]) AS o(id)
        WHERE w.organization_id <> w.old_organization) AS n(id))
  SELECT count(*)::int AS updated FROM changed`,
);

export const IMPORT_POSITIONS = statement(
  'import.positions',
  `
  INSERT INTO graph.position (node_id, x, y)
  SELECT t.id, round((s.row -> 'position' ->> 0)::numeric, 2), round((s.row -> 'position' ->> 1)::numeric, 2)
  FROM pg_temp.import_node t JOIN pg_temp.import_nodes s ON s.place = t.place WHERE jsonb_typeof(s.row -> 'position') = 'array'
  ON CONFLICT (node_id) DO UPDATE SET x = excluded.x, y = excluded.y`,
);

/** Nodes of which the document states something that it replaces. */
const stating = (field: string): string =>
  `SELECT t.id FROM pg_temp.import_node t JOIN pg_temp.import_nodes s ON s.place = t.place WHERE s.row ? '${field}'`;

/** Sharing lists of the nodes that state their sharing become those of the document. */
export const IMPORT_SHARES = statement(
  'import.shares',
  `
  WITH dropped AS (
    DELETE FROM graph.share s WHERE s.node_id IN (${stating('sharing')}) AND NOT EXISTS (
      SELECT FROM pg_temp.import_share d WHERE d.node_id = s.node_id AND d.user_id IS NOT DISTINCT FROM s.user_id AND d.group_id IS NOT DISTINCT FROM s.group_id))
  INSERT INTO graph.share AS s (node_id, user_id, group_id, access) SELECT node_id, user_id, group_id, access FROM pg_temp.import_share
  ON CONFLICT ON CONSTRAINT share_key DO UPDATE SET access = excluded.access WHERE s.access <> excluded.access`,
);

/** Replaces the responsibilities of the nodes that state some where they differ from the document's. */
export const IMPORT_RESPONSIBILITIES = statement(
  'import.responsibilities',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id AS node_id, t.type AS node_type, (r.value ->> 'id')::uuid AS id, r.nth::int - 1 AS position, r.value ->> 'title' AS title,
      r.value ->> 'description' AS description, (
        SELECT coalesce(jsonb_agg(a.id ORDER BY a.first), '[]') FROM (
          SELECT ${named('actor', 'x.key')} AS id, min(x.nth) AS first
          FROM jsonb_array_elements_text(r.value -> 'assignees') WITH ORDINALITY x(key, nth) GROUP BY 1) a) AS assignees
    FROM pg_temp.import_node t JOIN pg_temp.import_nodes s ON s.place = t.place
      CROSS JOIN LATERAL jsonb_array_elements(s.row -> 'responsibilities') WITH ORDINALITY r(value, nth)),
  wanted AS MATERIALIZED (SELECT node_id, jsonb_agg(jsonb_build_array(title, description, assignees) ORDER BY position) AS list FROM d GROUP BY node_id),
  node AS MATERIALIZED (
    SELECT x.id, coalesce(w.list, '[]') AS wanted,
      coalesce((SELECT jsonb_agg(jsonb_build_array(r.title, r.description, coalesce((
        SELECT jsonb_agg(a.actor_id ORDER BY a.position) FROM graph.responsibility_assignee a WHERE a.responsibility_id = r.id), '[]')) ORDER BY r.position)
        FROM graph.responsibility r WHERE r.node_id = x.id), '[]') AS present
    FROM (${stating('responsibilities')}) x LEFT JOIN wanted w ON w.node_id = x.id),
  differing AS MATERIALIZED (SELECT id, present FROM node WHERE wanted <> present),
  dropped AS (DELETE FROM graph.responsibility r USING differing WHERE r.node_id = differing.id RETURNING r.id),
  made AS (
    INSERT INTO graph.responsibility (id, node_id, node_type, position, title, description)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.responsibility o WHERE o.id = d.id) THEN gen_random_uuid() ELSE coalesce(d.id, gen_random_uuid()) END,
      d.node_id, d.node_type, d.position, d.title, d.description
    FROM d JOIN differing ON differing.id = d.node_id WHERE (SELECT count(*) FROM dropped) >= 0
    RETURNING id, node_id, position),
  assigned AS (
    INSERT INTO graph.responsibility_assignee (responsibility_id, actor_id, position)
    SELECT made.id, a.actor::uuid, a.place - 1 FROM made JOIN d ON d.node_id = made.node_id AND d.position = made.position,
      jsonb_array_elements_text(d.assignees) WITH ORDINALITY AS a(actor, place))
  SELECT (SELECT count(*)::int FROM d) AS total, (SELECT count(*)::int FROM made) AS created, (SELECT count(*)::int FROM differing WHERE present <> '[]') AS updated`,
);

/** Replaces the data sources and tools of the nodes that state some where they differ from the document's. */
export const IMPORT_LINKS = statement(
  'import.links',
  `
  WITH place AS MATERIALIZED (
    SELECT t.id AS node_id, t.type AS node_type, k.kind, s.row -> k.field AS list FROM pg_temp.import_node t JOIN pg_temp.import_nodes s ON s.place = t.place
      JOIN (VALUES ('data_source', 'data_sources'), ('tool', 'tools')) k(kind, field) ON s.row ? k.field),
  d AS MATERIALIZED (
    SELECT p.node_id, p.node_type, p.kind, (l.value ->> 'id')::uuid AS id, l.nth::int - 1 AS position, l.value ->> 'name' AS name, l.value ->> 'url' AS url
    FROM place p CROSS JOIN LATERAL jsonb_array_elements(p.list) WITH ORDINALITY l(value, nth)),
  wanted AS MATERIALIZED (SELECT node_id, kind, jsonb_agg(jsonb_build_array(name, url) ORDER BY position) AS list FROM d GROUP BY node_id, kind),
  node AS MATERIALIZED (
    SELECT p.node_id, p.kind, coalesce(w.list, '[]') AS wanted,
      coalesce((SELECT jsonb_agg(jsonb_build_array(l.name, l.url) ORDER BY l.position) FROM graph.link l WHERE l.node_id = p.node_id AND l.kind = p.kind), '[]') AS present
    FROM place p LEFT JOIN wanted w ON w.node_id = p.node_id AND w.kind = p.kind),
  differing AS MATERIALIZED (SELECT node_id, kind, present FROM node WHERE wanted <> present),
  dropped AS (DELETE FROM graph.link l USING differing f WHERE l.node_id = f.node_id AND l.kind = f.kind RETURNING l.id),
  made AS (
    INSERT INTO graph.link (id, node_id, node_type, kind, position, name, url)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.link o WHERE o.id = d.id) THEN gen_random_uuid() ELSE coalesce(d.id, gen_random_uuid()) END,
      d.node_id, d.node_type, d.kind, d.position, d.name, d.url
    FROM d JOIN differing f ON f.node_id = d.node_id AND f.kind = d.kind WHERE (SELECT count(*) FROM dropped) >= 0 RETURNING id)
  SELECT (SELECT count(*)::int FROM d) AS total, (SELECT count(*)::int FROM made) AS created, (SELECT count(*)::int FROM differing WHERE present <> '[]') AS updated`,
);

export const IMPORT_EDGES = statement(
  'import.edges',
  `
  WITH d AS MATERIALIZED (
    SELECT e.source_id, e.target_id, e.relation, (s.row ->> 'id')::uuid AS id, (s.row ->> 'created_at')::timestamptz AS created_at,
      ${named('user', `s.row ->> 'created_by'`)} AS created_by
    FROM pg_temp.import_edge e JOIN pg_temp.import_edges s ON s.place = e.place WHERE NOT e.is_membership),
  made AS (
    INSERT INTO graph.edge (id, source_id, target_id, relation, created_by, created_at)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.edge o WHERE o.id = d.id) THEN gen_random_uuid() ELSE coalesce(d.id, gen_random_uuid()) END,
      source_id, target_id, relation, CASE WHEN created_at IS NULL THEN $1::uuid ELSE created_by END, coalesce(created_at, now())
    FROM d ON CONFLICT ON CONSTRAINT edge_key DO NOTHING RETURNING id)
  ${counted('made', null)}`,
);

export const IMPORT_EVENTS = statement(
  'import.events',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id, t.is_new, t.node_id, t.supersedes_id, ${key}, ${named('user', `s.row ->> 'logged_by'`)} AS logged_by,
      ${named('user', `s.row ->> 'resolved_by'`)} AS resolved_by, r.*
    FROM pg_temp.import_event t JOIN pg_temp.import_events s ON s.place = t.place CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(kind text, status text, content text, occurred_at timestamptz, logged_at timestamptz, resolution text, resolved_at timestamptz, version int)),
  made AS (
    INSERT INTO graph.event (id, node_id, kind, status, content, occurred_at, logged_at, logged_by, resolution, resolved_at, resolved_by, supersedes_id, import_key, version)
    SELECT id, node_id, kind, coalesce(status, 'active'), content, occurred_at, coalesce(logged_at, now()),
      CASE WHEN logged_at IS NULL THEN $1::uuid ELSE logged_by END, resolution, resolved_at, resolved_by, supersedes_id, import_key, coalesce(version, 1)
    FROM d WHERE is_new RETURNING id),
  changed AS (
    UPDATE graph.event e SET kind = d.kind, content = d.content, occurred_at = d.occurred_at, status = coalesce(d.status, e.status),
      resolution = coalesce(d.resolution, e.resolution), resolved_at = coalesce(d.resolved_at, e.resolved_at),
      resolved_by = coalesce(d.resolved_by, e.resolved_by), version = e.version + 1
    FROM d WHERE e.id = d.id AND NOT d.is_new
      AND (e.kind, e.content, e.occurred_at, e.status, e.resolution)
        IS DISTINCT FROM (d.kind, d.content, d.occurred_at::timestamptz(3), coalesce(d.status, e.status), coalesce(d.resolution, e.resolution)) RETURNING e.id)
  ${counted('made', 'changed')}`,
);

/** What another event has taken the place of is superseded, whether the document says so or not. */
export const IMPORT_SUPERSEDED = statement(
  'import.superseded',
  `
  UPDATE graph.event e SET status = 'superseded', version = e.version + 1
  FROM pg_temp.import_event d WHERE d.is_new AND e.id = d.supersedes_id AND e.status <> 'superseded'`,
);

/** Files that are not there yet, by id nor by path. An export tells who made them; otherwise the importer did. */
export const IMPORT_FILES = statement(
  'import.files',
  `
  WITH d AS MATERIALIZED (
    SELECT t.id, t.has_id, t.node_id, t.path, t.path_key, ${named('user', `s.row ->> 'created_by'`)} AS created_by, ${named('user', `s.row ->> 'updated_by'`)} AS updated_by, r.*
    FROM pg_temp.import_file t JOIN pg_temp.import_files s ON s.place = t.place CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(sha256 text, size_bytes bigint, mime_type text, modified_at timestamptz, remote_name text, current_remote_hash text, last_pushed_at timestamptz,
        is_native_format boolean, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, remote_name, current_remote_hash,
      last_pushed_at, is_native_format, version, created_at, created_by, updated_at, updated_by)
    SELECT id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, remote_name, current_remote_hash, last_pushed_at, is_native_format,
      coalesce(version, 1), coalesce(created_at, now()), CASE WHEN created_at IS NULL THEN $1::uuid ELSE created_by END,
      coalesce(updated_at, created_at, now()), CASE WHEN updated_at IS NULL THEN $1::uuid ELSE updated_by END
    FROM d WHERE NOT EXISTS (SELECT FROM file.record k WHERE d.has_id AND k.id = d.id)
      AND NOT EXISTS (SELECT FROM file.record k WHERE k.node_id = d.node_id AND k.path_digest = md5(d.path_key)::uuid)
    RETURNING id, node_id),
  told AS (
    INSERT INTO outbox.event (id, type, payload)
    SELECT gen_random_uuid(), 'file.changed', jsonb_build_object('node_id', node_id) FROM (SELECT DISTINCT node_id FROM made) m)
  ${counted('made', null)}`,
);

/** Told in parts that the bus takes. */
const inParts = (size: number, payload: string, rows: string): string => `
  INSERT INTO outbox.event (id, type, payload)
  SELECT gen_random_uuid(), 'graph.changed', ${payload} || '{"action": "run_import"}'
  FROM (SELECT r.*, (row_number() OVER () - 1) / ${size} AS part FROM (${rows}) r) x GROUP BY x.part`;

/** Tells of the nodes that the document states, has events of, or whose people it names anew. */
export const TELL_NODES = statement(
  'import.tell_nodes',
  inParts(
    LIMITS.nodesPerEvent,
    `jsonb_build_object('node_ids', jsonb_agg(x.id))`,
    `
    SELECT id FROM pg_temp.import_node UNION SELECT node_id FROM pg_temp.import_event
    UNION SELECT n.id FROM ${keyed('actor', 'actors')} JOIN graph.node n ON n.owner_id = t.id WHERE NOT t.is_new
    UNION SELECT r.node_id FROM ${keyed('actor', 'actors')} JOIN graph.responsibility_assignee a ON a.actor_id = t.id
      JOIN graph.responsibility r ON r.id = a.responsibility_id WHERE NOT t.is_new`,
  ),
);

/** Tells of the edges that the document states, to those who see both ends. */
export const TELL_EDGES = statement(
  'import.tell_edges',
  inParts(
    1_000,
    `jsonb_build_object('own', 0, 'edges', jsonb_agg(jsonb_build_array(x.source_id, x.target_id)),
      'node_ids', jsonb_path_query_array(jsonb_agg(jsonb_build_array(x.source_id, x.target_id)), '$[*][*]'))`,
    'SELECT DISTINCT source_id, target_id FROM pg_temp.import_edge',
  ),
);

export const IMPORT_ACCESS_REQUESTS = statement(
  'import.access_requests',
  `
  WITH d AS MATERIALIZED (
    SELECT ${named('user', `s.row ->> 'user'`)} AS user_id, ${named('user', `s.row ->> 'decided_by'`)} AS decided_by, r.*
    FROM pg_temp.import_access_requests s CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(id uuid, node_id uuid, access text, reason text, state text, requested_at timestamptz, decided_at timestamptz, decision_note text)),
  made AS (
    INSERT INTO graph.access_request (id, node_id, user_id, access, reason, state, requested_at, decided_at, decided_by, decision_note)
    SELECT id, node_id, user_id, access, reason, state, requested_at, decided_at, decided_by, decision_note FROM d ON CONFLICT DO NOTHING RETURNING id)
  ${counted('made', null)}`,
);

export const IMPORT_AUDIT = statement(
  'import.audit',
  `
  WITH d AS MATERIALIZED (
    SELECT ${named('user', `s.row ->> 'user'`)} AS user_id, r.* FROM pg_temp.import_audit s CROSS JOIN LATERAL jsonb_to_record(s.row)
      AS r(id uuid, at timestamptz, via text, action text, target_kind text, target_id uuid, before jsonb, after jsonb, request_id text)),
  made AS (
    INSERT INTO audit.entry (id, at, user_id, via, action, target_kind, target_id, before, after, request_id)
    SELECT id, at, user_id, via, action, target_kind, target_id, before, after, request_id FROM d ON CONFLICT DO NOTHING RETURNING id)
  ${counted('made', null)}`,
);

/** Which nodes the imported lines concern: a document does not say it. After everything that they are about. */
export const IMPORT_CONCERNS = statement(
  'import.concerns',
  `SELECT audit.record_concerns(ARRAY(SELECT (s.row ->> 'id')::uuid FROM pg_temp.import_audit s))`,
);
