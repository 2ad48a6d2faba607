-- The scope of a session limits what its agent reads and changes, and what it changes points back to it.

ALTER TABLE session.scope
  -- What a person made of a node that the agent brought in. A rejected one is out of reach, and stays so.
  ADD COLUMN review text CHECK (review IN ('accepted', 'rejected')),
  ADD COLUMN reviewed_by uuid REFERENCES identity."user" (id),
  ADD COLUMN reviewed_at timestamptz(3),
  ADD CONSTRAINT scope_review CHECK ((review IS NULL) = (reviewed_at IS NULL));
CREATE INDEX scope_unreviewed_idx ON session.scope (added_at DESC, node_id) WHERE added_via = 'disconnected' AND review IS NULL;
CREATE INDEX scope_taken_idx ON session.scope (node_id, added_at DESC, session_id DESC) WHERE access = 'write';
CREATE INDEX scope_written_idx ON session.scope (added_at DESC, node_id) WHERE access = 'write' AND added_via <> 'seed';

-- In the order in which the overview has the open sessions of a person.
CREATE INDEX session_own_open_idx ON session.session (owner_id, (waiting_since IS NULL), (state = 'suspended'), last_activity_at DESC, id DESC)
  WHERE state IN ('running', 'suspended');

CREATE INDEX run_terminal_idx ON session.run (terminal_id) WHERE terminal_id IS NOT NULL AND ended_at IS NULL;

ALTER TABLE audit.entry
  -- No foreign key: an entry outlives the session.
  ADD COLUMN session_id uuid,
  -- The event of its log that tells of the call.
  ADD COLUMN session_seq integer;
CREATE INDEX entry_session_idx ON audit.entry (session_id, session_seq DESC NULLS LAST, at DESC, id DESC) WHERE session_id IS NOT NULL;
CREATE OR REPLACE VIEW audit.trail AS
  SELECT e.id, e.at, e.user_id, e.via, e.action, e.target_kind, e.target_id, e.before, e.after, e.request_id, e.xid, e.session_id, e.session_seq
  FROM audit.entry e;

-- ---------------------------------------------------------------- published

-- The nodes to which something belongs, hidden or not. `any`: a node itself, or the node of an event.
CREATE FUNCTION graph.nodes_of(p_kind text, p_id uuid) RETURNS SETOF uuid LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  CASE p_kind
    WHEN 'node' THEN RETURN NEXT p_id;
    WHEN 'event' THEN RETURN QUERY SELECT e.node_id FROM graph.event e WHERE e.id = p_id;
    WHEN 'any' THEN RETURN QUERY SELECT p_id UNION ALL SELECT e.node_id FROM graph.event e WHERE e.id = p_id;
    WHEN 'edge' THEN RETURN QUERY SELECT n.id FROM graph.edge e, unnest(ARRAY[e.source_id, e.target_id]) AS n(id) WHERE e.id = p_id;
    WHEN 'responsibility' THEN RETURN QUERY SELECT r.node_id FROM graph.responsibility r WHERE r.id = p_id;
    WHEN 'link' THEN RETURN QUERY SELECT l.node_id FROM graph.link l WHERE l.id = p_id;
    WHEN 'access_request' THEN RETURN QUERY SELECT r.node_id FROM graph.access_request r WHERE r.id = p_id;
    WHEN 'actor' THEN RETURN QUERY
      SELECT n.id FROM graph.node n WHERE n.owner_id = p_id
      UNION SELECT r.node_id FROM graph.responsibility_assignee a JOIN graph.responsibility r ON r.id = a.responsibility_id WHERE a.actor_id = p_id;
    ELSE RETURN;
  END CASE;
END $$;

