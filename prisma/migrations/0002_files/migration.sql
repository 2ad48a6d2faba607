-- Files: the records of what lies in the folders of nodes. Bytes are never here.

CREATE SCHEMA IF NOT EXISTS file;

CREATE TABLE file.record (
  id uuid PRIMARY KEY,
  node_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  -- Within the node, in NFC: section, subfolders, name.
  path text NOT NULL,
  -- The form in which paths are compared, as pathKey of the domain library makes it.
  path_key text NOT NULL,
  -- Stands for path_key in the index, whose rows have a largest size.
  path_digest uuid NOT NULL GENERATED ALWAYS AS (md5(path_key)::uuid) STORED,
  section text NOT NULL GENERATED ALWAYS AS (split_part(path, '/', 1)) STORED,
  -- Null while nobody has read the content.
  sha256 text CHECK (length(sha256) = 64 AND translate(sha256, '0123456789abcdef', '') = ''),
  size_bytes bigint CHECK (size_bytes >= 0),
  mime_type text NOT NULL CHECK (mime_type <> ''),
  modified_at timestamptz(3),
  remote_name text,
  current_remote_hash text,
  last_pushed_at timestamptz(3),
  is_native_format boolean NOT NULL DEFAULT false,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by uuid REFERENCES identity."user" (id),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by uuid REFERENCES identity."user" (id),
  -- Without patterns where they can be spared: files come by the ten thousand.
  CONSTRAINT record_path_in_section CHECK (split_part(path, '/', 1) IN ('wip', 'outputs', 'resources')),
  CONSTRAINT record_path_segments CHECK (path LIKE '%/%' AND path || '/' NOT LIKE '%//%' AND path || '/' NOT LIKE '%/./%' AND path || '/' NOT LIKE '%/../%'
    AND path !~ '[\\\x01-\x1f\x7f]'),
  -- Looked at when a statement ends, so that files may exchange their paths in one.
  CONSTRAINT record_path_key UNIQUE (node_id, path_digest) DEFERRABLE INITIALLY IMMEDIATE
);
CREATE INDEX record_node_idx ON file.record (node_id, updated_at DESC, id DESC);
CREATE INDEX record_node_id_idx ON file.record (node_id, id);
CREATE INDEX record_updated_idx ON file.record (updated_at DESC, id DESC);
CREATE INDEX record_section_idx ON file.record (section, updated_at DESC, id DESC);

-- What was a file at a path: other devices that hold it unchanged remove or move their copy.
CREATE TABLE file.tombstone (
  id uuid PRIMARY KEY,
  file_id uuid NOT NULL,
  -- No foreign key: a tombstone outlives its node.
  node_id uuid NOT NULL,
  path text NOT NULL,
  remote_name text,
  -- Where its object lay on the remote at that time.
  remote_path text NOT NULL,
  sha256 text,
  reason text NOT NULL CHECK (reason IN ('deleted', 'moved', 'purged')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by uuid REFERENCES identity."user" (id)
);
CREATE INDEX tombstone_node_idx ON file.tombstone (node_id, created_at, id);

-- What is to happen to a file in several steps: noted before the first one, gone after the last.
CREATE TABLE file.pending_op (
  id uuid PRIMARY KEY,
  file_id uuid NOT NULL REFERENCES file.record (id) ON DELETE CASCADE,
  -- The node of the file when it was noted; the file may have moved since.
  node_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('move', 'delete')),
  from_path text NOT NULL,
  to_node_id uuid,
  to_path text,
  sha256 text,
  last_error text,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by uuid REFERENCES identity."user" (id),
  CONSTRAINT pending_op_target CHECK ((kind = 'move') = (to_path IS NOT NULL))
);
CREATE INDEX pending_op_file_idx ON file.pending_op (file_id);
CREATE INDEX pending_op_node_idx ON file.pending_op (node_id);
CREATE INDEX pending_op_target_idx ON file.pending_op (to_node_id) WHERE to_node_id IS NOT NULL;
CREATE INDEX pending_op_stuck_idx ON file.pending_op (created_at DESC, id DESC) WHERE last_error IS NOT NULL;

-- The published view of the files of a node. Who may see the node may see them; the caller of this has made sure.
CREATE FUNCTION file.node_file(p_node uuid) RETURNS SETOF file.record LANGUAGE sql STABLE AS $$
  SELECT r.* FROM file.record r WHERE r.node_id = p_node
$$;

-- The published view of operations that failed half-way, each with the node that the file is in now.
CREATE FUNCTION file.stuck_operation() RETURNS TABLE (id uuid, file_id uuid, current_node_id uuid, node_id uuid, kind text, from_path text,
  to_node_id uuid, to_path text, last_error text, attempts integer, created_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT p.id, p.file_id, r.node_id, p.node_id, p.kind, p.from_path, p.to_node_id, p.to_path, p.last_error, p.attempts, p.created_at
  FROM file.pending_op p JOIN file.record r ON r.id = p.file_id WHERE p.last_error IS NOT NULL
$$;

-- The status of a file, which follows from its section.
CREATE FUNCTION file.status_of(section text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE section WHEN 'wip' THEN 'wip' WHEN 'outputs' THEN 'output' END
$$;

-- Folder of a node on a remote and below a workspace root, as nodeFolder of the domain library makes it.
CREATE FUNCTION file.node_folder(node_type text, sync_key text, organization_sync_key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN node_type = 'organization' THEN sync_key
    ELSE coalesce(organization_sync_key, '') || '/' || CASE node_type WHEN 'project' THEN 'projects' WHEN 'process' THEN 'processes'
      WHEN 'area' THEN 'areas' ELSE 'principles' END || '/' || sync_key END
$$;

-- Whatever purges a node leaves a tombstone for each of its files.
CREATE FUNCTION file.bury_files_of_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file.tombstone (id, file_id, node_id, path, remote_name, remote_path, sha256, reason)
  SELECT gen_random_uuid(), r.id, r.node_id, r.path, r.remote_name,
    file.node_folder(OLD.type, OLD.sync_key, (SELECT o.sync_key FROM graph.node o WHERE o.id = OLD.organization_id)) || '/' || r.path,
    r.sha256, 'purged'
  FROM file.record r WHERE r.node_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER node_files_are_buried BEFORE DELETE ON graph.node
  FOR EACH ROW EXECUTE FUNCTION file.bury_files_of_node();

-- Changes of files, which come by the thousand, draw nothing either.
DROP INDEX audit.entry_xid_idx;
CREATE INDEX entry_xid_idx ON audit.entry (xid) WHERE action <> 'log' AND target_kind <> 'file';
