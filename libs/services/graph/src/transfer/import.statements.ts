import { statement } from '@workspace-graph/database';

/**
 * Each statement takes the rows of one kind as one JSON array ($1), writes new ones and changed ones, and answers
 * `created` and `updated`; the rest is unchanged. $2 is the importing user.
 */

const counted = (created: string, updated: string): string =>
  `SELECT (SELECT count(*)::int FROM ${created}) AS created, (SELECT count(*)::int FROM ${updated}) AS updated`;

export const IMPORT_USERS = statement(
  'import.users',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, "isNew" boolean, name text, external_id text, max_scope text, claim_scope text,
    disabled_at timestamptz, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO identity."user" (id, name, external_id, max_scope, claim_scope, disabled_at, version, created_at, updated_at)
    SELECT id, name, external_id, max_scope, claim_scope, disabled_at, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE "isNew" RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated, $2::uuid AS "by"`,
);

export const IMPORT_GROUPS = statement(
  'import.groups',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, "isNew" boolean, name text, claim text, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO identity.user_group (id, name, claim, version, created_at, updated_at)
    SELECT id, name, claim, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE "isNew" RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated, $2::uuid AS "by"`,
);

export const IMPORT_MEMBERS = statement(
  'import.members',
  `
  WITH made AS (
    INSERT INTO identity.membership (group_id, user_id, source)
    SELECT group_id, user_id, source FROM jsonb_to_recordset($1::jsonb) AS d(group_id uuid, user_id uuid, source text)
    ON CONFLICT DO NOTHING RETURNING group_id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated, $2::uuid AS "by"`,
);

export const IMPORT_ACTORS = statement(
  'import.actors',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, "isNew" boolean, type text, name text, import_key text,
    has_user boolean, user_id uuid, version int, created_at timestamptz, updated_at timestamptz)),
  made AS (
    INSERT INTO graph.actor (id, type, name, user_id, import_key, version, created_at, updated_at)
    SELECT id, type, name, user_id, import_key, coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d WHERE "isNew" RETURNING id),
  changed AS (
    UPDATE graph.actor a SET name = d.name, user_id = CASE WHEN d.has_user THEN d.user_id ELSE a.user_id END, version = a.version + 1, updated_at = now()
    FROM d WHERE a.id = d.id AND NOT d."isNew" AND (a.name <> d.name OR (d.has_user AND a.user_id IS DISTINCT FROM d.user_id)) RETURNING a.id)
  ${counted('made', 'changed')}, $2::uuid AS "by"`,
);

const NODE_COLUMNS = `id uuid, "isNew" boolean, type text, name text, description text, goal text, lifecycle text, lifecycle_before_archive text,
    health text, has_health_note boolean, health_note text, health_by uuid, health_at timestamptz, organization_id uuid, has_owner boolean, owner_id uuid,
    sync_key text, has_sharing boolean, visibility text, import_key text, membership_id uuid, membership_at timestamptz, membership_by uuid,
    position_x float8, position_y float8, created_by uuid, version int, created_at timestamptz, updated_at timestamptz`;

/** Nodes with a list of their own that one of the actors $1 owns. */
export const GATES_OF_ACTORS = statement(
  'import.gates_of_actors',
  `SELECT n.id::text AS id FROM graph.node n WHERE n.owner_id = ANY ($1::uuid[]) AND n.visibility IN ('private', 'group')`,
);

/** Keeps changes of what the given nodes ($1) carry away until the import is done. After the actors, as everywhere. */
export const LOCK_NODES = statement(
  'import.lock_nodes',
  `SELECT n.id FROM graph.node n WHERE n.id = ANY ($1::uuid[]) ORDER BY n.id FOR NO KEY UPDATE`,
);

/** New nodes with their edge to the organization. An export tells who made them; otherwise the importer did. */
export const IMPORT_NEW_NODES = statement(
  'import.new_nodes',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(${NODE_COLUMNS}) WHERE d."isNew"),
  made AS (
    INSERT INTO graph.node (id, type, name, description, goal, lifecycle, lifecycle_before_archive, health, health_note, health_by, health_at,
      organization_id, owner_id, sync_key, visibility, import_key, created_by, version, created_at, updated_at)
    SELECT id, type, name, coalesce(description, ''), coalesce(goal, ''), lifecycle, lifecycle_before_archive, health, health_note, health_by, health_at,
      organization_id, owner_id, sync_key, visibility, import_key, CASE WHEN created_at IS NULL THEN $2::uuid ELSE created_by END,
      coalesce(version, 1), coalesce(created_at, now()), coalesce(updated_at, created_at, now())
    FROM d RETURNING id),
  joined AS (
    INSERT INTO graph.edge (id, source_id, target_id, relation, created_by, created_at)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.edge o WHERE o.id = d.membership_id) THEN gen_random_uuid() ELSE coalesce(membership_id, gen_random_uuid()) END,
      id, organization_id, 'belongs_to',
      CASE WHEN membership_id IS NULL THEN $2::uuid ELSE membership_by END, coalesce(membership_at, now())
    FROM d WHERE organization_id IS NOT NULL)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated`,
);

