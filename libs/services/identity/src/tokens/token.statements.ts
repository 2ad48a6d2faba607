import { Id } from '@workspace-graph/contracts';
import { cursorOf, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

/** Sort key of a list of tokens: the id. */
export const TOKEN_CURSOR = cursorOf<[string]>('list_tokens', z.tuple([Id]));

const TOKEN = `json_build_object(
  'id', t.id, 'kind', t.kind, 'label', t.label, 'scope', t.scope,
  'user', json_build_object('id', u.id, 'name', u.name),
  'created_at', graph.iso(t.created_at), 'expires_at', graph.iso(t.expires_at),
  'last_used_at', graph.iso(t.last_used_at), 'revoked_at', graph.iso(t.revoked_at))`;

const FROM_TOKEN = `identity.token t JOIN identity."user" u ON u.id = t.user_id`;

/** Token of $1. */
export const TOKEN_BY_ID = statement(
  'token.by_id',
  `SELECT ${TOKEN} AS token FROM ${FROM_TOKEN} WHERE t.id = $1::uuid`,
);

/** $1 user or null for everybody's, $2 ended ones too, $3 page size, $4 id of the last token before. */
export const TOKEN_PAGE = statement(
  'token.page',
  pageJson(
    '$3::int',
    `
  SELECT ${TOKEN} AS item, ${TOKEN_CURSOR.sql('t.id')} AS cursor, row_number() OVER (ORDER BY t.id DESC) AS place FROM ${FROM_TOKEN}
  WHERE ($1::uuid IS NULL OR t.user_id = $1::uuid)
    AND ($2::boolean OR (t.revoked_at IS NULL AND t.expires_at > now()))
    AND t.id < $4::uuid
  ORDER BY t.id DESC LIMIT $3::int + 1`,
  ),
);

/** Ends the token $1 of user $2, or of anybody when $2 is null; answers whose it is and whether it ended just now. */
export const REVOKE_TOKEN = statement(
  'token.revoke',
  `
  UPDATE identity.token t SET revoked_at = coalesce(t.revoked_at, now())
  FROM (SELECT id, revoked_at FROM identity.token WHERE id = $1::uuid AND ($2::uuid IS NULL OR user_id = $2::uuid) FOR UPDATE) o
  WHERE t.id = o.id RETURNING t.user_id, t.label, o.revoked_at IS NULL AS ended, graph.iso(t.revoked_at) AS revoked_at`,
);

/** What the user $1 may have at most. Locked, so that tokens made at once are counted one after the other. */
export const USER_CEILING = statement(
  'token.user_ceiling',
  `
  SELECT max_scope, claim_scope, disabled_at IS NOT NULL AS disabled FROM identity."user" WHERE id = $1::uuid FOR NO KEY UPDATE`,
);

/** How many tokens of the user $1 work. */
export const TOKENS_OF_USER = statement(
  'token.count_of_user',
  `
  SELECT count(*)::int AS count FROM identity.token WHERE user_id = $1::uuid AND revoked_at IS NULL AND expires_at > now()`,
);
