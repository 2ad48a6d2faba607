import { randomUUID } from 'node:crypto';
import type { Bus, Subscription } from '@workspace-graph/bus';
import {
  authenticate,
  type BusEventPayload,
  type Caller,
  type InputOf,
  RawJson,
  ServiceError,
  serviceCaller,
} from '@workspace-graph/contracts';
import type { Logger, Metrics } from '@workspace-graph/platform';
import { type Presented, readCredential } from './credential.js';
import type { JwtVerifier, MoreClaims } from './jwt-verifier.js';

/** A verified credential. */
export interface Authenticated {
  /** Came over REST unless the surface says otherwise. Frozen. */
  readonly caller: Caller;
  /** When the credential ends, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
  /** When it was verified, in milliseconds of `performance.now()`. */
  readonly verifiedAtMs: number;
}

/** Every credential of the user, when `credential_id` is null. */
export type EndedCredential = BusEventPayload<'credential.ended'>;

/** The request for which a credential is verified. */
export interface AuthenticationContext {
  /** Id of the request in the logs. */
  readonly requestId: string;
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

export interface AuthenticatorParts {
  readonly bus: Pick<Bus, 'call' | 'subscribe' | 'onStatus'>;
  /** Without it JWTs are refused. */
  readonly jwts: JwtVerifier | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type Credential = InputOf<typeof authenticate>['credential'];

interface Entry extends Authenticated {
  readonly credential: Credential;
}

/** How long an answer is used without asking again. Revocation takes effect within a second even if its event is lost. */
export const FRESH_MS = 500;
/** How long a credential counts as known to the rate limit after it was verified. */
const KNOWN_MS = 600_000;
const MAX_ENTRIES = 10_000;
/** Verifications at once when all are repeated. */
const RECHECKS = 16;
const EDGE = serviceCaller('edge');

/** Turns Authorization headers into callers, and tells when a credential has ended. */
export class EdgeAuthenticator {
  private readonly entries = new Map<string, Entry>();
  private readonly pending = new Map<string, Promise<Entry>>();
  private readonly listeners = new Set<(ended: EndedCredential) => void>();
  private subscription: Subscription | undefined;
  private stopStatus: (() => void) | undefined;
  /** Counts ended credentials, so that an answer under way when one ended is asked for again. */
  private endings = 0;

  constructor(private readonly parts: AuthenticatorParts) {}

  async start(): Promise<void> {
    const { bus, logger } = this.parts;
    this.subscription = await bus.subscribe(['credential.ended'], ({ payload }) => this.end(payload));
    // Events may have been missed while nobody could be reached.
    this.stopStatus = bus.onStatus((status) => {
      if (status === 'ready')
        this.recheck().catch((error: unknown) =>
          logger.warn({ err: error }, 'open credentials could not be verified again'),
        );
    });
  }

  async stop(): Promise<void> {
    this.stopStatus?.();
    await this.subscription?.stop();
  }

  /** @throws ServiceError UNAUTHENTICATED, SERVICE_UNAVAILABLE, TIMEOUT */
  async authenticate(authorization: string | undefined, context: AuthenticationContext): Promise<Authenticated> {
    const presented = authorization === undefined ? undefined : readCredential(authorization);
    if (!presented) throw noCredential(authorization);
    return this.fresh(presented.key) ?? this.verify(presented, context);
  }

  /** The answer for a credential, if it is at most half a second old. `key` is that of `readCredential`. */
  fresh(key: string): Authenticated | undefined {
    const entry = this.entries.get(key);
    return entry && performance.now() - entry.verifiedAtMs < FRESH_MS && entry.expiresAtMs > Date.now()
      ? entry
      : undefined;
  }

  /** True for a credential that was good lately. */
  isKnown(key: string): boolean {
    const entry = this.entries.get(key);
    return entry !== undefined && performance.now() - entry.verifiedAtMs < KNOWN_MS;
  }

  /** Asks whose credential it is; those who ask for the same one at the same time share the answer. */
  verify(presented: Presented, context: AuthenticationContext): Promise<Authenticated> {
    const underWay = this.pending.get(presented.key);
    if (underWay) return underWay;
    const asked = this.ask(presented, context).finally(() => this.pending.delete(presented.key));
    this.pending.set(presented.key, asked);
    return asked;
  }

