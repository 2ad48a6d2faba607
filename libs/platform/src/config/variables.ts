import type { z } from 'zod';
import { SERVICE_NAMES, type ServiceName, servicesWith } from '../services/index.js';
import {
  flag,
  folder,
  httpPort,
  integer,
  isUrl,
  type Kind,
  list,
  oneOf,
  ratio,
  secret,
  secretUrl,
  text,
  url,
} from './kinds.js';

/** The processes that read the environment. */
export type ProcessName = 'device-agent' | ServiceName | 'cli';
export const PROCESSES: readonly ProcessName[] = ['device-agent', ...SERVICE_NAMES, 'cli'];

/** A default: one text for every process that uses the variable, or one per process. */
type Default = string | Readonly<Partial<Record<ProcessName, string>>>;

interface About {
  /** One sentence for the documentation. */
  readonly doc: string;
  readonly usedBy: readonly ProcessName[];
  readonly default?: Default;
  /** Processes that do not start without it. */
  readonly requiredBy?: readonly ProcessName[];
  /** Its file may be empty: then it is not set. */
  readonly mayBeEmpty?: boolean;
}

export interface Variable<T> extends About {
  readonly kind: Kind<T>;
}

const SERVERS: readonly ProcessName[] = ['device-agent', ...SERVICE_NAMES];
const EDGES: readonly ProcessName[] = ['device-agent', ...servicesWith('edge')];
const CENTRAL_EDGES = servicesWith('edge');
const STORES: readonly ProcessName[] = ['device-agent', ...servicesWith('database')];
const CENTRAL = servicesWith('bus');
const INNER = servicesWith('operations');
const REMOTES = servicesWith('remotes');
const WEB = ['http:', 'https:'];
/** Asymmetric signatures only: with a shared secret anybody who can verify could also sign. */
const SIGNATURES = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const ORIGIN = 'web origins such as https://graph.example.org, separated by commas';
const GROUPS = 'values of the groups claim, separated by commas';

/** A variable that is undefined when it is not set. */
function optional<T>(kind: Kind<T>, about: Omit<About, 'default'>): Variable<T | undefined> {
  return { kind, ...about };
}

/** A variable that always has a value. */
function defaulted<T>(kind: Kind<T>, fallback: Default, about: Omit<About, 'default' | 'requiredBy'>): Variable<T> {
  return { kind, default: fallback, ...about };
}

