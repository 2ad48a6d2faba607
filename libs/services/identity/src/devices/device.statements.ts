import { statement } from '@workspace-graph/database';

/** The device $1 and its person, while both work. */
export const DEVICE_CALLER = statement(
  'device.caller',
  `
  SELECT d.user_id::text AS user_id, u.max_scope, u.claim_scope
  FROM identity.device d JOIN identity."user" u ON u.id = d.user_id
  WHERE d.id = $1::uuid AND d.revoked_at IS NULL AND u.disabled_at IS NULL`,
);

/** The device that the user $1 joined first. */
export const DEVICE_OF_USER = statement(
  'device.of_user',
  `SELECT id::text AS id FROM identity.device WHERE user_id = $1::uuid AND revoked_at IS NULL ORDER BY joined_at, id LIMIT 1`,
);

/** $1 id, $2 user, $3 name. */
export const INSERT_DEVICE = statement(
  'device.insert',
  `INSERT INTO identity.device (id, user_id, name) VALUES ($1::uuid, $2::uuid, $3::text)`,
);
