import { createHash, randomBytes } from 'node:crypto';
import type { InProcessBus } from '@workspace-graph/bus';
import {
  authenticate,
  type Caller,
  type InputOf,
  type Operation,
  type Scope,
  ServiceError,
} from '@workspace-graph/contracts';

export interface FakeToken {
  readonly text: string;
  readonly caller: Omit<Caller, 'via'>;
}

type Credential = InputOf<typeof authenticate>['credential'];

const YEAR_MS = 31_536_000_000;

/** Stands in for the identity service: knows the tokens it made, and takes the claims of any verified JWT. */
export class FakeIdentity {
  private readonly tokens = new Map<string, { caller: Omit<Caller, 'via'>; expiresAtMs: number }>();
  /** Credentials that the edge asked about, in order. */
  readonly asked: Credential[] = [];
  /** How long an answer takes. */
  delayMs = 0;
  /** Refuses everything, as when the service cannot be reached. */
  isDown = false;

  createToken(scope: Scope, lifeMs = YEAR_MS, user_id: string = crypto.randomUUID()): FakeToken {
    const text = `svc_pat_${randomBytes(32).toString('base64url')}`;
    const caller = { user_id, scope, credential_id: crypto.randomUUID() };
    this.tokens.set(sha256(text), { caller, expiresAtMs: Date.now() + lifeMs });
    return { text, caller };
  }

  /** Ends a token without telling anybody. */
  forget({ text }: FakeToken): void {
    this.tokens.delete(sha256(text));
  }

  /** Changes what a token may do without telling anybody. */
  allow({ text, caller }: FakeToken, scope: Scope): void {
    this.tokens.set(sha256(text), { caller: { ...caller, scope }, expiresAtMs: Date.now() + YEAR_MS });
  }

  /** Ends a token and tells the event. */
  async revoke(token: FakeToken, bus: InProcessBus): Promise<void> {
    this.forget(token);
    const { user_id, credential_id } = token.caller;
    await bus.publish({ type: 'credential.ended', id: crypto.randomUUID(), payload: { user_id, credential_id } });
  }

  readonly dispatch = async (operation: Operation, input: unknown): Promise<unknown> => {
    if (operation.name !== authenticate.name) throw new Error(`${operation.name} is not faked`);
    const { credential } = authenticate.input.parse(input);
    this.asked.push(credential);
    const answer = this.answer(credential);
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    return answer;
  };

  private answer(credential: Credential): unknown {
    if (this.isDown) throw new ServiceError('SERVICE_UNAVAILABLE', 'The identity service cannot be reached.');
    if (credential.kind === 'oidc') {
      return {
        caller: { user_id: '0190a000-0000-7000-8000-00000000000a', scope: credential.scope, credential_id: null },
        expires_at: credential.expires_at,
      };
    }
    const token = this.tokens.get(credential.sha256);
    if (!token) throw new ServiceError('UNAUTHENTICATED', 'The credential is not valid.');
    return { caller: token.caller, expires_at: new Date(token.expiresAtMs).toISOString() };
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