/** Every environment variable of the product. */
export const VARIABLES = {
  SVC_LOG_LEVEL: defaulted(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace']), 'info', {
    doc: 'The lowest level that is logged.',
    usedBy: SERVERS,
  }),
  SVC_LOG_FORMAT: defaulted(oneOf(['auto', 'json', 'pretty']), 'auto', {
    doc: 'json writes one object per line; pretty is for people; auto is pretty on the terminal of a workstation and json otherwise.',
    usedBy: SERVERS,
  }),
  SVC_PUBLIC_URL: optional(url(WEB), {
    doc: 'The URL at which people and agents reach the service. Its host and origin are allowed.',
    usedBy: EDGES,
  }),
  SVC_DATABASE_URL: optional(secretUrl(['postgres:', 'postgresql:']), {
    doc: 'PostgreSQL 15 or newer. A workstation without it runs its own embedded database.',
    usedBy: STORES,
    requiredBy: servicesWith('database'),
  }),
  SVC_DATABASE_POOL_SIZE: defaulted(integer(1, 1_000), '10', {
    doc: 'Maximum number of database connections of one process.',
    usedBy: STORES,
  }),
  SVC_NATS_URL: optional(text('one or more nats:// or tls:// addresses, separated by commas'), {
    doc: 'The message bus between the central processes.',
    usedBy: CENTRAL,
    requiredBy: CENTRAL,
  }),
  SVC_NATS_USER: optional(text('a user name'), { doc: 'Account of this process on the message bus.', usedBy: CENTRAL }),
  SVC_NATS_PASSWORD: optional(secret('a password'), { doc: 'Password of that account.', usedBy: CENTRAL }),
  SVC_REDIS_URL: optional(secretUrl(['redis:', 'rediss:']), {
    doc: 'Redis 7 or newer, in which several gateways share their rate limits; without it each gateway counts on its own.',
    usedBy: CENTRAL_EDGES,
  }),

  SVC_WORKSPACE_ROOT: defaulted(folder(), '~/WorkspaceGraph', {
    doc: 'Folder of the local workspace.',
    usedBy: ['device-agent', 'cli'],
  }),
  SVC_WATCH_MIRRORS: defaulted(flag(), 'true', { doc: 'Watch mirror folders for changes.', usedBy: ['device-agent'] }),
  SVC_WATCHER_DEBOUNCE_MS: defaulted(integer(10, 60_000), '300', {
    doc: 'Milliseconds that a file must stay unchanged before it is tracked.',
    usedBy: ['device-agent'],
  }),
  SVC_WATCHER_FAILURES: defaulted(integer(1, 10_000), '50', {
    doc: 'Number of watcher failures that are kept for one node.',
    usedBy: ['device-agent'],
  }),
  SVC_TRASH_DAYS: defaulted(integer(1, 3_650), '30', {
    doc: 'Days for which deleted and replaced content can be restored.',
    usedBy: ['device-agent'],
  }),
  SVC_WEBVIEW_PROOF: optional(secret('a secret'), {
    doc: 'Set by the desktop application: sockets of the live channel change sessions only if their upgrade carries it in X-Svc-Webview-Proof.',
    usedBy: ['device-agent'],
  }),
  SVC_SESSION_ARCHIVE_DAYS: defaulted(integer(1, 3_650), '30', {
    doc: 'Days without activity after which a closed session is archived.',
    usedBy: ['device-agent', 'session-svc'],
  }),
  SVC_CREDENTIALS_STORE: defaulted(oneOf(['file', 'keychain', 'varlock']), 'file', {
    doc: 'Where the credentials of remotes are: in encrypted files, in the keychain of the user, or in what the .env.schema of varlock resolves to, which is only read.',
    usedBy: REMOTES,
  }),
  SVC_CREDENTIALS_FOLDER: optional(folder(), {
    doc: 'Of the store file, the same folder for all instances; of varlock, the folder with its .env.schema.',
    usedBy: REMOTES,
  }),
  SVC_CREDENTIALS_KEY: optional(secret('a secret of at least 32 characters'), {
    doc: 'Encrypts the credentials of remotes in the store file; at least 32 characters. With another one, every remote has to be set up again.',
    usedBy: REMOTES,
  }),
  SVC_REMOTE_FOLDERS: optional(folder(), {
    doc: 'The folder below which remotes of the type fs may lie, such as mounted shares; without it there are none of this type.',
    usedBy: REMOTES,
  }),
  SVC_BYTES_HOST: defaulted(text('a host name or address'), '127.0.0.1', {
    doc: 'Address on which the bytes of files are sent and received, for gateways alone; with 0.0.0.0 they are told the host name of the machine.',
    usedBy: REMOTES,
  }),
  SVC_BYTES_PORT: defaulted(integer(0, 65_535), '4013', {
    doc: 'Port for the bytes of files; 0 picks a free one.',
    usedBy: REMOTES,
  }),
  SVC_HOST: defaulted(text('a host name or address'), '127.0.0.1', { doc: 'Address to listen on.', usedBy: EDGES }),
  SVC_PORT: defaulted(
    httpPort(),
    { 'device-agent': '4011', gateway: '4010' },
    {
      doc: 'Port to listen on; 0 picks a free one.',
      usedBy: EDGES,
    },
  ),
  SVC_ALLOW_NON_LOOPBACK: defaulted(flag(), 'false', {
    doc: 'Lets a workstation listen on an address that other machines can reach.',
    usedBy: ['device-agent'],
  }),
  SVC_OPS_HOST: defaulted(text('a host name or address'), '127.0.0.1', {
    doc: 'Address for health checks and metrics of a process without a public edge.',
    usedBy: INNER,
  }),
  SVC_OPS_PORT: defaulted(integer(0, 65_535), '4012', {
    doc: 'Port for health checks and metrics; 0 picks a free one.',
    usedBy: INNER,
  }),
  SVC_SHUTDOWN_DELAY_MS: defaulted(integer(0, 600_000), '10000', {
    doc: 'Milliseconds for which requests are still answered after a stop signal while /health/ready returns 503, so that load balancers can react.',
    usedBy: CENTRAL_EDGES,
  }),
  SVC_SHUTDOWN_GRACE_MS: defaulted(integer(0, 600_000), '10000', {
    doc: 'Milliseconds that running work has to finish after a stop signal and the delay.',
    usedBy: SERVERS,
  }),

  SVC_ALLOWED_HOSTS: defaulted(list('host names, each with a port to allow only that port, separated by commas'), '', {
    doc: 'Host names that requests may use, in addition to SVC_PUBLIC_URL and loopback with the own port.',
    usedBy: EDGES,
  }),
  SVC_ALLOWED_ORIGINS: defaulted(list(ORIGIN, isOrigin), '', {
    doc: 'Origins of web pages that may call the service, in addition to its own.',
    usedBy: EDGES,
  }),
  SVC_TRUST_PROXY: defaulted(list('addresses or networks such as 10.0.0.0/8, separated by commas'), '', {
    doc: 'Reverse proxies whose X-Forwarded-For header is trusted.',
    usedBy: EDGES,
  }),
  SVC_RATE_LIMIT_PER_MINUTE: defaulted(
    integer(0, 1_000_000_000),
    { gateway: '6000', 'device-agent': '120000' },
    {
      doc: 'Requests per minute for one credential, and for one address without a credential; 0 sets no limit.',
      usedBy: EDGES,
    },
  ),

  SVC_OIDC_ISSUER: optional(url(WEB), { doc: 'OpenID Connect provider whose JWTs are accepted.', usedBy: EDGES }),
  SVC_OIDC_AUDIENCE: optional(text('text'), { doc: 'Audience that its JWTs must have.', usedBy: EDGES }),
  SVC_OIDC_ALGORITHMS: defaulted(
    list(`some of ${SIGNATURES.join(', ')}, separated by commas`, (item) => SIGNATURES.includes(item)),
    'RS256,PS256,ES256,EdDSA',
    {
      doc: 'Signature algorithms that are accepted.',
      usedBy: EDGES,
    },
  ),
  SVC_OIDC_GROUPS_CLAIM: defaulted(text('the name of a claim, or a dotted path to one'), 'groups', {
    doc: 'Claim that lists the groups of a user.',
    usedBy: EDGES,
  }),
  SVC_OIDC_MANAGE_GROUPS: defaulted(list(GROUPS), '', {
    doc: 'Groups whose members get the scope manage.',
    usedBy: EDGES,
  }),
  SVC_OIDC_WRITE_GROUPS: defaulted(list(GROUPS), '', {
    doc: 'Groups whose members get the scope write.',
    usedBy: EDGES,
  }),
  SVC_OIDC_READ_GROUPS: defaulted(list(GROUPS), '', { doc: 'Groups whose members get the scope read.', usedBy: EDGES }),
  SVC_OIDC_CLIENT_ID: optional(text('text'), {
    doc: 'Client as which the page is registered at the provider; with it people sign in to the page there. Its redirect URI is SVC_PUBLIC_URL followed by /app/sign-in/oidc/callback.',
    usedBy: CENTRAL_EDGES,
  }),
  SVC_OIDC_CLIENT_SECRET: optional(secret('a secret'), {
    doc: 'Secret of that client; none, or an empty file, for a public client.',
    usedBy: CENTRAL_EDGES,
    mayBeEmpty: true,
  }),
  SVC_OIDC_SCOPES: defaulted(list('names of scopes, separated by commas', isOidcScope), 'openid,profile,email', {
    doc: 'Scopes that are asked for when somebody signs in to the page, openid among them; some providers want one more for the groups.',
    usedBy: CENTRAL_EDGES,
  }),
  SVC_OIDC_NAME: optional(text('text'), {
    doc: 'What the page calls the provider; without it the host name of SVC_OIDC_ISSUER.',
    usedBy: CENTRAL_EDGES,
  }),
  SVC_SIGN_IN_SECRET: optional(secret('a secret of at least 32 characters'), {
    doc: 'Seals what a browser keeps while somebody signs in at the provider; at least 32 characters, the same in all gateways. A new one ends only the sign-ins under way.',
    usedBy: CENTRAL_EDGES,
  }),

  SVC_METRICS_TOKEN: optional(secret('a token'), {
    doc: 'Bearer token for /metrics. Without it /metrics accepts loopback, and on an edge the scope manage.',
    usedBy: SERVERS,
  }),
  SVC_OTLP_URL: optional(url(WEB), {
    doc: 'OpenTelemetry collector (OTLP over HTTP) that receives traces.',
    usedBy: SERVERS,
  }),
  SVC_TRACE_RATIO: defaulted(ratio(0, 1), '1', { doc: 'Share of the requests that are traced.', usedBy: SERVERS }),

  SVC_URL: optional(url(WEB), {
    doc: 'Workspace that the svc command uses, instead of the running workspace of this user.',
    usedBy: ['cli'],
  }),
  SVC_TOKEN: optional(secret('a token'), { doc: 'Credential that the svc command uses.', usedBy: ['cli'] }),
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof VARIABLES;
export const VARIABLE_NAMES = Object.keys(VARIABLES) as readonly VariableName[];

/** The configuration, by the names of the variables. A variable that the process does not use has its first default. */
export type Config = {
  readonly [Name in VariableName]: z.output<(typeof VARIABLES)[Name]['kind']['schema']>;
};

/** The default of a variable in one process, as the text that would be set. */
export function defaultOf(name: VariableName, process: ProcessName): string | undefined {
  const fallback: Default | undefined = aboutOf(name).default;
  if (typeof fallback !== 'object') return fallback;
  return fallback[process] ?? Object.values(fallback)[0];
}

export function aboutOf(name: VariableName): Variable<unknown> {
  return VARIABLES[name];
}

/** As RFC 6749 spells one. */
function isOidcScope(item: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(item);
}

function isOrigin(item: string): boolean {
  return isUrl(item, WEB) && new URL(item).origin === item;
}
