import { Controller } from '@nestjs/common';
import {
  authenticate,
  type ParsedInputOf,
  type ReplyOf,
  type Scope,
  ServiceError,
  weakestScope,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { CLAIMED_USER, TOKEN_BY_HASH, TOUCH_TOKEN } from './authentication.statements.js';
import { applyClaims, type Claims, claimParameters } from './claims.js';

type Credential = ParsedInputOf<typeof authenticate>['credential'];
type OidcCredential = Extract<Credential, { kind: 'oidc' }>;
type Reply = ReplyOf<typeof authenticate>;

interface TokenRow extends Record<string, unknown> {
  readonly id: string;
  readonly user_id: string;
  readonly device_id: string | null;
  readonly scope: Scope;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
  readonly expires_at: string;
  readonly expired: boolean;
  readonly revoked: boolean;
  readonly disabled: boolean;
  readonly stale: boolean;
}

interface ClaimedUserRow extends Record<string, unknown> {
  readonly user_id: string;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
  readonly disabled: boolean;
  readonly differs: boolean;
}

/** Turns credentials into callers, for the edge. */
@Controller()
export class AuthenticationHandlers {
  constructor(private readonly database: Database) {}

  @Handles(authenticate)
  async authenticate({ credential }: ParsedInputOf<typeof authenticate>, context: OperationContext): Promise<Reply> {
    return credential.kind === 'token'
      ? this.byToken(credential.sha256)
      : this.byClaims(credential, context.envelope.requestId);
  }

  private async byToken(sha256: string): Promise<Reply> {
    const token = await this.database.row<TokenRow>(TOKEN_BY_HASH, [Buffer.from(sha256, 'hex')]);
    if (!token || token.revoked || token.disabled) throw refused('The token is not valid.');
    if (token.expired) throw refused('The token has expired.');
    if (token.stale) await this.database.rows(TOUCH_TOKEN, [token.id]);
    return {
      caller: {
        user_id: token.user_id,
        scope: weakestScope(token.scope, token.max_scope, token.claim_scope ?? 'manage'),
        credential_id: token.id,
        ...(token.device_id === null ? {} : { device_id: token.device_id }),
      },
      expires_at: token.expires_at,
    };
  }

  private async byClaims(credential: OidcCredential, requestId: string): Promise<Reply> {
    const expiresAt = new Date(credential.expires_at);
    if (expiresAt.getTime() <= Date.now()) throw refused('The token has expired.');
    const { issuer, subject, name, email = null, handle = null, scope } = credential;
    const claims: Claims = {
      externalId: `${issuer}|${subject}`,
      name,
      email,
      handle,
      scope,
      groups: credential.groups.filter((group) => !group.includes('\u0000')),
      issuedAt: credential.issued_at ?? null,
    };
    let user = await this.findClaimed(claims);
    if (!user || (user.differs && !user.disabled)) {
      await applyClaims(this.database, claims, requestId);
      user = await this.findClaimed(claims);
    }
    if (!user || user.disabled) throw refused('The token is not valid.');
    // Claims that are older than those of the record give no more than it has.
    const scopeNow = weakestScope(claims.scope, user.claim_scope ?? claims.scope, user.max_scope);
    return {
      caller: { user_id: user.user_id, scope: scopeNow, credential_id: null },
      expires_at: expiresAt.toISOString(),
    };
  }

  private findClaimed(claims: Claims): Promise<ClaimedUserRow | null> {
    return this.database.row<ClaimedUserRow>(CLAIMED_USER, claimParameters(claims));
  }
}

function refused(message: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', message);
}
