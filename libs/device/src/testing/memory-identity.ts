import { type Caller, type Operation, ServiceError, type User, whoami } from '@workspace-graph/contracts';

const AT = '2026-05-04T10:00:00.000Z';

/** Answers `whoami`: everybody may do everything, unless a spec tells otherwise. */
export class MemoryIdentity {
  /** What is different about users; null for those that are gone. */
  readonly users = new Map<string, Partial<User> | null>();

  static readonly operations: readonly Operation[] = [whoami];

  /** Fits `Bus.serve`. */
  readonly dispatch = async (
    _operation: Operation,
    _input: unknown,
    { envelope: { caller } }: { readonly envelope: { readonly caller: Caller | null } },
  ): Promise<unknown> => {
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
}