-- Whether edges lead from a node to one of others, through nodes that the caller may see. Looks at some thousand nodes, the
-- nearest first: what is further away counts as not joined.
CREATE FUNCTION graph.is_joined(p_user uuid, p_all boolean, p_node uuid, p_others uuid[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  c_most CONSTANT integer := 5000;
  v_known uuid[] := ARRAY[p_node];
  v_rim uuid[] := ARRAY[p_node];
BEGIN
  IF p_node = ANY (p_others) THEN RETURN true; END IF;
  WHILE cardinality(v_rim) > 0 AND cardinality(v_known) < c_most LOOP
    IF EXISTS (SELECT FROM graph.edge e WHERE e.source_id = ANY (v_rim) AND e.target_id = ANY (p_others))
      OR EXISTS (SELECT FROM graph.edge e WHERE e.target_id = ANY (v_rim) AND e.source_id = ANY (p_others)) THEN RETURN true; END IF;
    v_rim := ARRAY(
      SELECT v.id FROM graph.visible_node(p_user, p_all) v
      WHERE v.id IN (SELECT e.target_id FROM graph.edge e WHERE e.source_id = ANY (v_rim) UNION SELECT e.source_id FROM graph.edge e WHERE e.target_id = ANY (v_rim))
        AND NOT EXISTS (SELECT FROM unnest(v_known) AS k(id) WHERE k.id = v.id)
      LIMIT c_most);
    v_known := v_known || v_rim;
  END LOOP;
  RETURN false;
END $$;

CREATE FUNCTION file.nodes_of(p_file uuid) RETURNS SETOF uuid LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT r.node_id FROM file.record r WHERE r.id = p_file
$$;

-- The nodes that a session holds, seen by its owner or not.
CREATE FUNCTION session.scope_nodes(p_session uuid) RETURNS SETOF uuid LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT c.node_id FROM session.scope c WHERE c.session_id = p_session AND c.review IS DISTINCT FROM 'rejected'
$$;

-- Whether a session holds a node; what is called for no session may reach every node.
CREATE FUNCTION session.holds(p_session uuid, p_node uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_session IS NULL OR EXISTS (
    SELECT FROM session.scope c WHERE c.session_id = p_session AND c.node_id = p_node AND c.review IS DISTINCT FROM 'rejected')
$$;

-- Whether a session holds all of these nodes for changing them; what is called for no session may change every node.
CREATE FUNCTION session.holds_to_write(p_session uuid, p_nodes uuid[]) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_session IS NULL OR NOT EXISTS (
    SELECT FROM unnest(p_nodes) AS n(id) WHERE NOT EXISTS (
      SELECT FROM session.scope c WHERE c.session_id = p_session AND c.node_id = n.id AND c.access = 'write' AND c.review IS DISTINCT FROM 'rejected'))
$$;

-- What a call of a session names outside its scope, as far as the caller sees it: what is hidden is left to the operation,
-- which does not find it. Answers the home node too; no row for a session that is not the caller's.
CREATE FUNCTION session.out_of_scope(p_session uuid, p_user uuid, p_all boolean, p_kinds text[], p_ids uuid[], p_writes boolean[])
  RETURNS TABLE (home_node_id uuid, node_ids uuid[], is_write boolean) LANGUAGE plpgsql STABLE ROWS 1
  -- Planning it takes ten times as long as carrying it out, and no input deserves a plan of its own.
  SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_home uuid;
BEGIN
  SELECT s.node_id INTO v_home FROM session.session s WHERE s.id = p_session AND s.owner_id = p_user;
  IF NOT FOUND THEN RETURN; END IF;
  -- Most calls name nodes that the session holds, or none: who sees them does not matter then.
  IF NOT EXISTS (
    SELECT FROM unnest(p_kinds, p_ids, p_writes) AS k(kind, id, writes)
    WHERE k.kind <> 'node' OR NOT EXISTS (
      SELECT FROM session.scope c WHERE c.session_id = p_session AND c.node_id = k.id
        AND c.review IS DISTINCT FROM 'rejected' AND (c.access = 'write' OR NOT k.writes))) THEN
    RETURN QUERY SELECT v_home, '{}'::uuid[], false;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT v_home, coalesce(array_agg(DISTINCT t.node_id), '{}'), coalesce(bool_or(t.writes), false)
  FROM (
    SELECT n.node_id, k.writes, k.kind, v.is_seen, bool_and(v.is_seen) OVER (PARTITION BY k.place) AS is_all_seen
    FROM unnest(p_kinds, p_ids, p_writes) WITH ORDINALITY AS k(kind, id, writes, place)
    CROSS JOIN LATERAL (
      SELECT o.node_id FROM session.session o WHERE k.kind = 'session' AND o.id = k.id AND o.id <> p_session AND o.node_id IS NOT NULL
      UNION ALL SELECT f FROM file.nodes_of(k.id) f WHERE k.kind IN ('file', 'any')
      UNION ALL SELECT g FROM graph.nodes_of(k.kind, k.id) g WHERE k.kind NOT IN ('session', 'file')) AS n(node_id)
    CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM graph.visible_node(p_user, p_all) x WHERE x.id = n.node_id) AS is_seen) v
  ) t
  -- An edge is there for those who see both of its ends.
  WHERE t.is_seen AND (t.is_all_seen OR t.kind <> 'edge') AND NOT EXISTS (
    SELECT FROM session.scope c WHERE c.session_id = p_session AND c.node_id = t.node_id
      AND c.review IS DISTINCT FROM 'rejected' AND (c.access = 'write' OR NOT t.writes));
END $$;

-- Enters a change into the log of the session that made it, and the nodes that it made into the write scope. Answers the
-- seq of the change and the last one; no row when the session is gone, as after the purge of its node.
CREATE FUNCTION session.record_change(p_session uuid, p_event uuid, p_call text, p_operation text, p_title text, p_created uuid[], p_scope_event uuid)
  RETURNS TABLE (seq integer, last_seq integer) LANGUAGE plpgsql ROWS 1 AS $$
DECLARE
  v_more CONSTANT integer := (cardinality(p_created) > 0)::integer;
  v_last integer;
  v_run uuid;
BEGIN
  IF p_session IS NULL THEN RETURN; END IF;
  UPDATE session.session s SET last_seq = s.last_seq + 1 + v_more,
    last_activity_at = CASE WHEN s.state IN ('running', 'suspended') AND s.last_activity_at < now() - interval '5 seconds' THEN now() ELSE s.last_activity_at END
  WHERE s.id = p_session RETURNING s.last_seq, s.live_run_id INTO v_last, v_run;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO session.event (session_id, seq, id, run_id, kind, payload) VALUES (p_session, v_last - v_more, p_event, v_run, 'tool_call',
    json_build_object('call_id', p_call, 'phase', 'completed', 'title', p_title, 'tool_kind', p_operation));
  IF v_more > 0 THEN
    INSERT INTO session.scope (session_id, node_id, access, added_via) SELECT p_session, c.id, 'write', 'write' FROM unnest(p_created) AS c(id);
    INSERT INTO session.event (session_id, seq, id, run_id, kind, payload) VALUES (p_session, v_last, p_scope_event, v_run, 'scope_changed',
      json_build_object('node_ids', p_created, 'access', 'write', 'added_via', 'write'));
  END IF;
  RETURN QUERY SELECT v_last - v_more, v_last;
END $$;

-- Open sessions that the caller sees, at most so many: own ones first, of them what waits for an answer, then what runs.
CREATE FUNCTION session.open_session(p_user uuid, p_all boolean, p_most integer)
  RETURNS TABLE (id uuid, name text, state text, node_id uuid, is_own boolean, is_live boolean, waiting_since timestamptz, last_activity_at timestamptz, place bigint)
  LANGUAGE sql STABLE AS $$
  SELECT o.id, o.name, o.state, o.node_id, o.is_own, o.live_run_id IS NOT NULL, o.waiting_since, o.last_activity_at,
    row_number() OVER (ORDER BY NOT o.is_own, o.is_own AND o.waiting_since IS NULL, o.is_own AND o.state = 'suspended', o.last_activity_at DESC, o.id DESC)
  FROM (
    (SELECT s.*, true AS is_own FROM session.session s
     WHERE s.owner_id = p_user AND s.state IN ('running', 'suspended')
       AND (s.node_id IS NULL OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
     ORDER BY s.waiting_since IS NULL, s.state = 'suspended', s.last_activity_at DESC, s.id DESC LIMIT p_most)
    UNION ALL
    (SELECT s.*, false FROM session.session s
     WHERE s.owner_id <> p_user AND s.state IN ('running', 'suspended') AND EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id)
     ORDER BY s.last_activity_at DESC, s.id DESC LIMIT p_most)
  ) o
  ORDER BY 9 LIMIT p_most
$$;

-- Nodes that no edge joins to the rest of their session and that wait for somebody to look at them, of open sessions that the
-- caller may review, at most so many.
CREATE FUNCTION session.unreviewed(p_user uuid, p_all boolean, p_most integer)
  RETURNS TABLE (session_id uuid, session_name text, node_id uuid, access text, reason text, added_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT s.id, s.name, c.node_id, c.access, c.reason, c.added_at
  FROM session.scope c JOIN session.session s ON s.id = c.session_id
  WHERE c.added_via = 'disconnected' AND c.review IS NULL AND s.state IN ('running', 'suspended') AND (s.owner_id = p_user OR p_all)
    AND (s.node_id IS NULL AND s.owner_id = p_user OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
    AND EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = c.node_id)
  ORDER BY c.added_at DESC, c.node_id, s.id LIMIT p_most
$$;

-- Nodes that joined the write scope of a session that the caller sees, the last ones, at most so many.
CREATE FUNCTION session.recent_write(p_user uuid, p_all boolean, p_most integer)
  RETURNS TABLE (session_id uuid, session_name text, node_id uuid, added_via text, added_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT s.id, s.name, c.node_id, c.added_via, c.added_at
  FROM session.scope c JOIN session.session s ON s.id = c.session_id
  WHERE c.access = 'write' AND c.added_via <> 'seed' AND c.review IS DISTINCT FROM 'rejected'
    AND (s.node_id IS NULL AND s.owner_id = p_user OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
    AND EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = c.node_id)
  ORDER BY c.added_at DESC, c.node_id, s.id LIMIT p_most
$$;

-- The sessions that the caller sees, but for one, and that took up a node to change it last; at most so many.
CREATE FUNCTION session.recent_of_node(p_user uuid, p_all boolean, p_node uuid, p_but uuid, p_most integer)
  RETURNS TABLE (id uuid, name text, state text, handoff_title text, last_activity_at timestamptz, place bigint) LANGUAGE sql STABLE AS $$
  SELECT s.id, s.name, s.state, s.handoff_title, s.last_activity_at, row_number() OVER (ORDER BY c.added_at DESC, s.id DESC)
  FROM session.scope c JOIN session.session s ON s.id = c.session_id
  WHERE c.node_id = p_node AND c.access = 'write' AND c.review IS DISTINCT FROM 'rejected' AND s.id IS DISTINCT FROM p_but
    AND (s.node_id IS NULL AND s.owner_id = p_user OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
  ORDER BY c.added_at DESC, s.id DESC LIMIT p_most
$$;

-- A session that the caller sees.
CREATE FUNCTION session.seen_session(p_user uuid, p_all boolean, p_session uuid)
  RETURNS TABLE (name text, node_id uuid, is_own boolean) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT s.name, s.node_id, s.owner_id = p_user FROM session.session s
  WHERE s.id = p_session AND (s.node_id IS NULL AND s.owner_id = p_user OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
$$;
