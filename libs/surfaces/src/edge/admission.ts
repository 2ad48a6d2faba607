import { type Caller, type Scope, ServiceError, scopeIncludes } from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { type Authenticated, type AuthenticationContext, type EdgeAuthenticator, FRESH_MS } from './authenticator.js';
import type { Presented } from './credential.js';

/** Something that must hold for as long as a request lasts. Throws a ServiceError when it does not. */
export type Condition = (caller: Caller) => Promise<void>;

export interface AdmissionParts {
  readonly authenticator: Pick<EdgeAuthenticator, 'fresh' | 'verify'>;
  readonly presented: Presented;
  /** What the credential must include. */
  readonly tier: Scope;
  readonly context: AuthenticationContext;
}

/**
 * What a request rests on: a credential that includes the tier of the route, and conditions that its handler adds. It is
 * confirmed when the head has arrived, again when the body has, and again and again while bytes move.
 */
export class Admission {
  private authenticated: Authenticated | undefined;
  private readonly conditions: Condition[] = [];
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  private confirming: Promise<void> | undefined;
  private refusal: ServiceError | undefined;
  private ending: AbortController | undefined;

  constructor(private readonly parts: AdmissionParts) {}

  /** The credential as last verified. @throws Error before the first confirmation */
  get credential(): Authenticated {
    if (!this.authenticated) throw new Error('The credential of a request was read before it was verified');
    return this.authenticated;
  }

  get caller(): Caller {
    return this.credential.caller;
  }

  /** True once the request was let in. */
  get isKnown(): boolean {
    return this.authenticated !== undefined;
  }

  get requestId(): string {
    return this.parts.context.requestId;
  }

  /** Milliseconds since everything was last found to hold. */
  get ageMs(): number {
    return performance.now() - this.confirmedAtMs;
  }

  /** Aborts, with the refusal as its reason, when the admission ends before the request does. */
  get ended(): AbortSignal {
    this.ending ??= new AbortController();
    if (this.refusal) this.ending.abort(this.refusal);
    return this.ending.signal;
  }

  /** Adds a condition, to be confirmed as often as the credential. */
  restOn(condition: Condition): void {
    this.conditions.push(condition);
  }

  /**
   * Confirms without asking anybody, by what was found at most half a second ago; false when that is not known.
   * @throws ServiceError FORBIDDEN; the refusal with which it has ended
   */
  confirmKnown(): boolean {
    if (this.refusal) throw this.refusal;
    const known = this.parts.authenticator.fresh(this.parts.presented.key);
    const restsOnMore = this.conditions.length > 0;
    if (!known || (restsOnMore && this.ageMs >= FRESH_MS)) return false;
    this.enter(known);
    if (!restsOnMore) this.confirmedAtMs = known.verifiedAtMs;
    return true;
  }

  /**
   * Makes sure that everything holds now, or did so less than half a second ago, and answers who calls.
   * @throws ServiceError UNAUTHENTICATED, FORBIDDEN, whatever a condition throws; SERVICE_UNAVAILABLE and TIMEOUT when
   * nobody can tell
   */
  async confirm(): Promise<Caller> {
    if (!this.confirmKnown()) {
      this.confirming ??= this.ask().finally(() => {
        this.confirming = undefined;
      });
      await this.confirming;
    }
    return this.caller;
  }

  /** Ends the request: what still arrives is not taken, what is still to be sent is not sent. */
  end(refusal: ServiceError): void {
    this.refusal ??= refusal;
    this.ending?.abort(this.refusal);
  }

  private async ask(): Promise<void> {
    const { authenticator, presented, context } = this.parts;
    const askedAtMs = performance.now();
    this.enter(authenticator.fresh(presented.key) ?? (await authenticator.verify(presented, context)));
    await Promise.all(this.conditions.map((condition) => condition(this.caller)));
    this.confirmedAtMs = askedAtMs;
  }

  private enter(authenticated: Authenticated): void {
    const { tier } = this.parts;
    if (!scopeIncludes(authenticated.caller.scope, tier))
      throw new ServiceError('FORBIDDEN', `This needs the scope ${tier}.`, { required_scope: tier });
    this.authenticated = authenticated;
  }
}

/** The admission of a request on a route that is not public. @throws ServiceError UNAUTHENTICATED without one */
export function admissionOf({ edge }: FastifyRequest): Admission {
  if (!edge?.admission) throw new ServiceError('UNAUTHENTICATED', 'This route needs a bearer token.');
  return edge.admission;
}
