import { Email, Name, OidcCredential, SCOPES, ServiceError } from '@workspace-graph/contracts';
import { isLoopback } from '@workspace-graph/platform';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose';
import { z } from 'zod';
import type { OidcSettings } from './edge-settings.js';

/** Durations in milliseconds. */
export interface ProviderTimes {
  readonly timeoutMs: number;
  /** Least time between two looks for a key that the provider did not have. */
  readonly cooldownMs: number;
  /** How long keys are used without asking again. */
  readonly maxAgeMs: number;
  /** How long a provider that failed is left alone. */
  readonly backoffMs: number;
}

export const PROVIDER_TIMES: ProviderTimes = {
  timeoutMs: 3_000,
  cooldownMs: 10_000,
  maxAgeMs: 600_000,
  backoffMs: 1_000,
};
const CLOCK_TOLERANCE_SECONDS = 5;
/** An issue further ahead would keep everything that the provider says until then from counting. */
const ISSUED_AHEAD_SECONDS = 60;
const MAX_GROUPS = 1_000;
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** What jose says when it got no keys, and when it has them and none is for a token. */
const NO_KEYS: readonly string[] = ['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'];
const NO_KEY_OF_TOKEN: readonly string[] = ['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JOSE_NOT_SUPPORTED'];

/** Claims of a subject that the provider tells apart from a JWT. @throws whatever stands in the way */
export type MoreClaims = (subject: string) => Promise<Readonly<Record<string, unknown>>>;

