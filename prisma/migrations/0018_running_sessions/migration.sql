-- What a call of a session names outside its scope, as far as the caller sees it: what is hidden is left to the operation,
-- which does not find it. Answers the home node and the state too; no row for a session that is not the caller's.
DROP FUNCTION session.out_of_scope(uuid, uuid, boolean, text[], uuid[], boolean[]);
CREATE FUNCTION session.out_of_scope(p_session uuid, p_user uuid, p_all boolean, p_kinds text[], p_ids uuid[], p_writes boolean[])
  RETURNS TABLE (home_node_id uuid, state text, node_ids uuid[], is_write boolean) LANGUAGE plpgsql STABLE ROWS 1
  -- Planning it takes ten times as long as carrying it out, and no input deserves a plan of its own.
  SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_home uuid;
  v_state text;
BEGIN
  SELECT s.node_id, s.state INTO v_home, v_state FROM session.session s WHERE s.id = p_session AND s.owner_id = p_user;
  IF NOT FOUND THEN RETURN; END IF;
  -- Most calls name nodes that the session holds, or none: who sees them does not matter then.
  IF NOT EXISTS (
    SELECT FROM unnest(p_kinds, p_ids, p_writes) AS k(kind, id, writes)
    WHERE k.kind <> 'node' OR NOT EXISTS (
      SELECT FROM session.scope c WHERE c.session_id = p_session AND c.node_id = k.id
        AND c.review IS DISTINCT FROM 'rejected' AND (c.access = 'write' OR NOT k.writes))) THEN
    RETURN QUERY SELECT v_home, v_state, '{}'::uuid[], false;
    RETURN;
  END IF;
  RETURN QUERY
  SELECT v_home, v_state, coalesce(array_agg(DISTINCT t.node_id), '{}'), coalesce(bool_or(t.writes), false)
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
