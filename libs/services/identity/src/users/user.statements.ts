import { Id } from '@workspace-graph/contracts';
import { cursorOf, namePattern, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

const USER = `json_build_object(
  'id', u.id, 'name', u.name, 'external_id', u.external_id, 'email', u.email, 'handle', u.handle,
  'max_scope', u.max_scope, 'claim_scope', u.claim_scope,
  'disabled', u.disabled_at IS NOT NULL,
  'groups', coalesce((
    SELECT json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.name_folded, g.id)
    FROM identity.membership m JOIN identity.user_group g ON g.id = m.group_id WHERE m.user_id = u.id), '[]'),
  'version', u.version, 'created_at', graph.iso(u.created_at), 'updated_at', graph.iso(u.updated_at))`;

/** User of $1. */
export const USER_BY_ID = statement(
  'user.by_id',
  `SELECT ${USER} AS json FROM identity."user" u WHERE u.id = $1::uuid`,
);

/** The same as text. */
export const USER_JSON = statement(
  'user.json',
  `SELECT ${USER}::text AS json, u.version FROM identity."user" u WHERE u.id = $1::uuid`,
);

/** Sort key of a list of users: folded name and id. */
export const USER_CURSOR = cursorOf<[string, string]>('list_users', z.tuple([z.string(), Id]));

/** Part of the name $1 or null, page size $2, name $3 and id $4 of the last user before. */
export const USER_PAGE = statement(
  'user.page',
  pageJson(
    '$2::int',
    `
  SELECT ${USER} AS item, ${USER_CURSOR.sql('u.name_folded', 'u.id')} AS cursor, row_number() OVER (ORDER BY u.name_folded, u.id) AS place
  FROM identity."user" u
  WHERE ($1::text IS NULL OR EXISTS (
    SELECT FROM unnest(u.goes_by) called WHERE graph.fold(called) LIKE ${namePattern('$1::text')})) AND (u.name_folded, u.id) > ($3::text, $4::uuid)
  ORDER BY u.name_folded, u.id LIMIT $2::int + 1`,
  ),
);

/** Id of the user with the external id $1. */
export const USER_BY_EXTERNAL_ID = statement(
  'user.by_external_id',
  `SELECT id FROM identity."user" WHERE external_id = $1::text`,
);

/** $1 id, $2 name, $3 external id, $4 e-mail, $5 handle, $6 greatest scope. */
export const INSERT_USER = statement(
  'user.insert',
  `
  INSERT INTO identity."user" (id, name, external_id, email, handle, max_scope)
  VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text)`,
);

/** The user $1: $2 name, $3 e-mail, $4 handle, $5 greatest scope, $6 disabled. */
export const UPDATE_USER = statement(
  'user.update',
  `
  UPDATE identity."user" SET name = $2::text, email = $3::text, handle = $4::text, max_scope = $5::text,
    disabled_at = CASE WHEN $6::boolean THEN coalesce(disabled_at, now()) END, version = version + 1, updated_at = now()
  WHERE id = $1::uuid`,
);

/** Locks the user $1 for a change. */
export const USER_FOR_CHANGE = statement(
  'user.for_change',
  `
  SELECT name, email, handle, max_scope, claim_scope, disabled_at IS NOT NULL AS disabled, version FROM identity."user" WHERE id = $1::uuid FOR NO KEY UPDATE`,
);

/**
 * Locks everybody who can manage, so that of two who are lowered at once the second sees the first. Each with whether they
 * can sign in: with a token for it that works, or by an identity provider.
 */
export const MANAGERS = statement(
  'user.managers',
  `
  SELECT u.id, u.external_id IS NOT NULL OR EXISTS (SELECT FROM identity.token t
    WHERE t.user_id = u.id AND t.scope = 'manage' AND t.revoked_at IS NULL AND t.expires_at > now()) AS can_sign_in
  FROM identity."user" u
  WHERE u.max_scope = 'manage' AND coalesce(u.claim_scope, 'manage') = 'manage' AND u.disabled_at IS NULL
  ORDER BY u.id FOR NO KEY UPDATE OF u`,
);

/** Whether the user $1 is the person of a local workspace, whose credential the workspace itself lives by. */
export const OWNS_WORKSPACE = statement(
  'user.owns_workspace',
  `
  SELECT EXISTS (SELECT FROM identity.token t
    WHERE t.user_id = $1::uuid AND t.origin = 'workspace' AND t.revoked_at IS NULL) AS is_so`,
);
