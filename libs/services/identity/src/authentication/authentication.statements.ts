import { statement } from '@workspace-graph/database';

/** Token with the SHA-256 $1 and its user. `stale`: the last use on record is of an earlier minute. */
export const TOKEN_BY_HASH = statement(
  'authentication.token',
  `
  SELECT t.id, t.user_id, t.device_id, t.scope, u.max_scope, u.claim_scope, graph.iso(t.expires_at) AS expires_at,
    t.expires_at <= now() AS expired, t.revoked_at IS NOT NULL AS revoked, u.disabled_at IS NOT NULL AS disabled,
    (t.last_used_at IS NULL OR t.last_used_at < date_trunc('minute', now())) AS stale
  FROM identity.token t JOIN identity."user" u ON u.id = t.user_id WHERE t.secret_sha256 = $1::bytea`,
);

/** Records the use of the token $1, and of the device that is known by it, unless another request of this minute is doing so. */
export const TOUCH_TOKEN = statement(
  'authentication.touch',
  `
  WITH touched AS (
    UPDATE identity.token SET last_used_at = date_trunc('minute', now()) WHERE id = (
      SELECT id FROM identity.token WHERE id = $1::uuid AND (last_used_at IS NULL OR last_used_at < date_trunc('minute', now()))
      FOR UPDATE SKIP LOCKED)
    RETURNING device_id)
  UPDATE identity.device d SET last_seen_at = date_trunc('minute', now()) FROM touched t WHERE d.id = t.device_id`,
);

// Memberships that the claims $2 ask for and that are missing, and those from claims that they no longer ask for.
const MISSING = `
  SELECT g.id FROM identity.user_group g WHERE g.claim = ANY ($2::text[])
    AND NOT EXISTS (SELECT FROM identity.membership m WHERE m.group_id = g.id AND m.user_id = u.id)`;
const OUTDATED = `
  SELECT m.group_id FROM identity.membership m JOIN identity.user_group g ON g.id = m.group_id
  WHERE m.user_id = u.id AND m.source = 'claim' AND (g.claim IS NULL OR g.claim <> ALL ($2::text[]))`;

// A provider's word does not count any more once a newer one was applied.
const IS_NEWEST = 'coalesce($4::timestamptz >= u.claimed_at, true)';

// What the provider does not tell stays as it is.
const RENAMED = '(coalesce($5::text, u.email), coalesce($6::text, u.handle)) IS DISTINCT FROM (u.email, u.handle)';

/** User with the external id $1, compared with the claimed groups $2, scope $3, e-mail $5 and handle $6 of the time $4. */
export const CLAIMED_USER = statement(
  'authentication.claimed_user',
  `
  SELECT u.id AS user_id, u.max_scope, u.claim_scope, u.disabled_at IS NOT NULL AS disabled,
    ${IS_NEWEST} AND (u.claim_scope IS DISTINCT FROM $3::text OR ${RENAMED} OR EXISTS (${MISSING}) OR EXISTS (${OUTDATED})) AS differs
  FROM identity."user" u WHERE u.external_id = $1::text`,
);

/** The same, locked, with everything that differs; no row when newer claims were applied. Parameters as above. */
export const CLAIMED_USER_FOR_CHANGE = statement(
  'authentication.claimed_user_for_change',
  `
  SELECT u.id AS user_id, u.claim_scope, $3::text AS claimed_scope, u.email, u.handle,
    coalesce($5::text, u.email) AS claimed_email, coalesce($6::text, u.handle) AS claimed_handle, ARRAY(${MISSING})::text[] AS missing, ARRAY(${OUTDATED})::text[] AS outdated
  FROM identity."user" u WHERE u.external_id = $1::text AND ${IS_NEWEST} FOR NO KEY UPDATE OF u`,
);

/** $1 id, $2 name, $3 external id, $4 e-mail, $5 handle, $6 claimed scope. Changes nothing where the external id is known. */
export const INSERT_CLAIMED_USER = statement(
  'authentication.insert_claimed_user',
  `
  INSERT INTO identity."user" (id, name, external_id, email, handle, max_scope, claim_scope)
  VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::text, 'manage', $6::text) ON CONFLICT DO NOTHING`,
);

/** When the claims of the user $1 that were applied last were issued: $2. */
export const SET_CLAIMED_AT = statement(
  'authentication.set_claimed_at',
  `UPDATE identity."user" SET claimed_at = $2::timestamptz WHERE id = $1::uuid`,
);

/** The claimed scope $2 of the user $1. */
export const SET_CLAIM_SCOPE = statement(
  'authentication.set_claim_scope',
  `UPDATE identity."user" SET claim_scope = $2::text, version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

/** E-mail $2 and handle $3 of the user $1. */
export const SET_CLAIMED_NAMES = statement(
  'authentication.set_claimed_names',
  `
  UPDATE identity."user" SET email = $2::text, handle = $3::text, version = version + 1, updated_at = now() WHERE id = $1::uuid`,
);

/** The user $1 joins the groups $2 by a claim. */
export const JOIN_CLAIMED_GROUPS = statement(
  'authentication.join_groups',
  `
  INSERT INTO identity.membership (group_id, user_id, source) SELECT g, $1::uuid, 'claim' FROM unnest($2::uuid[]) g ON CONFLICT DO NOTHING`,
);

/** The user $1 leaves the groups $2. */
export const LEAVE_GROUPS = statement(
  'authentication.leave_groups',
  `DELETE FROM identity.membership WHERE user_id = $1::uuid AND group_id = ANY ($2::uuid[])`,
);