  /**
   * Who has signed in at the provider, by the ID token that it gave to a client of ours. Nothing of it is remembered.
   * @throws ServiceError UNAUTHENTICATED, with a cause where the ID token is at fault; FORBIDDEN, SERVICE_UNAVAILABLE, TIMEOUT
   */
  async identify(
    { jwt, clientId, more }: { readonly jwt: string; readonly clientId: string; readonly more: MoreClaims },
    context: AuthenticationContext,
  ): Promise<Authenticated> {
    try {
      if (!this.parts.jwts) throw new ServiceError('UNAUTHENTICATED', 'The credential is not valid.');
      const entry = await this.entryOf(await this.parts.jwts.verifyIdToken(jwt, clientId, more), context);
      this.parts.metrics.authentication('ok');
      return entry;
    } catch (error) {
      this.noteFailure(error, context);
      throw error;
    }
  }

  /** Tells each credential that has ended. Returns the function that stops it. */
  onEnded(listener: (ended: EndedCredential) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async ask(presented: Presented, context: AuthenticationContext): Promise<Entry> {
    const endings = this.endings;
    try {
      const credential = await this.credentialOf(presented);
      const entry = await this.lookUp(presented.key, credential, context);
      if (endings !== this.endings) return await this.lookUp(presented.key, credential, context);
      this.parts.metrics.authentication('ok');
      return entry;
    } catch (error) {
      if (this.noteFailure(error, context)) this.entries.delete(presented.key);
      throw error;
    }
  }

  /** Answers whether it is the credential that was refused. */
  private noteFailure(error: unknown, context: AuthenticationContext): boolean {
    const isRefused = error instanceof ServiceError && error.code === 'UNAUTHENTICATED';
    if (isRefused && error.cause !== undefined) this.logReason(error.cause, context);
    this.parts.metrics.authentication(isRefused ? 'refused' : 'failed');
    return isRefused;
  }

  /** To the log alone: whoever presented the credential is not helped to mend it. */
  private logReason(cause: unknown, { requestId }: AuthenticationContext): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.parts.logger.info({ request_id: requestId, reason }, 'a credential was refused');
  }

  private async credentialOf(presented: Presented): Promise<Credential> {
    if (presented.kind === 'token') return { kind: 'token', sha256: presented.key };
    if (!this.parts.jwts) throw new ServiceError('UNAUTHENTICATED', 'The credential is not valid.');
    return this.parts.jwts.verify(presented.jwt);
  }

  private async lookUp(key: string, credential: Credential, context: AuthenticationContext): Promise<Entry> {
    const entry = await this.entryOf(credential, context);
    this.remember(key, entry);
    return entry;
  }

  private async entryOf(credential: Credential, { requestId, traceparent }: AuthenticationContext): Promise<Entry> {
    const verifiedAtMs = performance.now();
    const envelope = { callId: randomUUID(), requestId, caller: EDGE, ...(traceparent ? { traceparent } : {}) };
    const reply = await this.parts.bus.call(authenticate, { credential }, envelope);
    const { caller, expires_at } = reply instanceof RawJson ? authenticate.output.parse(reply.parse()) : reply;
    const expiresAtMs = Date.parse(expires_at);
    if (expiresAtMs <= Date.now()) throw new ServiceError('UNAUTHENTICATED', 'The credential has expired.');
    return { caller: Object.freeze({ ...caller, via: 'rest' }), expiresAtMs, credential, verifiedAtMs };
  }

  private remember(key: string, entry: Entry): void {
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size <= MAX_ENTRIES) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  private end(ended: EndedCredential): void {
    this.endings += 1;
    for (const [key, { caller }] of this.entries) if (endsFor(ended, caller)) this.entries.delete(key);
    for (const listener of this.listeners) listener(ended);
  }

  /** Verifies every remembered credential again and tells which of them have ended. */
  private async recheck(): Promise<void> {
    const remembered = [...this.entries];
    this.entries.clear();
    for (let start = 0; start < remembered.length; start += RECHECKS) {
      await Promise.all(remembered.slice(start, start + RECHECKS).map(([key, entry]) => this.recheckOne(key, entry)));
    }
  }

  private async recheckOne(key: string, { credential, caller }: Entry): Promise<void> {
    try {
      await this.lookUp(key, credential, { requestId: randomUUID() });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'UNAUTHENTICATED') this.end({ user_id: caller.user_id, credential_id: caller.credential_id });
    }
  }
}

/** Whether a caller has come with a credential that has ended. */
export function endsFor(ended: EndedCredential, caller: Caller): boolean {
  return (
    caller.user_id === ended.user_id && (ended.credential_id === null || caller.credential_id === ended.credential_id)
  );
}

export function noCredential(authorization: string | undefined): ServiceError {
  const message =
    authorization === undefined
      ? 'This route needs a bearer token.'
      : 'The Authorization header contains no credential: it must be `Bearer` followed by a JWT or by a token, which begins with svc_pat_ or svc_dev_.';
  return new ServiceError('UNAUTHENTICATED', message);
}
