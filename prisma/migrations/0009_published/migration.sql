-- What each owner publishes to the others. Views and inlined functions cost nothing: the planner sees through them.

-- ---------------------------------------------------------------- identity

CREATE VIEW identity.known_user AS
  SELECT u.id, u.name, u.name_folded, u.external_id, u.email, u.handle, u.goes_by, u.disabled_at FROM identity."user" u;

CREATE VIEW identity.known_group AS SELECT g.id, g.name, g.name_folded, g.claim FROM identity.user_group g;

CREATE VIEW identity.member AS SELECT m.group_id, m.user_id FROM identity.membership m;

-- ---------------------------------------------------------------- audit trail

CREATE VIEW audit.trail AS
  SELECT e.id, e.at, e.user_id, e.via, e.action, e.target_kind, e.target_id, e.before, e.after, e.request_id, e.xid FROM audit.entry e;

-- ---------------------------------------------------------------- graph

-- Locks visible nodes against other changes of what they carry and against their purge, in the order of their ids, so
-- that two callers never wait for each other. A hidden node is left out before it is locked. level: 1 read, 2 write.
-- Not in SQL: what cannot be inlined would be planned for each statement that calls it.
CREATE FUNCTION graph.lock_nodes(p_user uuid, p_all boolean, p_nodes uuid[])
  RETURNS TABLE (id uuid, type text, sync_key text, organization_sync_key text, level smallint) LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  RETURN QUERY
  SELECT n.id, n.type, n.sync_key, (SELECT o.sync_key FROM graph.node o WHERE o.id = n.organization_id),
    graph.access_level(n.access_set_id, p_user, p_all)
  FROM graph.node n WHERE n.id = ANY (p_nodes) AND EXISTS (SELECT FROM graph.visible_node(p_user, p_all) v WHERE v.id = n.id)
  ORDER BY n.id FOR NO KEY UPDATE OF n;
END $$;

-- Where a node stands, hidden or not: for what has been found by way of the nodes that the caller may see.
CREATE VIEW graph.node_place AS SELECT n.id, n.type, n.name, n.sync_key, n.organization_id, n.access_set_id FROM graph.node n;

-- A node and what an edge joins to it, hidden or not: whoever reads it joins it to the nodes that the caller may see.
CREATE FUNCTION graph.node_and_neighbours(p_node uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT p_node
  UNION SELECT e.target_id FROM graph.edge e WHERE e.source_id = p_node
  UNION SELECT e.source_id FROM graph.edge e WHERE e.target_id = p_node
$$;

-- The nodes whose lists name a group.
CREATE FUNCTION graph.shared_with_group(p_group uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT s.node_id FROM graph.share s WHERE s.group_id = p_group
$$;

-- Removes parts of import documents that nobody will ask for, at most so many; answers how many there were.
CREATE FUNCTION graph.prune_import_parts(p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_count integer;
BEGIN
  DELETE FROM graph.import_part WHERE (upload_id, index) IN (
    SELECT p.upload_id, p.index FROM graph.import_part p WHERE p.created_at < now() - interval '1 hour'
    ORDER BY p.created_at LIMIT p_most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;
