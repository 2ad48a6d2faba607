import type { Scope } from '@workspace-graph/contracts';
import type { Config, Secret } from '@workspace-graph/platform';

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  /** Name of the claim, or a dotted path to it. */
  readonly groupsClaim: string;
  /** Groups whose members get a scope. Who is in none of them gets nothing. */
  readonly scopeGroups: Readonly<Record<Scope, readonly string[]>>;
}

/** What the edge is told. Durations in milliseconds. */
export interface EdgeSettings {
  readonly publicUrl?: string;
  /** Host names, with a port where only that one is meant. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Addresses and networks of reverse proxies. */
  readonly trustedProxies: readonly string[];
  /** 0 sets no limit. */
  readonly requestsPerMinute: number;
  /** Redis in which gateways share their limits. */
  readonly redisUrl?: Secret;
  /** A request ends whose body stands still for so long; a minute without it. */
  readonly stalledBodyMs?: number;
  readonly oidc?: OidcSettings;
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
  return {
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