/** Existing nodes that differ, with the audit line of each. */
export const IMPORT_CHANGED_NODES = statement(
  'import.changed_nodes',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(${NODE_COLUMNS}) WHERE NOT d."isNew"),
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
      health_by = CASE WHEN n.health IS DISTINCT FROM w.health THEN $2::uuid ELSE n.health_by END,
      health_at = CASE WHEN n.health IS DISTINCT FROM w.health THEN now() ELSE n.health_at END,
      organization_id = w.organization_id, owner_id = w.owner_id, visibility = w.visibility, version = n.version + 1, updated_at = now()
    FROM differing w WHERE n.id = w.id RETURNING n.id),
  moved AS (
    UPDATE graph.edge e SET target_id = w.organization_id FROM differing w
    WHERE e.source_id = w.id AND e.target_id = w.old_organization AND e.relation = 'belongs_to' AND w.organization_id <> w.old_organization),
  told AS (
    INSERT INTO audit.entry (id, user_id, via, action, target_kind, target_id, before, after, request_id)
    SELECT gen_random_uuid(), $2::uuid, $3::text, 'run_import', 'node', w.id,
      jsonb_object_agg(f.key, w.was -> f.key) , jsonb_object_agg(f.key, f.value), $4::text
    FROM differing w, jsonb_each(to_jsonb(w) - 'id' - 'was' - 'old_organization') f
    WHERE w.was -> f.key IS DISTINCT FROM f.value GROUP BY w.id)
  SELECT 0 AS created, (SELECT count(*)::int FROM changed) AS updated`,
);

export const IMPORT_POSITIONS = statement(
  'import.positions',
  `
  INSERT INTO graph.position (node_id, x, y)
  SELECT id, round(position_x::numeric, 2), round(position_y::numeric, 2)
  FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, position_x float8, position_y float8) WHERE position_x IS NOT NULL
  ON CONFLICT (node_id) DO UPDATE SET x = excluded.x, y = excluded.y`,
);

/** Sharing lists of the nodes that state their sharing ($1 their ids) become those of the document ($2 rows). */
export const IMPORT_SHARES = statement(
  'import.shares',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($2::jsonb) AS d(node_id uuid, user_id uuid, group_id uuid, access text)),
  dropped AS (
    DELETE FROM graph.share s WHERE s.node_id = ANY ($1::uuid[]) AND NOT EXISTS (
      SELECT FROM d WHERE d.node_id = s.node_id AND d.user_id IS NOT DISTINCT FROM s.user_id AND d.group_id IS NOT DISTINCT FROM s.group_id))
  INSERT INTO graph.share AS s (node_id, user_id, group_id, access) SELECT node_id, user_id, group_id, access FROM d
  ON CONFLICT ON CONSTRAINT share_key DO UPDATE SET access = excluded.access WHERE s.access <> excluded.access`,
);

