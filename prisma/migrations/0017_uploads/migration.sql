-- Large contents on their way to a remote: what is there of each stays when the rest breaks off.
CREATE TABLE file.upload (
  file_id uuid PRIMARY KEY REFERENCES file.record (id) ON DELETE CASCADE,
  remote_name text NOT NULL,
  remote_path text NOT NULL,
  -- of the whole content
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  -- what the remote calls it
  handle text NOT NULL CHECK (handle <> ''),
  -- Two ends of parts, each with the state of the hash there: the later one is noted before its part is sent.
  done_bytes bigint NOT NULL DEFAULT 0,
  done_hash bytea,
  next_bytes bigint,
  next_hash bytea,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
