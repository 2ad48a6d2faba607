-- What records go by in calls: e-mails and handles of users, as the identity provider or who manages tells them, and keys of nodes.

ALTER TABLE identity."user"
  ADD COLUMN email text CHECK (email <> ''),
  ADD COLUMN handle text CHECK (handle <> '');

-- Every text that names a user. Identities at the provider are told from each other by case, so they stay as they are.
ALTER TABLE identity."user" ADD COLUMN goes_by text[] NOT NULL GENERATED ALWAYS AS (array_remove(ARRAY[
  graph.fold(name), graph.fold(email), graph.fold(handle), external_id, nullif(split_part(external_id, '|', -1), '')], NULL)) STORED;
CREATE INDEX user_goes_by_idx ON identity."user" USING gin (goes_by);

CREATE INDEX node_sync_key_idx ON graph.node (sync_key);