/** Replaces the responsibilities of the given nodes ($1) where they differ from the document's rows ($2). */
export const IMPORT_RESPONSIBILITIES = statement(
  'import.responsibilities',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($2::jsonb) AS d(node_id uuid, node_type text, id uuid, position int, title text, description text, assignees jsonb)),
  node AS MATERIALIZED (
    SELECT x.id, coalesce((SELECT jsonb_agg(jsonb_build_array(d.title, d.description, d.assignees) ORDER BY d.position) FROM d WHERE d.node_id = x.id), '[]') AS wanted,
      coalesce((SELECT jsonb_agg(jsonb_build_array(r.title, r.description, coalesce((
        SELECT jsonb_agg(a.actor_id ORDER BY a.position) FROM graph.responsibility_assignee a WHERE a.responsibility_id = r.id), '[]')) ORDER BY r.position)
        FROM graph.responsibility r WHERE r.node_id = x.id), '[]') AS present
    FROM unnest($1::uuid[]) AS x(id)),
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
  SELECT (SELECT count(*)::int FROM made) AS created, (SELECT count(*)::int FROM differing WHERE present <> '[]') AS updated`,
);

/** Replaces the data sources and tools of the given nodes ($1) where they differ from the document's rows ($2). */
export const IMPORT_LINKS = statement(
  'import.links',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($2::jsonb) AS d(node_id uuid, node_type text, kind text, id uuid, position int, name text, url text)),
  place AS MATERIALIZED (SELECT (x.value ->> 'node_id')::uuid AS node_id, x.value ->> 'kind' AS kind FROM jsonb_array_elements($1::jsonb) x),
  node AS MATERIALIZED (
    SELECT p.node_id, p.kind,
      coalesce((SELECT jsonb_agg(jsonb_build_array(d.name, d.url) ORDER BY d.position) FROM d WHERE d.node_id = p.node_id AND d.kind = p.kind), '[]') AS wanted,
      coalesce((SELECT jsonb_agg(jsonb_build_array(l.name, l.url) ORDER BY l.position) FROM graph.link l WHERE l.node_id = p.node_id AND l.kind = p.kind), '[]') AS present
    FROM place p),
  differing AS MATERIALIZED (SELECT node_id, kind, present FROM node WHERE wanted <> present),
  dropped AS (DELETE FROM graph.link l USING differing f WHERE l.node_id = f.node_id AND l.kind = f.kind RETURNING l.id),
  made AS (
    INSERT INTO graph.link (id, node_id, node_type, kind, position, name, url)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.link o WHERE o.id = d.id) THEN gen_random_uuid() ELSE coalesce(d.id, gen_random_uuid()) END,
      d.node_id, d.node_type, d.kind, d.position, d.name, d.url
    FROM d JOIN differing f ON f.node_id = d.node_id AND f.kind = d.kind WHERE (SELECT count(*) FROM dropped) >= 0 RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, (SELECT count(*)::int FROM differing WHERE present <> '[]') AS updated`,
);

export const IMPORT_EDGES = statement(
  'import.edges',
  `
  WITH made AS (
    INSERT INTO graph.edge (id, source_id, target_id, relation, created_by, created_at)
    SELECT CASE WHEN EXISTS (SELECT FROM graph.edge o WHERE o.id = d.id) THEN gen_random_uuid() ELSE coalesce(d.id, gen_random_uuid()) END,
      source_id, target_id, relation, CASE WHEN created_at IS NULL THEN $2::uuid ELSE created_by END, coalesce(created_at, now())
    FROM jsonb_to_recordset($1::jsonb) AS d(source_id uuid, target_id uuid, relation text, id uuid, created_by uuid, created_at timestamptz)
    ON CONFLICT ON CONSTRAINT edge_key DO NOTHING RETURNING id, source_id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated`,
);

