import { SCOPES, type Scope, ServiceError } from '@workspace-graph/contracts';
import { isLoopback } from '@workspace-graph/platform';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose';
import { z } from 'zod';
import type { OidcSettings } from './edge-settings.js';

/** What a verified JWT says of its bearer. */
export interface OidcClaims {
  readonly kind: 'oidc';
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly groups: string[];
  readonly scope: Scope;
  /** ISO 8601. */
  readonly issued_at: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

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
const MAX_GROUPS = 1_000;
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** jose throws one of these when it could not get keys; everything else is the token's fault. */
const PROVIDER_FAULTS = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']);

/** Verifies JWTs of an OpenID Connect provider against the keys it publishes. */
export class JwtVerifier {
  private keys: Promise<RemoteJWKSet> | undefined;
  private failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly settings: OidcSettings,
    private readonly times: ProviderTimes = PROVIDER_TIMES,
  ) {}

  /** @throws ServiceError UNAUTHENTICATED, FORBIDDEN for a bearer without any scope, SERVICE_UNAVAILABLE without the provider's keys */
  async verify(jwt: string): Promise<OidcClaims> {
    const { issuer, audience, algorithms } = this.settings;
    try {
      const { payload } = await jwtVerify(jwt, async (header, token) => (await this.keySet())(header, token), {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['exp', 'iat', 'sub'],
      });
      return claimsOf(payload, this.settings);
    } catch (error) {
      throw error instanceof ServiceError ? error : asRefusal(error);
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

function claimsOf(payload: JWTPayload, { groupsClaim, scopeGroups }: OidcSettings): OidcClaims {
  const { iss = '', sub = '', iat = 0, exp = 0 } = payload;
  const names = [payload.name, payload.preferred_username, payload.email, sub];
  const groups = groupsOf(payload, groupsClaim);
  const scope = SCOPES.findLast((candidate) => scopeGroups[candidate].some((group) => groups.includes(group)));
  if (!scope) throw new ServiceError('FORBIDDEN', 'None of your groups gives access.', { required_scope: 'read' });
  return {
    kind: 'oidc',
    issuer: iss,
    subject: sub,
    name: names.find((name): name is string => typeof name === 'string' && name.trim() !== '') ?? sub,
    groups,
    scope,
    issued_at: new Date(iat * 1_000).toISOString(),
    expires_at: new Date(exp * 1_000).toISOString(),
  };
}

/** A claim of that very name, else the one at that dotted path; a single text is a list of one. */
function groupsOf(payload: JWTPayload, claim: string): string[] {
  const value = claim in payload ? payload[claim] : claim.split('.').reduce<unknown>(member, payload);
  const groups = typeof value === 'string' ? [value] : value;
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string').slice(0, MAX_GROUPS) : [];
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function asRefusal(error: unknown): ServiceError {
  const code = error instanceof errors.JOSEError ? error.code : undefined;
  if (code === undefined || PROVIDER_FAULTS.has(code)) return providerUnavailable(error);
  const message = code === 'ERR_JWT_EXPIRED' ? 'The credential has expired.' : 'The credential is not valid.';
  return new ServiceError('UNAUTHENTICATED', message, undefined, { cause: error });
}

function providerUnavailable(cause?: unknown): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The identity provider cannot be reached.', undefined, { cause });
}

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}
