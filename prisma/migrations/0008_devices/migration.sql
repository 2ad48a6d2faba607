-- Devices are principals: each acts for the person who joined it. What a device has begun to do to files is its own to finish.

CREATE TABLE identity.device (
  id uuid PRIMARY KEY,
  -- The person for whom it acts.
  user_id uuid NOT NULL REFERENCES identity."user" (id),
  name text NOT NULL CHECK (name <> ''),
  joined_at timestamptz(3) NOT NULL DEFAULT now(),
  revoked_at timestamptz(3)
);
CREATE INDEX device_user_idx ON identity.device (user_id);

ALTER TABLE file.pending_op ADD COLUMN device_id uuid REFERENCES identity.device (id);

-- So far there was one device, that of the local workspace whose token this is.
INSERT INTO identity.device (id, user_id, name)
  SELECT gen_random_uuid(), t.user_id, 'this device' FROM identity.token t WHERE t.origin = 'workspace' ORDER BY t.created_at DESC LIMIT 1;
UPDATE file.pending_op SET device_id = (SELECT d.id FROM identity.device d);

DROP INDEX file.pending_op_node_idx;
DROP INDEX file.pending_op_target_idx;
CREATE INDEX pending_op_node_idx ON file.pending_op (node_id, device_id);
CREATE INDEX pending_op_target_idx ON file.pending_op (to_node_id, device_id) WHERE to_node_id IS NOT NULL;
