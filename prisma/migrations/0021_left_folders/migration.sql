-- Folders that nodes have left, as they were purged or went to another organization. What lay there on remotes stays, also what
-- no record knows, so no other node gets the key of such a folder.
CREATE TABLE file.left_folder (
  -- Without foreign keys: it outlives nodes. Zero for an organization.
  organization_id uuid,
  node_type text CHECK (node_type IN ('organization', 'project', 'process', 'area', 'principle')),
  sync_key text,
  -- The first one that left it, which may come back.
  node_id uuid NOT NULL,
  PRIMARY KEY (organization_id, node_type, sync_key)
);

-- Whether folders are left behind: without a remote, nothing lies in any.
CREATE FUNCTION file.leaves_folders() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM file.remote)
$$;

-- Whether a node other than this one has left the folder. The organization of an organization is null.
CREATE FUNCTION file.was_folder_of_other(p_node uuid, p_organization uuid, p_type text, p_key text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM file.left_folder f
    WHERE f.organization_id = coalesce(p_organization, '00000000-0000-0000-0000-000000000000') AND f.node_type = p_type
      AND f.sync_key = p_key AND f.node_id <> p_node)
$$;

CREATE FUNCTION file.note_left_folder() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF file.leaves_folders() THEN
    INSERT INTO file.left_folder (organization_id, node_type, sync_key, node_id)
    VALUES (coalesce(OLD.organization_id, '00000000-0000-0000-0000-000000000000'), OLD.type, OLD.sync_key, OLD.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER folder_of_purged_is_noted AFTER DELETE ON graph.node
  FOR EACH ROW EXECUTE FUNCTION file.note_left_folder();
CREATE TRIGGER folder_of_moved_is_noted AFTER UPDATE OF organization_id ON graph.node
  FOR EACH ROW WHEN (OLD.organization_id IS DISTINCT FROM NEW.organization_id) EXECUTE FUNCTION file.note_left_folder();

-- Those that were left before, as the audit trail has them.
WITH node AS (
  SELECT n.id, n.type, n.sync_key FROM graph.node n
  UNION
  SELECT e.target_id, e.before ->> 'type', e.before ->> 'sync_key' FROM audit.entry e WHERE e.action = 'purge_node'
)
INSERT INTO file.left_folder (organization_id, node_type, sync_key, node_id)
SELECT coalesce((e.before ->> 'organization_id')::uuid, '00000000-0000-0000-0000-000000000000'), node.type, node.sync_key, node.id
FROM audit.entry e JOIN node ON node.id = e.target_id
WHERE file.leaves_folders() AND e.action IN ('purge_node', 'move_node') AND e.target_kind = 'node'
  AND node.type IS NOT NULL AND node.sync_key IS NOT NULL
ORDER BY e.at, e.id
ON CONFLICT DO NOTHING;
