import { z } from 'zod';
import { Caller, Scope } from '../caller.js';
import { Done, Email, Id, Name, page, paging, plainText, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';

export const TokenKind = z.enum(['personal', 'device']);

/** A token without its secret, which is shown once, when it is created. */
export const Token = z.strictObject({
  id: Id,
  kind: TokenKind,
  label: z.string(),
  scope: Scope,
  user: z.strictObject({ id: Id, name: z.string() }),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('To the minute.'),
  revoked_at: Timestamp.nullable(),
  revocable: z.boolean().describe("False for the workspace's own token, which is rotated instead."),
  made_by: Id.nullable().describe(
    'The token that created it and whose end ends it. Null without one, and when you may not see it.',
  ),
});
export type Token = z.infer<typeof Token>;

const tag = 'Tokens';

export const createToken = command({
  name: 'create_token',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: `Create a token for yourself, or with manage for another user. Its scope cannot exceed your own (FORBIDDEN) or that of the user (VALIDATION_FAILED). It ends together with the token that you call with, and cannot expire later (VALIDATION_FAILED); a token created after a sign-in through the identity provider is independent. A user has at most ${LIMITS.tokensPerUser} valid tokens (CONFLICT). The secret is returned only here.`,
  input: z.strictObject({
    label: Name,
    scope: Scope,
    kind: TokenKind.default('personal'),
    user_id: Id.optional(),
    expires_in_days: z
      .int()
      .min(1)
      .max(LIMITS.tokenDaysMax)
      .optional()
      .describe(`Default ${LIMITS.tokenDaysDefault}, or fewer when the token that you call with ends earlier.`),
  }),
  output: z.strictObject({ token: Token, secret: z.string().describe('svc_pat_… or svc_dev_…, shown once.') }),
  errors: ['USER_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/tokens', status: 201, tag },
});
export const listTokens = query({
  name: 'list_tokens',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: 'List the token that you call with and those created with it; after a sign-in through the identity provider, all of yours; with manage, all of a user or of all users. Newest first.',
  input: z.strictObject({
    user_id: Id.optional(),
    everybody: z.boolean().default(false),
    include_ended: z.boolean().default(false),
    ...paging,
  }),
  output: page(Token),
  errors: ['USER_NOT_FOUND'],
  rest: { method: 'GET', path: '/tokens', tag },
});
export const revokeToken = command({
  name: 'revoke_token',
  owner: 'identity',
  tier: 'read',
  reach: {},
  idempotent: true,
  doc: "Revoke a token that list_tokens shows you, or with manage any token. All tokens created with it end too, and their open connections within a second. The workspace's own token, and the last one with manage where nobody else with it can sign in, cannot be revoked, only rotated (TOKEN_NOT_REVOCABLE).",
  input: z.strictObject({ token_id: Id }),
  output: Done,
  errors: ['TOKEN_NOT_FOUND', 'TOKEN_NOT_REVOCABLE'],
  rest: { method: 'DELETE', path: '/tokens/{token_id}', tag },
});
export const rotateToken = command({
  name: 'rotate_token',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: 'Create the successor of the token that you call with: same user, kind, label and scope. Both work until you call complete_rotation with the successor, so store it first; an earlier successor that was not completed ends. The successor expires when the old token would have; the tokens of the workspace and of the first administrator get their full lifetime again. A JWT has no successor (CONFLICT). The secret is returned only here.',
  input: z.strictObject({}),
  output: z.strictObject({ token: Token, secret: z.string().describe('svc_pat_… or svc_dev_…, shown once.') }),
  errors: ['CONFLICT'],
  rest: { method: 'POST', path: '/tokens/rotate', status: 201, tag },
});
export const completeRotation = command({
  name: 'complete_rotation',
  owner: 'identity',
  tier: 'read',
  reach: {},
  idempotent: true,
  doc: 'End the token whose successor you call with; tokens created with it continue under the successor. Its open connections end within a second.',
  input: z.strictObject({}),
  output: Done,
  rest: { method: 'POST', path: '/tokens/rotate/complete', tag },
});

const ClaimText = plainText(500).regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

/** Claims of a JWT that the edge has verified. The user is created on first sight; the groups fill the groups of that claim. */
export const OidcCredential = z.strictObject({
  kind: z.literal('oidc'),
  issuer: ClaimText.min(1),
  subject: ClaimText.min(1),
  name: z.string(),
  email: Email.optional().describe('Omitted when the provider sends none, or one that it has not verified.'),
  handle: Name.optional().describe('preferred_username.'),
  groups: z.array(z.string()).max(1_000),
  scope: Scope.describe('The highest scope that the groups claim gives, by the configuration of the edge.'),
  issued_at: Timestamp.optional().describe(
    'When the provider issued the claims. Claims older than the last ones change nothing and give no more than those.',
  ),
  expires_at: Timestamp,
});
export type OidcCredential = z.infer<typeof OidcCredential>;

/** Internal: turns a credential into its caller. The edge asks; nobody else may. */
export const authenticate = query({
  name: 'authenticate',
  owner: 'identity',
  tier: 'internal',
  reach: 'internal',
  doc: "Verify a presented credential and return its user. The scope is the weaker of the credential's and the user's.",
  input: z.strictObject({
    credential: z.union([
      z.strictObject({
        kind: z.literal('token'),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('Hash of the presented token; the token itself never travels.'),
      }),
      OidcCredential,
    ]),
  }),
  output: z.strictObject({
    caller: Caller.pick({ user_id: true, scope: true, credential_id: true, device_id: true }),
    expires_at: Timestamp,
  }),
  errors: ['UNAUTHENTICATED'],
});
