-- What the program of an agent is called: by its MCP handshake, else the runner that started it.
CREATE FUNCTION session.agent_of(p_client json, p_runner text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(p_client ->> 'title', p_client ->> 'name', p_runner)
$$;

-- Open sessions that the caller sees, at most so many: own ones first, of them what waits for an answer, then what runs.
DROP FUNCTION session.open_session(uuid, boolean, integer);
CREATE FUNCTION session.open_session(p_user uuid, p_all boolean, p_most integer)
  RETURNS TABLE (id uuid, name text, state text, node_id uuid, is_own boolean, is_live boolean, waiting_since timestamptz, last_activity_at timestamptz, agent text, place bigint)
  LANGUAGE sql STABLE AS $$
  SELECT o.id, o.name, o.state, o.node_id, o.is_own, o.live_run_id IS NOT NULL, o.waiting_since, o.last_activity_at, session.agent_of(o.client, o.runner),
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
  ORDER BY 10 LIMIT p_most
$$;

-- Nodes that joined the write scope of a session that the caller sees, the last ones, at most so many.
DROP FUNCTION session.recent_write(uuid, boolean, integer);
CREATE FUNCTION session.recent_write(p_user uuid, p_all boolean, p_most integer)
  RETURNS TABLE (session_id uuid, session_name text, node_id uuid, added_via text, agent text, added_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT s.id, s.name, c.node_id, c.added_via, session.agent_of(s.client, s.runner), c.added_at
  FROM session.scope c JOIN session.session s ON s.id = c.session_id
  WHERE c.access = 'write' AND c.added_via <> 'seed' AND c.review IS DISTINCT FROM 'rejected'
    AND (s.node_id IS NULL AND s.owner_id = p_user OR EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = s.node_id))
    AND EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = c.node_id)
  ORDER BY c.added_at DESC, c.node_id, s.id LIMIT p_most
$$;

-- How many sessions of a node are not archived.
CREATE FUNCTION session.unarchived_of_node(p_node uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT count(*) FROM session.session s WHERE s.node_id = p_node AND s.state <> 'archived'
$$;
