-- Which token made which: one ends no later than its maker, and with it.

ALTER TABLE identity.token
  -- Who gave it: the workspace to its own user, the making of the first administrator, a person without a token, a token.
  ADD COLUMN origin text NOT NULL DEFAULT 'person' CHECK (origin IN ('workspace', 'bootstrap', 'person', 'token')),
  ADD COLUMN made_by uuid REFERENCES identity.token (id),
  -- The token whose place it takes once it is stored. Until then both work.
  ADD COLUMN replaces uuid REFERENCES identity.token (id),
  ADD CONSTRAINT token_origin_has_maker CHECK ((origin = 'token') = (made_by IS NOT NULL)),
  ADD CONSTRAINT token_of_another CHECK (made_by <> id AND replaces <> id);
CREATE INDEX token_made_by_idx ON identity.token (made_by) WHERE made_by IS NOT NULL;
CREATE UNIQUE INDEX token_replaces_key ON identity.token (replaces) WHERE replaces IS NOT NULL;

-- Of what was made before, the audit trail tells the processes' own; the rest belongs to its person.
UPDATE identity.token t SET origin = CASE t.kind WHEN 'device' THEN 'workspace' ELSE 'bootstrap' END
FROM identity.bootstrap b
WHERE t.user_id = b.user_id AND t.scope = 'manage'
  AND EXISTS (SELECT FROM audit.entry e WHERE e.target_id = t.id AND e.target_kind = 'token' AND e.action = 'bootstrap' AND e.via = 'system');

-- The token with everything that was made with it, and the one that is to take its place.
CREATE FUNCTION identity.token_tree(p_token uuid) RETURNS SETOF uuid LANGUAGE sql STABLE ROWS 10 AS $$
  WITH RECURSIVE tree (id) AS (
    SELECT p_token UNION SELECT t.id FROM tree JOIN identity.token t ON t.made_by = tree.id OR t.replaces = tree.id
  ) SELECT id FROM tree
$$;

-- Ends tokens with everything below them; answers those that ended just now. Downwards, level by level: whoever makes a
-- token holds its maker, so after the wait the next statement sees what was made.
CREATE FUNCTION identity.end_tokens(p_tokens uuid[]) RETURNS TABLE (token_id uuid, owner_id uuid) LANGUAGE plpgsql AS $$
DECLARE
  v_level uuid[] := p_tokens;
BEGIN
  WHILE cardinality(v_level) > 0 LOOP
    PERFORM FROM identity.token t WHERE t.id = ANY (v_level) ORDER BY t.id FOR UPDATE;
    RETURN QUERY UPDATE identity.token t SET revoked_at = now(), replaces = NULL
      WHERE t.id = ANY (v_level) AND t.revoked_at IS NULL RETURNING t.id, t.user_id;
    v_level := ARRAY(SELECT t.id FROM identity.token t
      WHERE (t.made_by = ANY (v_level) OR t.replaces = ANY (v_level)) AND t.revoked_at IS NULL);
  END LOOP;
END $$;

-- Ends a token; what was made with it goes on with another one. Answers what ended: nothing when that one has ended.
CREATE FUNCTION identity.succeed_token(p_old uuid, p_new uuid) RETURNS TABLE (token_id uuid, owner_id uuid) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM identity.token t WHERE t.id = p_old FOR UPDATE;
  UPDATE identity.token t SET replaces = NULL WHERE t.id = p_new AND t.revoked_at IS NULL;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE identity.token t SET made_by = p_new WHERE t.made_by = p_old;
  RETURN QUERY SELECT e.token_id, e.owner_id FROM identity.end_tokens(ARRAY[p_old]) e;
END $$;

CREATE FUNCTION identity.token_within_maker() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_maker identity.token;
  v_scopes CONSTANT text[] := ARRAY['read', 'write', 'manage'];
BEGIN
  -- Waits for whoever is ending it, and makes them wait.
  SELECT * INTO v_maker FROM identity.token t WHERE t.id = NEW.made_by FOR SHARE;
  IF (NEW.revoked_at IS NULL AND v_maker.revoked_at IS NOT NULL) OR NEW.expires_at > v_maker.expires_at
    OR array_position(v_scopes, NEW.scope) > array_position(v_scopes, v_maker.scope) THEN
    RAISE EXCEPTION 'a token stays within the one that made it' USING ERRCODE = 'WG001', CONSTRAINT = 'token_within_maker';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER token_within_maker BEFORE INSERT OR UPDATE OF made_by, scope, expires_at ON identity.token
  FOR EACH ROW WHEN (NEW.made_by IS NOT NULL) EXECUTE FUNCTION identity.token_within_maker();

CREATE FUNCTION identity.token_ends_with_maker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM identity.token t WHERE (t.made_by = NEW.id OR t.replaces = NEW.id) AND t.revoked_at IS NULL) THEN
    RAISE EXCEPTION 'a token ends with the one that made it' USING ERRCODE = 'WG001', CONSTRAINT = 'token_ends_with_maker';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER token_ends_with_maker AFTER UPDATE OF revoked_at ON identity.token
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL)
  EXECUTE FUNCTION identity.token_ends_with_maker();
