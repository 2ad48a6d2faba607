import type { Bus } from '@workspace-graph/bus';
import {
  authenticate,
  authenticateDevice,
  type Caller,
  completeRotation,
  type Envelope,
  type InputOf,
  type Operation,
  type OutputOf,
  rotateToken,
  ServiceError,
  whoami,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { Centre, Me } from './centre.js';
import type { LocalCredential, LocalCredentials } from './local-credentials.js';
import { howToJoinAgain, type Membership } from './membership.js';

const SERVED: readonly Operation[] = [authenticate, authenticateDevice, whoami, rotateToken, completeRotation];

/**
 * Who calls at this workstation: programs with the credential of the workspace and browsers that were signed in, all of them
 * the person of the device. What that person may do the centre decides at each call; here it is as last told.
 */
export class LocalIdentity {
  constructor(
    private readonly parts: {
      readonly membership: Membership;
      readonly credentials: LocalCredentials;
      readonly centre: Centre;
      readonly bus: Pick<Bus, 'serve' | 'publish'>;
    },
  ) {
    parts.centre.onChange((state) => {
      if (state === 'refused') void this.tellEnded(null);
    });
  }

  /** Serves what the edge asks about credentials; everything else about people is the centre's. */
  async serve(): Promise<void> {
    await this.parts.bus.serve('identity', SERVED, async (operation, input, { envelope }) => {
      switch (operation.name) {
        case authenticate.name:
          return this.authenticate(input as InputOf<typeof authenticate>);
        case authenticateDevice.name:
          return { caller: this.caller };
        case whoami.name:
          return this.whoami(envelope);
        case rotateToken.name:
          return this.rotate(envelope);
        default:
          await this.complete(envelope.caller?.credential_id ?? '');
          return { done: true };
      }
    });
  }

  /** The device itself. @throws ServiceError UNAUTHENTICATED once it was revoked */
  private get caller(): Caller {
    const { membership, centre } = this.parts;
    if (centre.state === 'refused') throw notOurs(membership);
    const { user, device } = membership;
    return { user_id: user.id, scope: centre.scope, credential_id: null, via: 'sync', device_id: device.id };
  }

  private authenticate({ credential }: InputOf<typeof authenticate>): OutputOf<typeof authenticate> {
    const found = credential.kind === 'token' ? this.parts.credentials.find(credential.sha256) : null;
    if (!found) throw new ServiceError('UNAUTHENTICATED', 'The credential is not valid.');
    const { user_id, scope, device_id } = this.caller;
    return { caller: { user_id, scope, credential_id: found.id, device_id }, expires_at: found.expires_at };
  }

  private async whoami({ caller }: Envelope): Promise<Me> {
    if (!caller) throw new ServiceError('UNAUTHENTICATED', 'This operation needs a credential.');
    return { ...(await this.parts.centre.me(caller)), credential_id: caller.credential_id };
  }

  /** Of the credential with which this is called, which works here alone. */
  private async rotate({ caller }: Envelope): Promise<OutputOf<typeof rotateToken>> {
    const { credentials, membership, centre } = this.parts;
    if (!credentials.isOfWorkspace(caller?.credential_id ?? ''))
      throw new ServiceError('FORBIDDEN', 'A browser cannot replace its credential: sign in again for another one.');
    const { credential, secret } = await credentials.makeSuccessor();
    const user = { id: membership.user.id, name: membership.user.name };
    return { token: tokenOf(credential, { user, scope: caller?.scope ?? centre.scope }), secret };
  }

  /** Ends what a credential was made to replace. */
  async complete(credentialId: string): Promise<void> {
    const ended = await this.parts.credentials.complete(credentialId);
    if (ended !== null) await this.tellEnded(ended);
  }

  /** Ends a credential, and what is open with it. */
  async end(credentialId: string): Promise<void> {
    await this.parts.credentials.end(credentialId);
    await this.tellEnded(credentialId);
  }

  private tellEnded(credential_id: string | null): Promise<void> {
    const { bus, membership } = this.parts;
    return bus.publish({
      type: 'credential.ended',
      id: newId(),
      payload: { user_id: membership.user.id, credential_id },
    });
  }
}

/** A credential of this workstation, as tokens are told. */
export function tokenOf(
  { id, kind, label, made_at, expires_at }: LocalCredential,
  { user, scope }: Pick<OutputOf<typeof rotateToken>['token'], 'user' | 'scope'>,
): OutputOf<typeof rotateToken>['token'] {
  return {
    id,
    kind: kind === 'page' ? 'personal' : 'device',
    label,
    scope,
    user,
    created_at: made_at,
    expires_at,
    last_used_at: null,
    revoked_at: null,
    revocable: kind === 'page',
    made_by: null,
  };
}

function notOurs({ url, device }: Membership): ServiceError {
  return new ServiceError(
    'UNAUTHENTICATED',
    `${url} does not take this workstation as a device any more: it was revoked, or its token has ended. ${howToJoinAgain(url)} Where it was revoked, leave before with \`svc leave\`.`,
    { device_id: device.id },
  );
}
