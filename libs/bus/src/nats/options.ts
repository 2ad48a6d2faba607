import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  type TlsOptions,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import type { BusLogger } from '../bus.js';
import type { BusSettings } from '../settings.js';
import { isToken, SUBJECTS } from './subjects.js';

/** Options of a bus over NATS. Without a credential here, that in the first URL of `servers` is used. */
export interface NatsBusOptions {
  /** `nats://host:port` or `tls://host:port`, one or several of a cluster. The first may carry `user:password@`. */
  readonly servers: string | readonly string[];
  /** Shown in the broker's monitoring; letters, digits, `_` and `-`. The inbox follows it: see `inboxPrefix`. */
  readonly name: string;
  /** Receives changes of the connection, refusals by the broker, and failures of handlers and listeners. */
  readonly logger: BusLogger;
  /** Name of the NATS user. Default: the user in the first URL of `servers`. */
  readonly user?: string;
  /** Password of `user`. Default: the password in the first URL of `servers`. */
  readonly password?: string;
  /** Token of a broker that authenticates by one token instead of users. */
  readonly token?: string;
  /** Seed of an nkey (`SU…`). */
  readonly nkeySeed?: string;
  /** Text of a credentials file (JWT and seed). */
  readonly credentials?: string;
  /** Certificates for `tls://` servers. Default: the authorities that Node trusts. */
  readonly tls?: TlsOptions;
  /** Where answers arrive. Default `svc.inbox.<name>`, which `natsPermissions` allows to the user of that name. */
  readonly inboxPrefix?: string;
  /** Replaces single values of `DEFAULT_SETTINGS`. */
  readonly settings?: Partial<BusSettings>;
}

/** How fast a lost peer is noticed, in milliseconds, and the sizes of a reply in parts, in bytes. */
export const PROTOCOL = {
  /** A call answered sooner needs no acknowledgement. */
  acknowledgeAfterMs: 20,
  /** An attempt without any sign of life for so long is repeated; each further one is given half as much again. */
  firstSignMs: 1_000,
  signEveryMs: 500,
  /** An acknowledged attempt that falls silent for so long is repeated. */
  silenceMs: 1_500,
  /** While a reply arrives in parts, the parts are its only signs of life. */
  partSilenceMs: 4_000,
  /** How long instances are waited for that would take a call. */
  findMs: 500,
  /** How long calls go around a silent instance: longer than the broker needs to leave it. */
  detourMs: 10_000,
  /** Pause after an attempt that nobody received. */
  retryFirstMs: 30,
  retryMaxMs: 250,
  /** A reply up to this size is one message. */
  wholeBytes: 960_000,
  partBytes: 64 * 1_024,
  /** Parts on the way before the caller confirms the first of them. */
  windowParts: 12,
  /** Room for headers in a message of the broker's largest size. */
  headerBytes: 16 * 1_024,
} as const;

const CONNECT_TIMEOUT_MS = 3_000;
/** A broker that leaves two pings unanswered is given up when the third is due: after six to nine seconds. */
const PING_INTERVAL_MS = 3_000;

export function inboxPrefix(options: NatsBusOptions): string {
  if (!isToken(options.name)) throw new Error(`a bus name consists of letters, digits, _ and -: ${options.name}`);
  const prefix = options.inboxPrefix ?? SUBJECTS.inbox(options.name);
  if (!prefix.split('.').every(isToken))
    throw new Error(`an inbox prefix consists of words separated by dots: ${prefix}`);
  return prefix;
}

/** @throws TypeError for a server that is no URL */
export function connectionOptions(options: NatsBusOptions, reconnectDelayMs: () => number): ConnectionOptions {
  const urls = serverUrls(options);
  const tls = options.tls ?? (urls.some((url) => url.protocol === 'tls:') ? {} : undefined);
  return {
    name: options.name,
    servers: urls.map((url) => url.host),
    authenticator: authenticators(options, urls[0]),
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    // A broker whose users are being changed refuses good credentials for a while.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    reconnectDelayHandler: reconnectDelayMs,
    ...(tls ? { tls } : {}),
  };
}

/** For log lines: never with credentials. */
export function serverNames(options: NatsBusOptions): string {
  return serverUrls(options)
    .map((url) => url.host)
    .join(', ');
}

function serverUrls(options: NatsBusOptions): URL[] {
  const given = typeof options.servers === 'string' ? options.servers.split(',') : options.servers;
  return given.map((server) => new URL(server.includes('://') ? server.trim() : `nats://${server.trim()}`));
}

function authenticators(options: NatsBusOptions, first: URL | undefined): Authenticator[] {
  const user = options.user ?? (first?.username ? decodeURIComponent(first.username) : undefined);
  const password = options.password ?? (first?.password ? decodeURIComponent(first.password) : undefined);
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  return [
    ...(user === undefined ? [] : [usernamePasswordAuthenticator(user, password)]),
    ...(options.token === undefined ? [] : [tokenAuthenticator(options.token)]),
    ...(options.nkeySeed === undefined ? [] : [nkeyAuthenticator(bytes(options.nkeySeed))]),
    ...(options.credentials === undefined ? [] : [credsAuthenticator(bytes(options.credentials))]),
  ];
}
