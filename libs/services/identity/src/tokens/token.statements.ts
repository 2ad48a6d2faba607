import { Id } from '@workspace-graph/contracts';
import { cursorOf, pageJson, statement } from '@workspace-graph/database';
import { z } from 'zod';

/** Sort key of a list of tokens: the id. */
export const TOKEN_CURSOR = cursorOf<[string]>('list_tokens', z.tuple([Id]));

/** Whether a token is the one that the workspace itself lives by. */
const KEEPS_WORKSPACE = `t.origin = 'workspace' AND t.replaces IS NULL AND t.revoked_at IS NULL`;

const tokenJson = (madeBy: string): string => `json_build_object(
  'id', t.id, 'kind', t.kind, 'label', t.label, 'scope', t.scope,
  'user', json_build_object('id', u.id, 'name', u.name),
  'created_at', graph.iso(t.created_at), 'expires_at', graph.iso(t.expires_at),
  'last_used_at', graph.iso(t.last_used_at), 'revoked_at', graph.iso(t.revoked_at),
  'revocable', NOT (${KEEPS_WORKSPACE}), 'made_by', ${madeBy})`;

const FROM_TOKEN = `identity.token t JOIN identity."user" u ON u.id = t.user_id`;

/** Reach of a caller: of the user $1, or null for everybody; within what was made with the token $2, or null for all. */
const inReach = (id: string, userId: string): string => `
  ($1::uuid IS NULL OR ${userId} = $1::uuid) AND ($2::uuid IS NULL OR ${id} IN (SELECT identity.token_tree($2::uuid)))`;

/** Token of $1, as the token that made it sees it. */
export const TOKEN_BY_ID = statement(
  'token.by_id',
  `SELECT ${tokenJson('t.made_by')} AS token FROM ${FROM_TOKEN} WHERE t.id = $1::uuid`,
);

/**
 * $1 id, $2 kind, $3 label, $4 scope, $5 user, $6 SHA-256 of the secret, $7 end, $8 origin, $9 the token that makes it,
 * $10 the one whose place it is to take, $11 the device that is known by it.
 */
export const INSERT_TOKEN = statement(
  'token.insert',
  `
  INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at, origin, made_by, replaces, device_id)
  VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::uuid, $6::bytea, $7::timestamptz, $8::text, $9::uuid, $10::uuid, $11::uuid)`,
);

/** $1 and $2 reach, $3 ended ones too, $4 page size, $5 id of the last token before. */
export const TOKEN_PAGE = statement(
  'token.page',
  pageJson(
    '$4::int',
    `
  SELECT ${tokenJson(`(SELECT m.id FROM identity.token m WHERE m.id = t.made_by AND ${inReach('m.id', 'm.user_id')})`)} AS item,
    ${TOKEN_CURSOR.sql('t.id')} AS cursor, row_number() OVER (ORDER BY t.id DESC) AS place FROM ${FROM_TOKEN}
  WHERE ${inReach('t.id', 't.user_id')}
    AND ($3::boolean OR (t.revoked_at IS NULL AND t.expires_at > now()))
    AND t.id < $5::uuid
  ORDER BY t.id DESC LIMIT $4::int + 1`,
  ),
);

/** $1 and $2 reach, $3 token: locked, and whether it is the one that the workspace itself lives by. */
export const TOKEN_TO_END = statement(
  'token.to_end',
  `
  SELECT ${KEEPS_WORKSPACE} AS keeps_workspace
  FROM identity.token t WHERE t.id = $3::uuid AND ${inReach('t.id', 't.user_id')} FOR UPDATE OF t`,
);

const ENDED = `e.token_id, e.owner_id, graph.iso(now()) AS revoked_at`;

/** Ends the tokens $1 and what was made with them. */
export const END_TOKENS = statement('token.end', `SELECT ${ENDED} FROM identity.end_tokens($1::uuid[]) e`);

/** Ends the token $1; what was made with it goes on with $2. */
export const SUCCEED_TOKEN = statement(
  'token.succeed',
  `SELECT ${ENDED} FROM identity.succeed_token($1::uuid, $2::uuid) e`,
);

const WORKS = 't.revoked_at IS NULL AND t.expires_at > now()';

/** One after the other, so that of two last ones the second sees that the first has ended. */
export const LOCK_WAYS_IN = statement('token.lock_ways_in', `SELECT pg_advisory_xact_lock(7312, 0)`);

/**
 * Whether nobody with the scope manage could sign in any more without the token $1 and what was made with it: by another token,
 * at an identity provider, or as the caller, the user $2 with the credential $3, has just done without a token of ours.
 */
export const IS_LAST_WAY_IN = statement(
  'token.is_last_way_in',
  `
  SELECT EXISTS (SELECT FROM identity.token t WHERE t.id = $1::uuid AND t.scope = 'manage' AND ${WORKS}) AND NOT EXISTS (
    SELECT FROM identity."user" u
    WHERE u.max_scope = 'manage' AND coalesce(u.claim_scope, 'manage') = 'manage' AND u.disabled_at IS NULL
      AND (u.external_id IS NOT NULL OR u.id = $2::uuid AND $3::uuid IS NULL OR EXISTS (
        SELECT FROM identity.token t WHERE t.user_id = u.id AND t.scope = 'manage' AND ${WORKS}
          AND t.id NOT IN (SELECT identity.token_tree($1::uuid))))) AS is_so`,
);

/** When the token $1 ends, if it works. Locked, so that it does not end while another one is made with it. */
export const MAKER = statement(
  'token.maker',
  `SELECT t.id, graph.iso(t.expires_at) AS expires_at FROM identity.token t WHERE t.id = $1::uuid AND ${WORKS} FOR SHARE`,
);

/** The token that $1 is to replace. */
export const PREDECESSOR = statement(
  'token.predecessor',
  `SELECT t.replaces FROM identity.token t WHERE t.id = $1::uuid AND ${WORKS}`,
);

/** Locks what made the token $1, always before the token itself. */
export const LOCK_MAKER_OF = statement(
  'token.lock_maker_of',
  `SELECT FROM identity.token t WHERE t.id = (SELECT made_by FROM identity.token WHERE id = $1::uuid) FOR SHARE`,
);

/** The token $1, locked, if it works, and when its successor ends. The processes' own are renewed for their whole time. */
export const TOKEN_TO_ROTATE = statement(
  'token.to_rotate',
  `
  SELECT t.kind, t.label, t.scope, t.user_id, t.origin, t.made_by, t.device_id,
    graph.iso(CASE WHEN t.origin IN ('workspace', 'bootstrap') THEN now() + (t.expires_at - t.created_at) ELSE t.expires_at END) AS next_expires_at
  FROM identity.token t WHERE t.id = $1::uuid AND ${WORKS} FOR UPDATE`,
);

/** Ends the successor that the token $1 has by now. */
export const END_SUCCESSOR = statement(
  'token.end_successor',
  `SELECT ${ENDED} FROM identity.end_tokens(ARRAY(SELECT id FROM identity.token WHERE replaces = $1::uuid)) e`,
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
