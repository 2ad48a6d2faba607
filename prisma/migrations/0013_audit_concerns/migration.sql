-- What concerns a node: the lines of the audit trail about it, and about all that hangs on it.

-- No foreign keys: an entry is never removed, and outlives the nodes that it concerns, as it outlives its target.
CREATE TABLE audit.concern (
  node_id uuid NOT NULL,
  -- That of the entry.
  at timestamptz(3) NOT NULL,
  entry_id uuid NOT NULL,
  about text NOT NULL CHECK (about IN ('node', 'responsibility', 'link', 'edge', 'event', 'file', 'session', 'access')),
  -- In the order in which the history of a node is read; the rest, so that it is filtered without reading the table.
  PRIMARY KEY (node_id, at, entry_id) INCLUDE (about)
);
CREATE TRIGGER concern_is_final BEFORE UPDATE OR DELETE ON audit.concern FOR EACH ROW EXECUTE FUNCTION audit.entry_is_final();

-- What an entry is about for one of the nodes that it concerns. A change of another node concerns this one by an edge.
CREATE FUNCTION audit.about(p_action text, p_kind text, p_is_target boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN p_kind IN ('data_source', 'tool') THEN 'link'
    WHEN p_kind = 'access_request' THEN 'access'
    WHEN p_kind <> 'node' THEN p_kind
    WHEN NOT p_is_target THEN 'edge'
    WHEN p_action IN ('set_access', 'approve_access_request') THEN 'access'
    WHEN p_action = 'reorder_responsibilities' THEN 'responsibility'
    ELSE 'node' END
$$;

CREATE VIEW audit.node_trail AS
  SELECT c.node_id, c.about, c.at, c.entry_id AS id, e.user_id, e.via, e.action, e.target_kind, e.target_id, e.before, e.after, e.request_id,
    e.xid, e.session_id, e.session_seq
  FROM audit.concern c JOIN audit.entry e ON e.id = c.entry_id;

-- What sessions are called, for what names them by their ids; whoever answers it says who may read it.
CREATE VIEW session.named_session AS SELECT s.id, s.name FROM session.session s;

-- ---------------------------------------------------------------- entries that were written without it

-- What a document or an old version has written is looked at before it is taken for an id.
CREATE FUNCTION audit.id_in(p_text text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_text ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN p_text::uuid END
$$;

-- The ids in a list that a field of an entry holds; none of anything else.
CREATE FUNCTION audit.ids_in(p_list jsonb) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5 AS $$
  SELECT audit.id_in(x.value) FROM jsonb_array_elements_text(CASE WHEN jsonb_typeof(p_list) = 'array' THEN p_list ELSE '[]' END) AS x(value)
$$;

-- Works out which nodes entries concern, as far as they and the present records tell; null stands for all entries. Whoever
-- changes something says it with the change: this is for entries that come from elsewhere. Reads the trail from end to end
-- and keeps none of it in memory; custom plans, so that few entries are found by their ids.
CREATE FUNCTION audit.record_concerns(p_entries uuid[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  WITH stated AS (
    -- What entries say by themselves.
    SELECT e.id, e.at, e.action, e.target_kind, e.target_id, n.node_id
    FROM audit.entry e CROSS JOIN LATERAL (
      SELECT e.target_id WHERE e.target_kind = 'node'
      UNION ALL SELECT i FROM audit.ids_in(e.after -> 'parent_ids') i WHERE e.target_kind = 'node' AND e.action = 'create_node'
      UNION ALL SELECT i FROM audit.ids_in(e.before -> 'neighbour_ids') i WHERE e.target_kind = 'node' AND e.action = 'purge_node'
      UNION ALL SELECT audit.id_in(f.fields ->> 'organization_id') FROM unnest(ARRAY[e.before, e.after]) f(fields)
        WHERE e.target_kind = 'node' AND e.action IN ('move_node', 'run_import')
      UNION ALL SELECT audit.id_in(f.fields ->> k.key) FROM unnest(ARRAY[e.before, e.after]) f(fields), unnest(ARRAY['source_id', 'target_id']) k(key)
        WHERE e.target_kind = 'edge'
      UNION ALL SELECT audit.id_in(f.fields ->> 'node_id') FROM unnest(ARRAY[e.before, e.after]) f(fields)
        WHERE e.target_kind IN ('responsibility', 'data_source', 'tool', 'event', 'file', 'session', 'access_request')
      UNION ALL SELECT i FROM audit.ids_in(e.after -> 'node_ids') i WHERE e.target_kind = 'session'
    ) n(node_id)
    WHERE (p_entries IS NULL OR e.id = ANY (p_entries)) AND e.target_id IS NOT NULL
  ), silent AS (
    -- Those that may leave out the node that their target is of.
    SELECT e.id, e.at, e.action, e.target_kind, e.target_id FROM audit.entry e
    WHERE (p_entries IS NULL OR e.id = ANY (p_entries)) AND e.target_kind IN ('event', 'file', 'session', 'access_request')
  ), placed AS (
    -- Where entries have put such targets, and what they have taken them away from. Of a session the home alone counts.
    SELECT e.id, e.at, e.target_kind, e.target_id, audit.id_in(coalesce(p.before, p.after)) AS from_id, audit.id_in(coalesce(p.after, p.before)) AS to_id
    FROM audit.entry e CROSS JOIN LATERAL (
      SELECT CASE WHEN e.action <> 'review_scope' THEN e.before ->> 'node_id' END AS before,
        CASE WHEN e.action <> 'review_scope' THEN e.after ->> 'node_id' END AS after) p
    WHERE e.target_kind IN ('event', 'file', 'session', 'access_request')
      AND (p_entries IS NULL OR e.target_id IN (SELECT s.target_id FROM silent s))
  ), course AS (
    -- Where each target was after each of its entries, and where it was at first.
    SELECT p.id, max(p.to_id::text) OVER (PARTITION BY p.target_kind, p.target_id, p.nth)::uuid AS here,
      first_value(p.from_id) OVER (PARTITION BY p.target_kind, p.target_id ORDER BY p.from_id IS NULL, p.at, p.id) AS first
    FROM (
      SELECT p.*, count(p.to_id) OVER (PARTITION BY p.target_kind, p.target_id ORDER BY p.at, p.id) AS nth FROM placed p
    ) p
  ), found AS (
    SELECT s.*, coalesce(c.here, c.first, CASE s.target_kind
      WHEN 'event' THEN (SELECT v.node_id FROM graph.event v WHERE v.id = s.target_id)
      WHEN 'file' THEN (SELECT r.node_id FROM file.record r WHERE r.id = s.target_id)
      WHEN 'session' THEN (SELECT t.node_id FROM session.session t WHERE t.id = s.target_id)
      ELSE (SELECT q.node_id FROM graph.access_request q WHERE q.id = s.target_id) END) AS node_id
    FROM silent s LEFT JOIN course c ON c.id = s.id
  )
  INSERT INTO audit.concern (node_id, at, entry_id, about)
  SELECT n.node_id, n.at, n.id, audit.about(n.action, n.target_kind, n.node_id = n.target_id)
  FROM (SELECT * FROM stated UNION ALL SELECT * FROM found) n WHERE n.node_id IS NOT NULL
  ON CONFLICT DO NOTHING;
END $$;

SELECT audit.record_concerns(NULL);
