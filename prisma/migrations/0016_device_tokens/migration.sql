-- A workstation joins by a code that somebody invited it with, and is known by a token of its own from then on.
ALTER TABLE identity.device ADD COLUMN last_seen_at timestamptz(3);

ALTER TABLE identity.token
  ADD COLUMN device_id uuid REFERENCES identity.device (id),
  ADD CONSTRAINT token_device_kind CHECK (device_id IS NULL OR kind = 'device');
CREATE INDEX token_device_idx ON identity.token (device_id) WHERE device_id IS NOT NULL;

CREATE TABLE identity.device_invitation (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  scope text NOT NULL CHECK (scope IN ('read', 'write', 'manage')),
  code_sha256 bytea NOT NULL UNIQUE CHECK (length(code_sha256) = 32),
  -- the token that invited; null for a person without one
  made_by uuid REFERENCES identity.token (id),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  -- the one device that joined by it
  device_id uuid UNIQUE REFERENCES identity.device (id)
);
CREATE INDEX device_invitation_user_idx ON identity.device_invitation (user_id);
CREATE INDEX device_invitation_made_by_idx ON identity.device_invitation (made_by) WHERE made_by IS NOT NULL;
