import type { Scope } from '@workspace-graph/contracts';
import type { Config, Secret } from '@workspace-graph/platform';

/** The client that the page is at the provider. */
export interface OidcClientSettings {
  readonly id: string;
  /** A public client has none. */
  readonly secret?: Secret;
  /** What is asked for, `openid` among them. */
  readonly scopes: readonly string[];
  /** What the page calls the provider. */
  readonly providerName: string;
  /** Seals what a browser keeps of a sign-in under way; the same in every gateway. */
  readonly sealingSecret: Secret;
}

/** The OpenID Connect provider whose JWTs are accepted. */
export interface OidcSettings {
  /** URL of the provider; must equal the claim `iss`. */
  readonly issuer: string;
  /** Must be contained in the claim `aud`. */
  readonly audience: string;
  /** Accepted signature algorithms, all asymmetric. */
  readonly algorithms: readonly string[];
  /** Name of the claim, or a dotted path to it. */
  readonly groupsClaim: string;
  /** Groups whose members get a scope. A user in none of them is refused. */
  readonly scopeGroups: Readonly<Record<Scope, readonly string[]>>;
  /** Without it nobody signs in to the page at the provider. */
  readonly client?: OidcClientSettings;
}

/** How long the body of a request may take, in milliseconds. */
export interface BodyTimes {
  /** Without any progress. */
  readonly stalledMs: number;
  /** In all, on a route that takes it as a whole. */
  readonly wholeMs: number;
  /** In all, on a route that reads it as a stream, and more for each byte that has arrived. */
  readonly streamedMs: number;
}

/** The edge's part of the configuration. Durations in milliseconds. */
export interface EdgeSettings {
  /** URL at which people and agents reach the service; its host and origin are allowed. */
  readonly publicUrl?: string;
  /** Allowed host names in addition to `publicUrl` and loopback, with a port to allow only that port. */
  readonly allowedHosts: readonly string[];
  /** Allowed origins of web pages in addition to the service's own. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and networks of reverse proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: readonly string[];
  /** Limit for one credential, and for one address without a credential; 0 sets no limit. */
  readonly requestsPerMinute: number;
  /** Redis in which gateways share their limits. Without it this process counts on its own. */
  readonly redisUrl?: Secret;
  /** What is not given has its default: one minute, two minutes, and ten. */
  readonly bodyTimes?: Partial<BodyTimes>;
  /** Without it JWTs are refused. */
  readonly oidc?: OidcSettings;
  /** Bearer token for `/metrics`. Without it they need loopback or the scope manage. */
  readonly metricsToken?: Secret;
}

/** The edge's part of the configuration. */
export function edgeSettings(config: Config): EdgeSettings {
  const { SVC_PUBLIC_URL: publicUrl, SVC_METRICS_TOKEN: metricsToken, SVC_REDIS_URL: redisUrl } = config;
  const oidc = oidcSettings(config);
  return {
    ...(publicUrl ? { publicUrl } : {}),
    ...(metricsToken ? { metricsToken } : {}),
    ...(redisUrl ? { redisUrl } : {}),
    ...(oidc ? { oidc } : {}),
    allowedHosts: config.SVC_ALLOWED_HOSTS,
    allowedOrigins: config.SVC_ALLOWED_ORIGINS,
    trustedProxies: config.SVC_TRUST_PROXY,
    requestsPerMinute: config.SVC_RATE_LIMIT_PER_MINUTE,
  };
}

function oidcSettings(config: Config): OidcSettings | undefined {
  const { SVC_OIDC_ISSUER: issuer, SVC_OIDC_AUDIENCE: audience } = config;
  if (!issuer || !audience) return undefined;
  const client = clientSettings(config, issuer);
  return {
    ...(client ? { client } : {}),
    issuer,
    audience,
    algorithms: config.SVC_OIDC_ALGORITHMS,
    groupsClaim: config.SVC_OIDC_GROUPS_CLAIM,
    scopeGroups: {
      manage: config.SVC_OIDC_MANAGE_GROUPS,
      write: config.SVC_OIDC_WRITE_GROUPS,
      read: config.SVC_OIDC_READ_GROUPS,
    },
  };
}

function clientSettings(config: Config, issuer: string): OidcClientSettings | undefined {
  const { SVC_OIDC_CLIENT_ID: id, SVC_OIDC_CLIENT_SECRET: secret, SVC_SIGN_IN_SECRET: sealingSecret } = config;
  if (!id || !sealingSecret) return undefined;
  return {
    id,
    ...(secret ? { secret } : {}),
    scopes: config.SVC_OIDC_SCOPES,
    providerName: config.SVC_OIDC_NAME ?? new URL(issuer).host,
    sealingSecret,
  };
}
