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

/** The first administrator, when $1 is the hash of a token of theirs that works and will for another month. */
export const SIDECAR_TOKEN = statement(
  'bootstrap.sidecar_token',
  `
  SELECT t.user_id FROM identity.token t JOIN identity.bootstrap b ON b.user_id = t.user_id
  WHERE t.secret_sha256 = $1::bytea AND t.revoked_at IS NULL AND t.expires_at > now() + interval '30 days'`,
);

/** Ends the tokens of user $1 labelled $2. */
export const RETIRE_SIDECAR_TOKENS = statement(
  'bootstrap.retire_sidecar_tokens',
  `
  UPDATE identity.token SET revoked_at = now() WHERE user_id = $1::uuid AND kind = 'device' AND label = $2::text AND revoked_at IS NULL RETURNING id`,
);
