import { statement } from '@workspace-graph/database';

/** Makes $1, named $2, the first administrator; no row when there is one. */
export const CLAIM_BOOTSTRAP = statement(
  'bootstrap.claim',
  `
  WITH claimed AS (
    INSERT INTO identity.bootstrap (user_id) SELECT $1::uuid ON CONFLICT (id) DO NOTHING RETURNING user_id
  ), made AS (
    INSERT INTO identity."user" (id, name, max_scope) SELECT user_id, $2::text, 'manage' FROM claimed RETURNING id
  ) SELECT true AS claimed FROM made`,
);

/** Locked, so that two starts at once do not both make a token. */
export const FIRST_ADMINISTRATOR = statement('bootstrap.first', `SELECT user_id FROM identity.bootstrap FOR UPDATE`);

/** The token with the hash $1, when it is of the first administrator, works and will for another month. */
export const SIDECAR_TOKEN = statement(
  'bootstrap.sidecar_token',
  `
  SELECT t.id, t.user_id, t.replaces IS NOT NULL AS is_successor FROM identity.token t JOIN identity.bootstrap b ON b.user_id = t.user_id
  WHERE t.secret_sha256 = $1::bytea AND t.revoked_at IS NULL AND t.expires_at > now() + interval '30 days'`,
);

/** Gives the person $1 of a local workspace back what the workspace needs of them; no row where nothing was missing. */
export const REINSTATE_OWNER = statement(
  'bootstrap.reinstate_owner',
  `
  UPDATE identity."user" u SET disabled_at = NULL, max_scope = 'manage', version = u.version + 1, updated_at = now()
  FROM identity."user" b
  WHERE u.id = $1::uuid AND b.id = u.id AND (u.disabled_at IS NOT NULL OR u.max_scope <> 'manage')
  RETURNING b.disabled_at IS NOT NULL AS disabled, b.max_scope`,
);

/** The token with the hash $1, when it is the workspace's own and works. */
export const WORKSPACE_TOKEN = statement(
  'bootstrap.workspace_token',
  `
  SELECT id, user_id FROM identity.token
  WHERE secret_sha256 = $1::bytea AND origin = 'workspace' AND revoked_at IS NULL AND expires_at > now()`,
);

/** Whether the token $1 is the token $2, or was made with it directly. */
export const IS_NEXT_TO = statement(
  'bootstrap.is_next_to',
  `SELECT FROM identity.token t WHERE t.id = $1::uuid AND $2::uuid IN (t.id, t.made_by)`,
);

/** The workspace's own tokens that were not ended, successors before the one in use, so that what those made is kept too. */
export const SIDECAR_TOKENS = statement(
  'bootstrap.sidecar_tokens',
  `SELECT id FROM identity.token WHERE origin = 'workspace' AND revoked_at IS NULL ORDER BY replaces IS NULL, id`,
);
