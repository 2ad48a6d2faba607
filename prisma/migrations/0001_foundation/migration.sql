-- The ground: identity, graph with materialised access, audit trail and outbox.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE SCHEMA IF NOT EXISTS identity;
CREATE SCHEMA IF NOT EXISTS graph;
CREATE SCHEMA IF NOT EXISTS audit;
CREATE SCHEMA IF NOT EXISTS outbox;

-- ---------------------------------------------------------------- functions without tables

-- Folds case and diacritics for search. Immutable, so that generated columns and indexes may use it.
CREATE FUNCTION graph.fold(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT replace(replace(replace(replace(
    translate(lower(regexp_replace(normalize(value, NFKD), U&'[\0300-\036F]', '', 'g') COLLATE "und-x-icu"), 'łøđħŧıðþ', 'lodhtidt'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'ŋ', 'ng')
$$;

-- The product's wire form of a time: UTC, milliseconds, Z.
CREATE FUNCTION graph.iso(value timestamptz) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT to_char(value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Not STRICT, so that the check of each write is planned into it.
CREATE FUNCTION graph.lifecycle_fits(type text, lifecycle text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE type
    WHEN 'organization' THEN lifecycle IN ('active', 'inactive', 'archived')
    WHEN 'project' THEN lifecycle IN ('backlog', 'planned', 'in_progress', 'on_hold', 'done', 'cancelled')
    WHEN 'process' THEN lifecycle IN ('not_implemented', 'implementing', 'operating', 'at_risk', 'broken', 'retired')
    WHEN 'area' THEN lifecycle IN ('active', 'needs_attention', 'inactive', 'archived')
    WHEN 'principle' THEN lifecycle IN ('active', 'archived')
    ELSE false END
$$;

-- ---------------------------------------------------------------- identity

CREATE TABLE identity."user" (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  name_folded text NOT NULL GENERATED ALWAYS AS (graph.fold(name)) STORED,
  external_id text UNIQUE,
  max_scope text NOT NULL CHECK (max_scope IN ('read', 'write', 'manage')),
  -- What the identity provider allowed at the last sign-in; null for users without a provider.
  claim_scope text CHECK (claim_scope IN ('read', 'write', 'manage')),
  -- When the provider issued what was applied last; what it issued before does not come back.
  claimed_at timestamptz(3),
  disabled_at timestamptz(3),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX user_name_idx ON identity."user" (name_folded, id);

CREATE TABLE identity.user_group (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  name_folded text NOT NULL GENERATED ALWAYS AS (graph.fold(name)) STORED,
  claim text UNIQUE,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX user_group_name_key ON identity.user_group (name_folded);

CREATE TABLE identity.membership (
  group_id uuid NOT NULL REFERENCES identity.user_group (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES identity."user" (id) ON DELETE CASCADE,
  source text NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'claim')),
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX membership_user_idx ON identity.membership (user_id, group_id);

CREATE TABLE identity.token (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('personal', 'device')),
  label text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('read', 'write', 'manage')),
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  secret_sha256 bytea NOT NULL UNIQUE CHECK (octet_length(secret_sha256) = 32),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX token_user_idx ON identity.token (user_id, id DESC);

-- The one-time making of the first administrator.
CREATE TABLE identity.bootstrap (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  done_at timestamptz(3) NOT NULL DEFAULT now()
);

-- ---------------------------------------------------------------- actors and nodes

CREATE TABLE graph.actor (
  id uuid PRIMARY KEY,
  type text NOT NULL CHECK (type IN ('person', 'automation')),
  name text NOT NULL CHECK (name <> ''),
  name_folded text NOT NULL GENERATED ALWAYS AS (graph.fold(name)) STORED,
  user_id uuid UNIQUE REFERENCES identity."user" (id),
  import_key text UNIQUE,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (type = 'person' OR user_id IS NULL)
);
CREATE INDEX actor_name_idx ON graph.actor (name_folded, id);

-- One combination of restricting nodes ("gates"): a caller must be allowed by every one of them.
CREATE TABLE graph.access_set (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  gates uuid[] NOT NULL CHECK (cardinality(gates) > 0),
  gate_count integer NOT NULL GENERATED ALWAYS AS (cardinality(gates)) STORED,
  gates_md5 text NOT NULL UNIQUE
);

CREATE TABLE graph.node (
  id uuid PRIMARY KEY,
  type text NOT NULL CHECK (type IN ('organization', 'project', 'process', 'area', 'principle')),
  name text NOT NULL CHECK (name <> ''),
  name_folded text NOT NULL GENERATED ALWAYS AS (graph.fold(name)) STORED,
  description text NOT NULL DEFAULT '',
  goal text NOT NULL DEFAULT '',
  lifecycle text NOT NULL,
  lifecycle_before_archive text,
  status text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN lifecycle = 'done' THEN 'completed'
    WHEN lifecycle IN ('archived', 'retired', 'cancelled', 'inactive') THEN 'archived'
    ELSE 'active' END) STORED,
  health text CHECK (health IN ('on_track', 'at_risk', 'off_track')),
  health_note text,
  health_by uuid REFERENCES identity."user" (id),
  health_at timestamptz(3),
  organization_id uuid REFERENCES graph.node (id) DEFERRABLE INITIALLY DEFERRED,
  owner_id uuid REFERENCES graph.actor (id),
  sync_key text NOT NULL CHECK (sync_key ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  -- Own sharing; null inherits.
  visibility text CHECK (visibility IN ('everyone', 'private', 'group')),
  -- Materialised effective access; null is open to everyone. Written by graph.refresh_access alone.
  access_set_id integer REFERENCES graph.access_set (id),
  import_key text UNIQUE,
  created_by uuid REFERENCES identity."user" (id),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  search tsvector NOT NULL GENERATED ALWAYS AS (
    setweight(to_tsvector('simple', graph.fold(name)), 'A') ||
    setweight(to_tsvector('simple', graph.fold(goal)), 'B') ||
    setweight(to_tsvector('simple', graph.fold(description)), 'C')) STORED,
  UNIQUE (id, type),
  CONSTRAINT node_lifecycle_fits CHECK (graph.lifecycle_fits(type, lifecycle)),
  CONSTRAINT node_health_of_projects CHECK ((type = 'project') = (health IS NOT NULL)),
  CONSTRAINT node_has_organization CHECK ((type = 'organization') = (organization_id IS NULL))
);
CREATE UNIQUE INDEX node_sync_key ON graph.node (coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), type, sync_key);
CREATE INDEX node_name_idx ON graph.node (name_folded, id);
CREATE INDEX node_name_trgm_idx ON graph.node USING gin (name_folded gin_trgm_ops);
CREATE INDEX node_search_idx ON graph.node USING gin (search);
CREATE INDEX node_created_idx ON graph.node (created_at DESC, id DESC);
CREATE INDEX node_updated_idx ON graph.node (updated_at DESC, id DESC);
CREATE INDEX node_organization_idx ON graph.node (organization_id, name_folded, id);
-- The first members of each type, however large the organization is.
CREATE INDEX node_organization_type_idx ON graph.node (organization_id, type, name_folded, id);
CREATE INDEX node_owner_idx ON graph.node (owner_id, name_folded, id) WHERE owner_id IS NOT NULL;
CREATE INDEX node_type_idx ON graph.node (type, name_folded, id);
CREATE INDEX node_attention_idx ON graph.node (type, updated_at DESC, id DESC)
  WHERE lifecycle IN ('at_risk', 'broken', 'needs_attention') OR health IN ('at_risk', 'off_track');
CREATE INDEX node_access_set_idx ON graph.node (access_set_id) WHERE access_set_id IS NOT NULL;
CREATE INDEX node_gate_idx ON graph.node (id) WHERE visibility IN ('private', 'group');

CREATE FUNCTION graph.node_identity_is_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.type <> OLD.type OR NEW.sync_key <> OLD.sync_key OR NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'id, type and sync_key of a node never change' USING ERRCODE = 'WG001', CONSTRAINT = 'node_identity_is_fixed';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER node_identity_is_fixed BEFORE UPDATE OF id, type, sync_key ON graph.node
  FOR EACH ROW EXECUTE FUNCTION graph.node_identity_is_fixed();

-- ---------------------------------------------------------------- edges

CREATE TABLE graph.edge (
  id uuid PRIMARY KEY,
  source_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  target_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  relation text NOT NULL CHECK (relation IN ('belongs_to', 'related_to', 'applies', 'informed_by')),
  created_by uuid REFERENCES identity."user" (id),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT edge_key UNIQUE (source_id, relation, target_id),
  CONSTRAINT edge_no_self_loop CHECK (source_id <> target_id)
);
CREATE INDEX edge_target_idx ON graph.edge (target_id, relation, source_id);

-- Every non-organization belongs to exactly one organization, the one it names; an organization belongs to nothing.
CREATE FUNCTION graph.check_organization(p_node uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_node graph.node;
  v_organizations uuid[];
BEGIN
  SELECT * INTO v_node FROM graph.node WHERE id = p_node;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT coalesce(array_agg(t.id), '{}') INTO v_organizations
    FROM graph.edge e JOIN graph.node t ON t.id = e.target_id
    WHERE e.source_id = p_node AND e.relation = 'belongs_to' AND (t.type = 'organization' OR v_node.type = 'organization');
  IF v_node.type = 'organization' AND v_organizations <> '{}' THEN
    RAISE EXCEPTION 'an organization belongs to nothing' USING ERRCODE = 'WG002', CONSTRAINT = 'organization_invariant';
  ELSIF v_node.type <> 'organization' AND v_organizations <> ARRAY[v_node.organization_id] THEN
    RAISE EXCEPTION 'a node belongs to exactly one organization' USING ERRCODE = 'WG002', CONSTRAINT = 'organization_invariant';
  END IF;
END $$;

CREATE FUNCTION graph.edge_organization_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM graph.check_organization(OLD.source_id); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM graph.check_organization(NEW.source_id); END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER edge_organization_deleted AFTER DELETE ON graph.edge
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.relation = 'belongs_to')
  EXECUTE FUNCTION graph.edge_organization_check();
CREATE CONSTRAINT TRIGGER edge_organization_written AFTER INSERT OR UPDATE ON graph.edge
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.relation = 'belongs_to')
  EXECUTE FUNCTION graph.edge_organization_check();

CREATE FUNCTION graph.node_organization_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM graph.check_organization(NEW.id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER node_organization_inserted AFTER INSERT ON graph.node
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION graph.node_organization_check();
CREATE CONSTRAINT TRIGGER node_organization_updated AFTER UPDATE OF organization_id ON graph.node
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION graph.node_organization_check();

-- Serialises everything that moves access, so that two changes never materialise past each other.
CREATE FUNCTION graph.lock_access() RETURNS void LANGUAGE sql VOLATILE AS $$
  SELECT pg_advisory_xact_lock(7301, 1)
$$;

-- Keeps access as it is for a transaction that only takes it over, such as one that adds a node without a setting.
CREATE FUNCTION graph.hold_access() RETURNS void LANGUAGE sql VOLATILE AS $$
  SELECT pg_advisory_xact_lock_shared(7301, 1)
$$;

-- No cycle of belongs_to. Looked at once per statement; the lock closes the gap between two statements.
CREATE FUNCTION graph.edge_no_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM written w JOIN graph.node t ON t.id = w.target_id
    WHERE w.relation = 'belongs_to' AND t.type <> 'organization'
  ) THEN RETURN NULL; END IF;
  PERFORM graph.lock_access();
  IF EXISTS (
    WITH RECURSIVE above(start, at) AS (
      SELECT w.source_id, w.target_id FROM written w WHERE w.relation = 'belongs_to'
      UNION
      SELECT a.start, e.target_id FROM above a
        JOIN graph.edge e ON e.source_id = a.at AND e.relation = 'belongs_to'
        WHERE a.at <> a.start
    ) SELECT FROM above WHERE start = at
  ) THEN
    RAISE EXCEPTION 'belongs_to would make a cycle' USING ERRCODE = 'WG003', CONSTRAINT = 'edge_no_cycle';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER edge_no_cycle_inserted AFTER INSERT ON graph.edge
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION graph.edge_no_cycle();
CREATE TRIGGER edge_no_cycle_updated AFTER UPDATE ON graph.edge
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION graph.edge_no_cycle();

-- ---------------------------------------------------------------- what working nodes carry

CREATE TABLE graph.responsibility (
  id uuid PRIMARY KEY,
  node_id uuid NOT NULL,
  node_type text NOT NULL CHECK (node_type IN ('project', 'process', 'area')),
  position integer NOT NULL CHECK (position >= 0),
  title text NOT NULL CHECK (title <> ''),
  description text NOT NULL DEFAULT '',
  FOREIGN KEY (node_id, node_type) REFERENCES graph.node (id, type) ON DELETE CASCADE,
  CONSTRAINT responsibility_order UNIQUE (node_id, position) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE graph.responsibility_assignee (
  responsibility_id uuid NOT NULL REFERENCES graph.responsibility (id) ON DELETE CASCADE,
  actor_id uuid NOT NULL REFERENCES graph.actor (id),
  position integer NOT NULL,
  PRIMARY KEY (responsibility_id, actor_id)
);
CREATE INDEX responsibility_assignee_actor_idx ON graph.responsibility_assignee (actor_id);

-- Data sources and tools.
CREATE TABLE graph.link (
  id uuid PRIMARY KEY,
  node_id uuid NOT NULL,
  node_type text NOT NULL CHECK (node_type IN ('project', 'process', 'area')),
  kind text NOT NULL CHECK (kind IN ('data_source', 'tool')),
  position integer NOT NULL CHECK (position >= 0),
  name text NOT NULL CHECK (name <> ''),
  url text CHECK (url ~* '^(https?://|mailto:)'),
  FOREIGN KEY (node_id, node_type) REFERENCES graph.node (id, type) ON DELETE CASCADE,
  CONSTRAINT link_order UNIQUE (node_id, kind, position) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE graph.position (
  node_id uuid PRIMARY KEY REFERENCES graph.node (id) ON DELETE CASCADE,
  x real NOT NULL,
  y real NOT NULL
);

-- ---------------------------------------------------------------- events of nodes

CREATE TABLE graph.event (
  id uuid PRIMARY KEY,
  node_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('decision', 'discovery', 'blocker', 'reference', 'milestone', 'note', 'change')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'resolved', 'superseded', 'archived')),
  content text NOT NULL CHECK (content <> ''),
  occurred_at timestamptz(3) NOT NULL,
  logged_at timestamptz(3) NOT NULL DEFAULT now(),
  logged_by uuid REFERENCES identity."user" (id),
  resolution text,
  resolved_at timestamptz(3),
  resolved_by uuid REFERENCES identity."user" (id),
  supersedes_id uuid UNIQUE REFERENCES graph.event (id) DEFERRABLE INITIALLY DEFERRED,
  import_key text UNIQUE,
  version integer NOT NULL DEFAULT 1,
  search tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector('simple', graph.fold(content))) STORED,
  CHECK (supersedes_id <> id)
);
CREATE INDEX event_node_idx ON graph.event (node_id, occurred_at DESC, id DESC);
CREATE INDEX event_recent_idx ON graph.event (occurred_at DESC, id DESC);
CREATE INDEX event_search_idx ON graph.event USING gin (search);

CREATE FUNCTION graph.event_logged_at_is_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.logged_at <> OLD.logged_at OR NEW.node_id <> OLD.node_id THEN
    RAISE EXCEPTION 'logged_at and node of an event never change' USING ERRCODE = 'WG001', CONSTRAINT = 'event_logged_at_is_fixed';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER event_logged_at_is_fixed BEFORE UPDATE OF logged_at, node_id ON graph.event
  FOR EACH ROW EXECUTE FUNCTION graph.event_logged_at_is_fixed();

-- ---------------------------------------------------------------- access

CREATE TABLE graph.share (
  node_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  user_id uuid REFERENCES identity."user" (id) ON DELETE CASCADE,
  group_id uuid REFERENCES identity.user_group (id) ON DELETE CASCADE,
  recipient_id uuid NOT NULL GENERATED ALWAYS AS (coalesce(user_id, group_id)) STORED,
  access text NOT NULL CHECK (access IN ('read', 'write')),
  CONSTRAINT share_one_recipient CHECK (num_nonnulls(user_id, group_id) = 1),
  CONSTRAINT share_key PRIMARY KEY (node_id, recipient_id)
);
CREATE INDEX share_user_idx ON graph.share (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX share_group_idx ON graph.share (group_id) WHERE group_id IS NOT NULL;

CREATE TABLE graph.access_set_gate (
  access_set_id integer NOT NULL REFERENCES graph.access_set (id) ON DELETE CASCADE,
  gate_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  PRIMARY KEY (access_set_id, gate_id)
);
CREATE INDEX access_set_gate_gate_idx ON graph.access_set_gate (gate_id, access_set_id);

-- Who passes a gate: users and groups alike, by id. access: 1 read, 2 write. Written by graph.refresh_grants alone.
CREATE TABLE graph.gate_grant (
  gate_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  principal_id uuid NOT NULL,
  access smallint NOT NULL CHECK (access IN (1, 2)),
  PRIMARY KEY (gate_id, principal_id)
);
CREATE INDEX gate_grant_principal_idx ON graph.gate_grant (principal_id, gate_id, access);

CREATE TABLE graph.access_request (
  id uuid PRIMARY KEY,
  -- No foreign key on purpose: asking for a node that does not exist must look the same as asking for a hidden one.
  node_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  access text NOT NULL CHECK (access IN ('read', 'write')),
  reason text NOT NULL DEFAULT '',
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused', 'withdrawn')),
  requested_at timestamptz(3) NOT NULL DEFAULT now(),
  decided_at timestamptz(3),
  decided_by uuid REFERENCES identity."user" (id),
  decision_note text
);
CREATE UNIQUE INDEX access_request_pending_key ON graph.access_request (user_id, node_id) WHERE state = 'pending';
CREATE INDEX access_request_user_idx ON graph.access_request (user_id, id DESC);
CREATE INDEX access_request_state_idx ON graph.access_request (state, id DESC);
CREATE INDEX access_request_node_idx ON graph.access_request (node_id);

-- Recomputes who passes each of the given gates.
CREATE FUNCTION graph.refresh_grants(p_gates uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH wanted AS MATERIALIZED (
    SELECT gate_id, principal_id, max(access)::smallint AS access FROM (
      SELECT n.id AS gate_id, n.created_by AS principal_id, 2 AS access FROM graph.node n WHERE n.id = ANY (p_gates) AND n.visibility IN ('private', 'group')
      UNION ALL
      SELECT n.id, a.user_id, 2 FROM graph.node n JOIN graph.actor a ON a.id = n.owner_id WHERE n.id = ANY (p_gates) AND n.visibility IN ('private', 'group')
      UNION ALL
      SELECT n.id, s.recipient_id, CASE s.access WHEN 'write' THEN 2 ELSE 1 END
        FROM graph.node n JOIN graph.share s ON s.node_id = n.id WHERE n.id = ANY (p_gates) AND n.visibility = 'group'
    ) g WHERE principal_id IS NOT NULL GROUP BY gate_id, principal_id
  ), gone AS (
    DELETE FROM graph.gate_grant g WHERE g.gate_id = ANY (p_gates)
      AND NOT EXISTS (SELECT FROM wanted w WHERE w.gate_id = g.gate_id AND w.principal_id = g.principal_id)
  )
  INSERT INTO graph.gate_grant AS g (gate_id, principal_id, access) SELECT gate_id, principal_id, access FROM wanted
  ON CONFLICT (gate_id, principal_id) DO UPDATE SET access = excluded.access WHERE g.access <> excluded.access;
END $$;

-- Recomputes the effective access of the given nodes and of everything below them that inherits, in sets; answers how
-- many nodes got another. A transaction that records its effect on access gets them when the recording ends.
-- Rules: docs/adr/004-effective-access.md; the naive model is libs/domain access/effective-access.ts.
CREATE FUNCTION graph.refresh_access(p_nodes uuid[]) RETURNS integer LANGUAGE plpgsql
  -- The work is to grow with the nodes given, not with the graph.
  SET enable_seqscan TO off SET enable_mergejoin TO off SET jit TO off AS $$
DECLARE
  v_nodes uuid[];
  v_sets integer[];
BEGIN
  PERFORM graph.lock_access();
  PERFORM graph.refresh_grants(p_nodes);

  WITH RECURSIVE affected(id) AS (
    SELECT unnest(p_nodes)
    UNION
    SELECT e.source_id FROM affected a
      JOIN graph.edge e ON e.target_id = a.id AND e.relation = 'belongs_to'
      JOIN graph.node n ON n.id = e.source_id AND n.visibility IS NULL
  ),
  -- Upwards from each node that inherits to what has a setting, or to null where there is nothing further up.
  walk(start, at, visibility) AS (
    SELECT n.id, n.id, n.visibility FROM affected a JOIN graph.node n ON n.id = a.id WHERE n.visibility IS NULL AND n.type <> 'organization'
    UNION
    SELECT w.start, p.id, p.visibility FROM walk w LEFT JOIN LATERAL (
      SELECT t.id, t.visibility FROM graph.edge e JOIN graph.node t ON t.id = e.target_id AND t.type <> 'organization'
      WHERE e.source_id = w.at AND e.relation = 'belongs_to'
    ) p ON true WHERE w.at IS NOT NULL AND w.visibility IS NULL
  ),
  met AS (
    SELECT w.start, array_agg(w.at ORDER BY w.at) FILTER (WHERE w.visibility IN ('private', 'group')) AS gates,
      -- Some path reached the top without a setting of its own: what the organization says counts.
      bool_or(w.at IS NULL) AS reached_top
    FROM walk w GROUP BY w.start
  ),
  computed AS MATERIALIZED (
    SELECT c.id, c.access_set_id, c.gates, CASE WHEN c.gates <> '{}' THEN md5(c.gates::text) END AS gates_md5 FROM (
      SELECT n.id, n.access_set_id, CASE
          WHEN n.visibility IN ('private', 'group') THEN ARRAY[n.id]
          WHEN n.visibility = 'everyone' OR n.type = 'organization' THEN '{}'
          WHEN m.gates IS NOT NULL THEN m.gates
          WHEN m.reached_top AND o.visibility IN ('private', 'group') THEN ARRAY[o.id]
          ELSE '{}' END AS gates
      FROM affected a JOIN graph.node n ON n.id = a.id
        LEFT JOIN met m ON m.start = n.id LEFT JOIN graph.node o ON o.id = n.organization_id
    ) c
  ),
  wanted AS MATERIALIZED (
    SELECT c.gates_md5, min(c.gates) AS gates FROM computed c WHERE c.gates_md5 IS NOT NULL GROUP BY c.gates_md5
  ),
  known AS MATERIALIZED (
    SELECT s.id, s.gates_md5 FROM wanted w JOIN graph.access_set s ON s.gates_md5 = w.gates_md5
  ),
  made AS (
    INSERT INTO graph.access_set (gates, gates_md5)
    SELECT w.gates, w.gates_md5 FROM wanted w WHERE NOT EXISTS (SELECT FROM known k WHERE k.gates_md5 = w.gates_md5)
    RETURNING id, gates, gates_md5
  ),
  members AS (
    INSERT INTO graph.access_set_gate (access_set_id, gate_id) SELECT made.id, gate FROM made, unnest(made.gates) gate
  )
  SELECT coalesce(array_agg(c.id), '{}'), coalesce(array_agg(s.id), '{}') INTO v_nodes, v_sets
  FROM computed c LEFT JOIN (SELECT id, gates_md5 FROM known UNION ALL SELECT id, gates_md5 FROM made) s ON s.gates_md5 = c.gates_md5
  WHERE c.access_set_id IS DISTINCT FROM s.id OR graph.is_recording_access();

  IF graph.is_recording_access() THEN
    PERFORM graph.stage_access(v_nodes, v_sets);
  ELSE
    PERFORM graph.write_access(v_nodes, v_sets);
  END IF;
  RETURN cardinality(v_nodes);
END $$;

-- Gives nodes their access sets, and forgets sets that no node has any more.
CREATE FUNCTION graph.write_access(p_nodes uuid[], p_sets integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_before integer[];
BEGIN
  v_before := ARRAY(SELECT DISTINCT n.access_set_id FROM unnest(p_nodes) m(id) JOIN graph.node n ON n.id = m.id WHERE n.access_set_id IS NOT NULL);
  UPDATE graph.node n SET access_set_id = m.access_set_id FROM unnest(p_nodes, p_sets) m(id, access_set_id) WHERE n.id = m.id;
  DELETE FROM graph.access_set s WHERE s.id = ANY (v_before) AND NOT EXISTS (SELECT FROM graph.node n WHERE n.access_set_id = s.id);
END $$;

-- ---------------------------------------------------------------- what a transaction does to access

-- A transaction that previews its effect on access records it: the former state of each grant and membership that it
-- changes, and the access sets that nodes are to get, which they have when the recording ends. The records live in
-- temporary tables of the connection, emptied before each recording.
CREATE FUNCTION graph.is_recording_access() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(current_setting('workspace_graph.record_access', true), '') = 'on'
$$;

CREATE FUNCTION graph.record_access() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM graph.lock_access();
  IF to_regclass('pg_temp.access_log_node') IS NULL THEN
    CREATE TEMP TABLE access_log_node (node_id uuid PRIMARY KEY, set_before integer, set_after integer, created boolean NOT NULL);
    CREATE TEMP TABLE access_log_grant (gate_id uuid, principal_id uuid, access_before smallint, PRIMARY KEY (gate_id, principal_id));
    CREATE TEMP TABLE access_log_member (group_id uuid, user_id uuid, was boolean NOT NULL, PRIMARY KEY (group_id, user_id));
  ELSE
    PERFORM graph.empty_access_record();
  END IF;
  PERFORM set_config('workspace_graph.record_access', 'on', true);
  -- Compiling costs more than these statements, whose temporary tables have no statistics.
  PERFORM set_config('jit', 'off', true);
END $$;

-- Deletes: truncating, as ON COMMIT DELETE ROWS does too, makes the server plan all statements about these tables anew,
-- which takes longer than to run them. Nothing vacuums temporary tables, so that they are truncated when they have grown.
CREATE FUNCTION graph.empty_access_record() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_relation_size('pg_temp.access_log_node') + pg_relation_size('pg_temp.access_log_grant')
    + pg_relation_size('pg_temp.access_log_member') > 128 * 1024 THEN
    TRUNCATE pg_temp.access_log_node, pg_temp.access_log_grant, pg_temp.access_log_member;
  ELSE
    DELETE FROM pg_temp.access_log_node;
    DELETE FROM pg_temp.access_log_grant;
    DELETE FROM pg_temp.access_log_member;
  END IF;
END $$;

CREATE FUNCTION graph.stage_access(p_nodes uuid[], p_sets integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO pg_temp.access_log_node AS l (node_id, set_before, set_after, created)
  SELECT n.id, n.access_set_id, m.access_set_id, false
  FROM unnest(p_nodes, p_sets) m(id, access_set_id) JOIN graph.node n ON n.id = m.id
    LEFT JOIN pg_temp.access_log_node k ON k.node_id = m.id
  WHERE m.access_set_id IS DISTINCT FROM n.access_set_id OR k.node_id IS NOT NULL
  ON CONFLICT (node_id) DO UPDATE SET set_after = excluded.set_after;
END $$;

-- Ends the recording and gives the nodes their access sets; a transaction may begin another one.
CREATE FUNCTION graph.end_access_record() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_nodes uuid[];
  v_sets integer[];
BEGIN
  SELECT array_agg(l.node_id), array_agg(l.set_after) INTO v_nodes, v_sets
  FROM pg_temp.access_log_node l WHERE l.set_after IS DISTINCT FROM l.set_before;
  IF v_nodes IS NOT NULL THEN PERFORM graph.write_access(v_nodes, v_sets); END IF;
  PERFORM set_config('workspace_graph.record_access', 'off', true);
END $$;

CREATE FUNCTION graph.log_grants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT graph.is_recording_access() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO pg_temp.access_log_grant SELECT w.gate_id, w.principal_id, NULL FROM written w ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO pg_temp.access_log_grant SELECT f.gate_id, f.principal_id, f.access FROM former f ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER gate_grant_inserted AFTER INSERT ON graph.gate_grant
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION graph.log_grants();
CREATE TRIGGER gate_grant_updated AFTER UPDATE ON graph.gate_grant
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION graph.log_grants();
CREATE TRIGGER gate_grant_deleted AFTER DELETE ON graph.gate_grant
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION graph.log_grants();

CREATE FUNCTION graph.log_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT graph.is_recording_access() THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO pg_temp.access_log_member SELECT w.group_id, w.user_id, false FROM written w ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO pg_temp.access_log_member SELECT f.group_id, f.user_id, true FROM former f ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER membership_inserted AFTER INSERT ON identity.membership
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION graph.log_members();
CREATE TRIGGER membership_deleted AFTER DELETE ON identity.membership
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION graph.log_members();

-- A node that the transaction makes was nobody's before: nobody gains or loses it.
CREATE FUNCTION graph.log_created_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF graph.is_recording_access() THEN
    INSERT INTO pg_temp.access_log_node SELECT w.id, NULL, NULL, true FROM written w ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER node_created AFTER INSERT ON graph.node
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION graph.log_created_nodes();

-- ---------------------------------------------------------------- who may see what

-- Access sets of which a user passes every gate.
CREATE FUNCTION graph.user_access_set(p_user uuid) RETURNS TABLE (access_set_id integer, access smallint) LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT s.id, min(u.access)
  FROM (
    SELECT g.gate_id, max(g.access) AS access FROM graph.gate_grant g
    WHERE g.principal_id IN (SELECT p_user UNION ALL SELECT m.group_id FROM identity.membership m WHERE m.user_id = p_user)
    GROUP BY g.gate_id
  ) u
  JOIN graph.access_set_gate sg ON sg.gate_id = u.gate_id
  JOIN graph.access_set s ON s.id = sg.access_set_id
  GROUP BY s.id, s.gate_count
  HAVING count(*) = s.gate_count
$$;

-- The published view of nodes: what a caller may see. p_all is true for credentials with `manage`.
-- The sub-select keeps p_all out of planning: one generic plan serves callers who see everything and those who do not.
CREATE FUNCTION graph.visible_node(p_user uuid, p_all boolean) RETURNS SETOF graph.node LANGUAGE sql STABLE AS $$
  SELECT n.* FROM graph.node n
  WHERE n.access_set_id IS NULL OR (SELECT p_all)
     OR n.access_set_id IN (SELECT v.access_set_id FROM graph.user_access_set(p_user) v)
$$;

-- What a caller may do on a node with this access set: 0 nothing, 1 read, 2 write.
-- Not in SQL: what cannot be inlined would be planned for each statement that calls it.
CREATE FUNCTION graph.access_level(p_access_set integer, p_user uuid, p_all boolean) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_all OR p_access_set IS NULL THEN RETURN 2; END IF;
  RETURN coalesce((
    SELECT CASE WHEN count(u.access) = count(*) THEN min(u.access) END
    FROM graph.access_set_gate sg
    LEFT JOIN LATERAL (
      SELECT max(g.access) AS access FROM graph.gate_grant g
      WHERE g.gate_id = sg.gate_id AND g.principal_id IN (SELECT p_user UNION ALL SELECT m.group_id FROM identity.membership m WHERE m.user_id = p_user)
    ) u ON true
    WHERE sg.access_set_id = p_access_set), 0);
END $$;

-- ---------------------------------------------------------------- audit trail

CREATE TABLE audit.entry (
  id uuid PRIMARY KEY,
  at timestamptz(3) NOT NULL DEFAULT now(),
  user_id uuid REFERENCES identity."user" (id),
  via text NOT NULL CHECK (via IN ('rest', 'ws', 'mcp', 'runner', 'sync', 'system')),
  action text NOT NULL,
  target_kind text NOT NULL,
  target_id uuid,
  before jsonb,
  after jsonb,
  request_id text NOT NULL,
  -- The writing transaction: tells a reader with a snapshot whether anything has happened since.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX entry_at_idx ON audit.entry (at DESC, id DESC);
CREATE INDEX entry_target_idx ON audit.entry (target_id, at DESC, id DESC);
CREATE INDEX entry_user_idx ON audit.entry (user_id, at DESC, id DESC);
CREATE INDEX entry_action_idx ON audit.entry (action, at DESC, id DESC);
-- For the question whether the drawn graph has changed; logging, the most frequent change, does not touch it.
CREATE INDEX entry_xid_idx ON audit.entry (xid) WHERE action <> 'log';

CREATE FUNCTION audit.entry_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'WG004', CONSTRAINT = 'audit_is_append_only';
END $$;
CREATE TRIGGER entry_is_final BEFORE UPDATE OR DELETE ON audit.entry FOR EACH ROW EXECUTE FUNCTION audit.entry_is_final();

-- ---------------------------------------------------------------- outbox

CREATE TABLE outbox.event (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX event_created_idx ON outbox.event (created_at, id);

CREATE FUNCTION outbox.tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('outbox', '');
  RETURN NULL;
END $$;
CREATE TRIGGER event_tell AFTER INSERT ON outbox.event FOR EACH STATEMENT EXECUTE FUNCTION outbox.tell();

-- Commands that were carried out, so that a repeated call answers the same instead of acting twice.
CREATE TABLE outbox.applied_call (
  call_id text PRIMARY KEY,
  operation text NOT NULL,
  -- Of operation, user, reach and input: only the very same request gets the reply.
  request_sha256 bytea NOT NULL,
  reply jsonb,
  applied_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX applied_call_at_idx ON outbox.applied_call (applied_at);

-- Parts of an import document on their way.
CREATE TABLE graph.import_part (
  upload_id uuid NOT NULL,
  index integer NOT NULL,
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  data bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (upload_id, index)
);
CREATE INDEX import_part_age_idx ON graph.import_part (created_at);
