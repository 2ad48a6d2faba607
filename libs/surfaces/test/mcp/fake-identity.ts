import { createHash, randomUUID } from 'node:crypto';
import type { Bus, Dispatch } from '@workspace-graph/bus';
import { authenticate, type Caller, type Scope, ServiceError } from '@workspace-graph/contracts';

interface Credential {
  readonly caller: Pick<Caller, 'user_id' | 'scope' | 'credential_id'>;
  readonly expiresAtMs: number;
}

export interface NewCredential {
  readonly scope: Scope;
  /** Name of the user; the credential's own name unless told. */
  readonly user?: string;
  readonly lifeMs?: number;
}

const A_DAY_MS = 86_400_000;

/** The bearer token that goes by a name: `reader`, `writer`, `manager` and `boss` are known from the start. */
export function tokenOf(name: string): string {
  return `svc_pat_${name.padEnd(24, '0')}`;
}

/** A user's id, made of the name. */
export function userIdOf(name: string): string {
  return idOf(`user ${name}`);
}

/** Knows credentials by heart, each with a user of its own, and answers for identity. */
export class FakeIdentity {
  private readonly credentials = new Map<string, Credential>();

  constructor(private readonly bus: Pick<Bus, 'publish'>) {
    this.set('reader', { scope: 'read' });
    this.set('writer', { scope: 'write' });
    this.set('manager', { scope: 'manage' });
    this.set('boss', { scope: 'write' });
  }

  readonly dispatch: Dispatch = async (_operation, input) => {
    const { credential } = authenticate.input.parse(input);
    const known = credential.kind === 'token' ? this.credentials.get(credential.sha256) : undefined;
    if (!known || known.expiresAtMs <= Date.now())
      throw new ServiceError('UNAUTHENTICATED', 'The credential is not valid.');
    return { caller: known.caller, expires_at: new Date(known.expiresAtMs).toISOString() };
  };

  /** Adds a credential, or changes the one of this name. */
  set(name: string, { scope, user = name, lifeMs = A_DAY_MS }: NewCredential): void {
    const caller = { user_id: userIdOf(user), scope, credential_id: idOf(`credential ${name}`) };
    this.credentials.set(keyOf(name), { caller, expiresAtMs: Date.now() + lifeMs });
  }

  async revoke(name: string): Promise<void> {
    const credential = this.credentials.get(keyOf(name));
    this.credentials.delete(keyOf(name));
    if (!credential) return;
    const { user_id, credential_id } = credential.caller;
    await this.bus.publish({ type: 'credential.ended', id: randomUUID(), payload: { user_id, credential_id } });
  }
}

function keyOf(name: string): string {
  return createHash('sha256').update(tokenOf(name)).digest('hex');
}

function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