export const IMPORT_EVENTS = statement(
  'import.events',
  `
  WITH d AS MATERIALIZED (SELECT * FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, "isNew" boolean, import_key text, node_id uuid, kind text, status text,
    content text, occurred_at timestamptz, logged_at timestamptz, logged_by uuid, resolution text, resolved_at timestamptz, resolved_by uuid, supersedes_id uuid, version int)),
  made AS (
    INSERT INTO graph.event (id, node_id, kind, status, content, occurred_at, logged_at, logged_by, resolution, resolved_at, resolved_by, supersedes_id, import_key, version)
    SELECT id, node_id, kind, coalesce(status, 'active'), content, occurred_at, coalesce(logged_at, now()),
      CASE WHEN logged_at IS NULL THEN $2::uuid ELSE logged_by END, resolution, resolved_at, resolved_by, supersedes_id, import_key, coalesce(version, 1)
    FROM d WHERE "isNew" RETURNING id),
  changed AS (
    UPDATE graph.event e SET kind = d.kind, content = d.content, occurred_at = d.occurred_at, status = coalesce(d.status, e.status),
      resolution = coalesce(d.resolution, e.resolution), resolved_at = coalesce(d.resolved_at, e.resolved_at),
      resolved_by = coalesce(d.resolved_by, e.resolved_by), version = e.version + 1
    FROM d WHERE e.id = d.id AND NOT d."isNew"
      AND (e.kind, e.content, e.occurred_at, e.status, e.resolution)
        IS DISTINCT FROM (d.kind, d.content, d.occurred_at::timestamptz(3), coalesce(d.status, e.status), coalesce(d.resolution, e.resolution)) RETURNING e.id)
  ${counted('made', 'changed')}`,
);

/** What another event has taken the place of is superseded, whether the document says so or not. $1 the rows of events. */
export const IMPORT_SUPERSEDED = statement(
  'import.superseded',
  `
  UPDATE graph.event e SET status = 'superseded', version = e.version + 1
  FROM jsonb_to_recordset($1::jsonb) AS d(supersedes_id uuid, "isNew" boolean) WHERE d."isNew" AND e.id = d.supersedes_id AND e.status <> 'superseded'`,
);

/** New files. An export tells who made them; otherwise the importer did. */
export const IMPORT_FILES = statement(
  'import.files',
  `
  WITH made AS (
    INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, remote_name, current_remote_hash,
      last_pushed_at, is_native_format, version, created_at, created_by, updated_at, updated_by)
    SELECT id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at, remote_name, current_remote_hash, last_pushed_at, is_native_format,
      coalesce(version, 1), coalesce(created_at, now()), CASE WHEN created_at IS NULL THEN $2::uuid ELSE created_by END,
      coalesce(updated_at, created_at, now()), CASE WHEN updated_at IS NULL THEN $2::uuid ELSE updated_by END
    FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, node_id uuid, path text, path_key text, sha256 text, size_bytes bigint, mime_type text,
      modified_at timestamptz, remote_name text, current_remote_hash text, last_pushed_at timestamptz, is_native_format boolean, version int,
      created_at timestamptz, created_by uuid, updated_at timestamptz, updated_by uuid)
    RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated`,
);

export const IMPORT_ACCESS_REQUESTS = statement(
  'import.access_requests',
  `
  WITH made AS (
    INSERT INTO graph.access_request (id, node_id, user_id, access, reason, state, requested_at, decided_at, decided_by, decision_note)
    SELECT id, node_id, user_id, access, reason, state, requested_at, decided_at, decided_by, decision_note
    FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, node_id uuid, user_id uuid, access text, reason text, state text, requested_at timestamptz,
      decided_at timestamptz, decided_by uuid, decision_note text)
    ON CONFLICT DO NOTHING RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated, $2::uuid AS "by"`,
);

export const IMPORT_AUDIT = statement(
  'import.audit',
  `
  WITH made AS (
    INSERT INTO audit.entry (id, at, user_id, via, action, target_kind, target_id, before, after, request_id)
    SELECT id, at, user_id, via, action, target_kind, target_id, before, after, request_id
    FROM jsonb_to_recordset($1::jsonb) AS d(id uuid, at timestamptz, user_id uuid, via text, action text, target_kind text, target_id uuid,
      before jsonb, after jsonb, request_id text)
    ON CONFLICT DO NOTHING RETURNING id)
  SELECT (SELECT count(*)::int FROM made) AS created, 0 AS updated, $2::uuid AS "by"`,
);
