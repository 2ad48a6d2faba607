-- Storages of the organisation, what each was found to guarantee, and which nodes keep their files on which. Credentials are
-- kept elsewhere, under the id that secret_id names.

-- A mark that was written to the root of a storage, or was about to be: it tells an empty storage from a wrong one.
CREATE TABLE file.remote_root (
  marker uuid PRIMARY KEY,
  claimed_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE file.remote (
  id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> ''),
  type text NOT NULL CHECK (type IN ('drive', 'filehost', 'objstore', 'fs', 'webdav', 'sftp')),
  config jsonb NOT NULL CHECK (jsonb_typeof(config) = 'object'),
  secret_id uuid UNIQUE,
  -- Two remotes never share a root.
  root_marker uuid NOT NULL UNIQUE REFERENCES file.remote_root (marker),
  grade jsonb NOT NULL CHECK (jsonb_typeof(grade) = 'object'),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by uuid REFERENCES identity."user" (id),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by uuid REFERENCES identity."user" (id)
);

-- In the order in which they are tried among those of one priority.
CREATE TABLE file.routing_rule (
  place integer PRIMARY KEY CHECK (place >= 0),
  priority integer NOT NULL,
  node_type text CHECK (node_type IN ('organization', 'project', 'process', 'area', 'principle')),
  organization_key text,
  remote_name text NOT NULL REFERENCES file.remote (name)
);
CREATE INDEX routing_rule_remote_idx ON file.routing_rule (remote_name);

-- Which files lie on a remote.
CREATE INDEX record_remote_idx ON file.record (remote_name) WHERE remote_name IS NOT NULL;