/** Verifies JWTs of an OpenID Connect provider against the keys it publishes. */
export class JwtVerifier {
  private keys: Promise<RemoteJWKSet> | undefined;
  private failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly settings: OidcSettings,
    private readonly times: ProviderTimes = PROVIDER_TIMES,
  ) {}

  /** @throws ServiceError UNAUTHENTICATED, FORBIDDEN for a bearer without any scope, SERVICE_UNAVAILABLE without the provider's keys */
  verify(jwt: string): Promise<OidcCredential> {
    return this.credentialOf(jwt, this.settings.audience);
  }

  /** As `verify`, for what tells a client who has signed in. `more` is asked where it does not tell the groups. */
  verifyIdToken(jwt: string, clientId: string, more: MoreClaims): Promise<OidcCredential> {
    return this.credentialOf(jwt, clientId, more);
  }

  private async credentialOf(jwt: string, audience: string, more?: MoreClaims): Promise<OidcCredential> {
    const { issuer, algorithms, groupsClaim } = this.settings;
    try {
      const { payload } = await jwtVerify(jwt, (header, token) => this.keyFor(header, token), {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['exp', 'iat', 'sub'],
      });
      if (!more || claimAt(payload, groupsClaim) !== undefined) return claimsOf(payload, this.settings);
      const asked: Promise<Readonly<Record<string, unknown>>> = more(String(payload.sub));
      return claimsOf({ ...(await asked), ...payload }, this.settings);
    } catch (error) {
      throw error instanceof ServiceError ? error : refused(error);
    }
  }

  private async keyFor(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<RemoteJWKSet> {
    const keys = await this.keySet();
    try {
      return await keys(header, token);
    } catch (error) {
      if (error instanceof ServiceError || isOfToken(error, keys)) throw error;
      throw providerUnavailable(error);
    }
  }

  private async keySet(): Promise<RemoteJWKSet> {
    this.keys ??= this.discover();
    try {
      return await this.keys;
    } catch (error) {
      this.keys = undefined;
      throw error;
    }
  }

  private async discover(): Promise<RemoteJWKSet> {
    const { issuer } = this.settings;
    const { timeoutMs, cooldownMs, maxAgeMs } = this.times;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await this.ask(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    const found = Discovery.safeParse(await response.json().catch(() => undefined));
    if (!found.success || found.data.issuer !== issuer || !isSafe(found.data.jwks_uri)) {
      throw providerUnavailable(new Error(`The discovery document of ${issuer} cannot be used`));
    }
    return createRemoteJWKSet(new URL(found.data.jwks_uri), {
      timeoutDuration: timeoutMs,
      cooldownDuration: cooldownMs,
      cacheMaxAge: maxAgeMs,
      [customFetch]: (keysUrl, options) => this.ask(keysUrl, options),
    });
  }

  /** Asks the provider, unless it failed a moment ago. */
  private async ask(url: string, options: RequestInit): Promise<Response> {
    const nowMs = performance.now();
    if (nowMs - this.failedAtMs < this.times.backoffMs) throw providerUnavailable();
    try {
      const response = await fetch(url, options);
      if (!response.ok) throw new Error(`The identity provider answered ${response.status}`);
      return response;
    } catch (error) {
      this.failedAtMs = nowMs;
      throw providerUnavailable(error);
    }
  }
}

/** @throws Error that says which claim cannot be */
function claimsOf(payload: JWTPayload, { groupsClaim, scopeGroups }: OidcSettings): OidcCredential {
  const { iss, sub, iat = 0, exp = 0 } = payload;
  if (iat > Date.now() / 1_000 + ISSUED_AHEAD_SECONDS)
    throw new errors.JWTClaimValidationFailed('"iat" claim timestamp is in the future', payload, 'iat');
  const names = [payload.name, payload.preferred_username, payload.email, sub];
  const groups = groupsOf(payload, groupsClaim);
  const scope = SCOPES.findLast((candidate) => scopeGroups[candidate].some((group) => groups.includes(group)));
  const claims = OidcCredential.safeParse({
    kind: 'oidc',
    issuer: iss,
    subject: sub,
    name: names.find((name): name is string => typeof name === 'string' && name.trim() !== '') ?? '',
    ...namesOf(payload),
    groups,
    scope: scope ?? 'read',
    issued_at: timeText(iat),
    expires_at: timeText(exp),
  });
  if (!claims.success)
    throw new Error(claims.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  if (!scope) throw new ServiceError('FORBIDDEN', 'None of your groups has access.', { required_scope: 'read' });
  return claims.data;
}

/** By which others may name the person; what cannot be kept, or is not theirs for sure, is left out. */
function namesOf({ email, email_verified, preferred_username }: JWTPayload): Pick<OidcCredential, 'email' | 'handle'> {
  const isTheirs = email_verified !== false && email_verified !== 'false';
  const address = isTheirs ? Email.safeParse(email).data : undefined;
  const handle = Name.safeParse(preferred_username).data;
  return { ...(address ? { email: address } : {}), ...(handle ? { handle } : {}) };
}

/** What is no time stays a number, and is refused as that. */
function timeText(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}

/** A claim of that very name, else the one at that dotted path. */
function claimAt(payload: JWTPayload, claim: string): unknown {
  return claim in payload ? payload[claim] : claim.split('.').reduce<unknown>(member, payload);
}

/** A single text is a list of one. */
function groupsOf(payload: JWTPayload, claim: string): string[] {
  const value = claimAt(payload, claim);
  const groups = typeof value === 'string' ? [value] : value;
  return Array.isArray(groups) ? groups.filter(isText).slice(0, MAX_GROUPS) : [];
}

/** Halves of characters would all be stored as the same one. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Whether the keys are there and none of them fits or can be used, so that it is the token that cannot be trusted. */
function isOfToken(error: unknown, keys: RemoteJWKSet): boolean {
  const code = error instanceof errors.JOSEError ? error.code : '';
  return NO_KEY_OF_TOKEN.includes(code) || (keys.fresh && !NO_KEYS.includes(code));
}

/** Whatever else stands in the way of a token is its own fault; the cause says it to the log. */
function refused(cause: unknown): ServiceError {
  const message = cause instanceof errors.JWTExpired ? 'The credential has expired.' : 'The credential is not valid.';
  return new ServiceError('UNAUTHENTICATED', message, undefined, { cause });
}

export function providerUnavailable(cause?: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The identity provider cannot be reached.', undefined, { cause });
}

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}
