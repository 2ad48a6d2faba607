-- Where the content of a file really lies on its remote, and what was seen there last: the folder of a node may be another by now.
ALTER TABLE file.record
  ADD COLUMN remote_path text,
  ADD COLUMN remote_revision text,
  ADD CONSTRAINT record_remote_place CHECK (remote_path IS NULL OR remote_name IS NOT NULL);

-- The objects that an operation of the centre itself, which has no device, is about.
ALTER TABLE file.pending_op
  ADD COLUMN from_remote text,
  ADD COLUMN from_object text,
  ADD COLUMN to_remote text,
  ADD COLUMN to_object text;
CREATE INDEX pending_op_centre_idx ON file.pending_op (id) WHERE device_id IS NULL;

CREATE OR REPLACE FUNCTION file.bury_files_of_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file.tombstone (id, file_id, node_id, path, remote_name, remote_path, sha256, reason)
  SELECT gen_random_uuid(), r.id, r.node_id, r.path, r.remote_name,
    coalesce(r.remote_path,
      file.node_folder(OLD.type, OLD.sync_key, (SELECT o.sync_key FROM graph.node o WHERE o.id = OLD.organization_id)) || '/' || r.path),
    r.sha256, 'purged'
  FROM file.record r WHERE r.node_id = OLD.id;
  RETURN OLD;
END $$;

-- Which file an object of a remote is of.
CREATE INDEX record_object_idx ON file.record (remote_name, md5(remote_path)) WHERE remote_path IS NOT NULL;
