import { Id } from '@workspace-graph/contracts';
import { cursorOf, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

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

/** The device $1 of the user $2, locked, unless it is revoked. */
export const DEVICE_TO_JOIN = statement(
  'device.to_join',
  `SELECT name FROM identity.device WHERE id = $1::uuid AND user_id = $2::uuid AND revoked_at IS NULL FOR UPDATE`,
);

export const RENAME_DEVICE = statement(
  'device.rename',
  `UPDATE identity.device SET name = $2::text WHERE id = $1::uuid`,
);

/** Sort key of a list of devices: the id. */
export const DEVICE_CURSOR = cursorOf<[string]>('list_devices', z.tuple([Id]));

const DEVICE_JSON = `json_build_object(
  'id', d.id, 'name', d.name, 'user', json_build_object('id', u.id, 'name', u.name),
  'scope', (SELECT t.scope FROM identity.token t
    WHERE t.device_id = d.id AND t.revoked_at IS NULL AND t.expires_at > now() ORDER BY t.created_at DESC LIMIT 1),
  'joined_at', graph.iso(d.joined_at), 'last_seen_at', graph.iso(d.last_seen_at), 'revoked_at', graph.iso(d.revoked_at))`;
const FROM_DEVICE = `identity.device d JOIN identity."user" u ON u.id = d.user_id`;

export const DEVICE_BY_ID = statement(
  'device.by_id',
  `SELECT ${DEVICE_JSON} AS device FROM ${FROM_DEVICE} WHERE d.id = $1::uuid`,
);

/** $1 user, null for everybody, $2 revoked ones too, $3 page size, $4 id of the last device before. */
export const DEVICE_PAGE = statement(
  'device.page',
  pageJson(
    '$3::int',
    `
  SELECT ${DEVICE_JSON} AS item, ${DEVICE_CURSOR.sql('d.id')} AS cursor, row_number() OVER (ORDER BY d.id DESC) AS place
  FROM ${FROM_DEVICE}
  WHERE ($1::uuid IS NULL OR d.user_id = $1::uuid) AND ($2::boolean OR d.revoked_at IS NULL) AND d.id < $4::uuid
  ORDER BY d.id DESC LIMIT $3::int + 1`,
  ),
);

/**
 * The device $1, locked, where the user $2, or null for everybody, may revoke it with what was made with the token $3, or
 * null for all of it, or as the device $4 itself.
 */
export const DEVICE_TO_REVOKE = statement(
  'device.to_revoke',
  `
  SELECT d.revoked_at IS NOT NULL AS revoked FROM identity.device d
  WHERE d.id = $1::uuid AND (d.id = $4::uuid OR (($2::uuid IS NULL OR d.user_id = $2::uuid) AND ($3::uuid IS NULL OR EXISTS (
    SELECT FROM identity.token t WHERE t.device_id = d.id AND t.id IN (SELECT identity.token_tree($3::uuid))))))
  FOR UPDATE OF d`,
);

export const REVOKE_DEVICE = statement(
  'device.revoke',
  `UPDATE identity.device SET revoked_at = now() WHERE id = $1::uuid RETURNING graph.iso(revoked_at) AS revoked_at`,
);

/** The tokens by which the device $1 is known. */
export const TOKENS_OF_DEVICE = statement(
  'device.tokens',
  `SELECT coalesce(array_agg(id), '{}')::text[] AS ids FROM identity.token WHERE device_id = $1::uuid AND revoked_at IS NULL`,
);

/** Those of the user $1 that nobody used in their time. */
export const FORGET_INVITATIONS = statement(
  'device.forget_invitations',
  `DELETE FROM identity.device_invitation WHERE user_id = $1::uuid AND device_id IS NULL AND expires_at <= now()`,
);

/** How many invitations of the user $1 work. */
export const INVITATIONS_OF_USER = statement(
  'device.count_invitations',
  `SELECT count(*)::int AS count FROM identity.device_invitation WHERE user_id = $1::uuid AND device_id IS NULL`,
);

/** $1 id, $2 user, $3 scope, $4 SHA-256 of the code, $5 the token that invites, $6 minutes. */
export const INSERT_INVITATION = statement(
  'device.insert_invitation',
  `
  INSERT INTO identity.device_invitation (id, user_id, scope, code_sha256, made_by, expires_at)
  VALUES ($1::uuid, $2::uuid, $3::text, $4::bytea, $5::uuid, now() + make_interval(mins => $6::int))
  RETURNING graph.iso(expires_at) AS expires_at,
    (SELECT json_build_object('id', u.id, 'name', u.name) FROM identity."user" u WHERE u.id = $2::uuid) AS "user"`,
);

/** The invitation with the code of this SHA-256, locked, while it works. */
export const INVITATION = statement(
  'device.invitation',
  `
  SELECT i.id, i.user_id, i.scope, i.made_by FROM identity.device_invitation i JOIN identity."user" u ON u.id = i.user_id
  WHERE i.code_sha256 = $1::bytea AND i.device_id IS NULL AND i.expires_at > now() AND u.disabled_at IS NULL FOR UPDATE OF i`,
);

/** The invitation by which the device $1 joined before. */
export const FORGET_INVITATION_OF_DEVICE = statement(
  'device.forget_its_invitation',
  `DELETE FROM identity.device_invitation WHERE device_id = $1::uuid`,
);

/** The invitation $1 is used up by the device $2. */
export const USE_INVITATION = statement(
  'device.use_invitation',
  `UPDATE identity.device_invitation SET device_id = $2::uuid WHERE id = $1::uuid`,
);
