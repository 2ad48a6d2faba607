import { z } from 'zod';
import { Caller, Scope } from '../caller.js';
import { Done, Id, Name, page, paging, Timestamp } from '../common.js';
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
});
export type Token = z.infer<typeof Token>;

const tag = 'Tokens';

export const createToken = command({
  name: 'create_token',
  owner: 'identity',
  tier: 'read',
  doc: `Create a token for yourself, or with manage for another user. It never goes beyond your own scope (FORBIDDEN) or what the user may have (VALIDATION_FAILED). A user has at most ${LIMITS.tokensPerUser} that work (CONFLICT). The secret is in this answer and nowhere else.`,
  input: z.strictObject({
    label: Name,
    scope: Scope,
    kind: TokenKind.default('personal'),
    user_id: Id.optional(),
    expires_in_days: z.int().min(1).max(LIMITS.tokenDaysMax).default(LIMITS.tokenDaysDefault),
  }),
  output: z.strictObject({ token: Token, secret: z.string().describe('svc_pat_… or svc_dev_…, shown once.') }),
  errors: ['USER_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/tokens', status: 201, tag },
});
export const listTokens = query({
  name: 'list_tokens',
  owner: 'identity',
  tier: 'read',
  doc: 'List your tokens, or with manage those of a user or of everybody, newest first.',
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
  idempotent: true,
  doc: "Revoke one of your tokens, or with manage anybody's. Its open connections end within a second.",
  input: z.strictObject({ token_id: Id }),
  output: Done,
  errors: ['TOKEN_NOT_FOUND'],
  rest: { method: 'DELETE', path: '/tokens/{token_id}', tag },
});

const ClaimText = z
  .string()
  .max(500)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

/** Internal: turns a credential into its caller. The edge asks; nobody else may. */
export const authenticate = query({
  name: 'authenticate',
  owner: 'identity',
  tier: 'internal',
  doc: "Verify a presented credential and answer who it belongs to. The scope is the weakest of the credential's and the user's.",
  input: z.strictObject({
    credential: z.union([
      z.strictObject({
        kind: z.literal('token'),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('Hash of the presented token; the token itself never travels.'),
      }),
      z
        .strictObject({
          kind: z.literal('oidc'),
          issuer: ClaimText.min(1),
          subject: ClaimText.min(1),
          name: z.string(),
          groups: z.array(z.string()).max(1_000),
          scope: Scope.describe('The highest scope that the groups claim stands for, as the edge is configured.'),
          issued_at: Timestamp.optional().describe(
            'When the provider said so. Claims that are older than the last ones change nothing and give no more than those.',
          ),
          expires_at: Timestamp,
        })
        .describe(
          'Claims of a JWT that the edge has verified. The user is created on first sight; the groups fill the groups of that claim.',
        ),
    ]),
  }),
  output: z.strictObject({
    caller: Caller.pick({ user_id: true, scope: true, credential_id: true }),
    expires_at: Timestamp,
  }),
  errors: ['UNAUTHENTICATED'],
});
