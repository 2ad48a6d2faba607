import {
  authenticateDevice,
  type Caller,
  type Operation,
  ServiceError,
  type User,
  whoami,
} from '@workspace-graph/contracts';
import type { DeviceIdentity } from '../records/device-principal.js';

const AT = '2026-05-04T10:00:00.000Z';

/** Answers who people and this device are: everybody may do everything, unless a spec tells otherwise. */
export class MemoryIdentity {
  /** What is different about users; null for those that are gone. */
  readonly users = new Map<string, Partial<User> | null>();

  static readonly operations: readonly Operation[] = [whoami, authenticateDevice];

  constructor(private readonly device: DeviceIdentity) {}

  /** Fits `Bus.serve`. */
  readonly dispatch = async (
    operation: Operation,
    _input: unknown,
    { envelope: { caller } }: { readonly envelope: { readonly caller: Caller | null } },
  ): Promise<unknown> => {
    if (operation === authenticateDevice) return { caller: this.deviceCaller() };
    const userId = caller?.user_id ?? '';
    const details = this.users.get(userId);
    if (details === null) throw new ServiceError('USER_NOT_FOUND', `There is no user ${userId}.`);
    const user: User = {
      id: userId,
      name: 'Ann',
      external_id: null,
      email: null,
      handle: null,
      max_scope: 'manage',
      claim_scope: null,
      disabled: false,
      groups: [],
      version: 1,
      created_at: AT,
      updated_at: AT,
      ...details,
    };
    return { user, scope: caller?.scope, credential_id: null };
  };

  private deviceCaller(): Caller {
    const { userId, deviceId } = this.device;
    const details = this.users.get(userId);
    if (details === null || details?.disabled) throw new ServiceError('UNAUTHENTICATED', 'The person is disabled.');
    return {
      user_id: userId,
      scope: details?.max_scope ?? 'manage',
      credential_id: null,
      via: 'sync',
      device_id: deviceId,
    };
  }
}
