import { Controller } from '@nestjs/common';
import {
  authenticateDevice,
  type Caller,
  type Device,
  inviteDevice,
  joinDevice,
  LIMITS,
  listDevices,
  type ParsedInputOf,
  type ReplyOf,
  revokeDevice,
  type Scope,
  ServiceError,
  scopeIncludes,
  weakestScope,
} from '@workspace-graph/contracts';
import { Database, LAST_ID, runCommand, systemContext, type Transaction } from '@workspace-graph/database';
import { Handles, newId, type OperationContext } from '@workspace-graph/platform';
import { runIdentityCommand } from '../shared/identity-command.js';
import { userNotFound } from '../shared/refusals.js';
import { inDays, insertToken } from '../tokens/create-token.js';
import { endTokens } from '../tokens/end-tokens.js';
import { END_TOKENS } from '../tokens/token.statements.js';
import { everybody, forbidden, lockCeiling, lockMaker, ownOrManaged, reachOf } from '../tokens/token-rights.js';
import { hashSecret, newSecret } from '../tokens/token-secret.js';
import {
  DEVICE_BY_ID,
  DEVICE_CALLER,
  DEVICE_CURSOR,
  DEVICE_PAGE,
  DEVICE_TO_JOIN,
  DEVICE_TO_REVOKE,
  FORGET_INVITATION_OF_DEVICE,
  FORGET_INVITATIONS,
  INSERT_DEVICE,
  INSERT_INVITATION,
  INVITATION,
  INVITATIONS_OF_USER,
  RENAME_DEVICE,
  REVOKE_DEVICE,
  TOKENS_OF_DEVICE,
  USE_INVITATION,
} from './device.statements.js';

interface DeviceRow extends Record<string, unknown> {
  readonly user_id: string;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
}

type Joining = Omit<ParsedInputOf<typeof joinDevice>, 'code_sha256'>;

interface Invitation {
  readonly id: string;
  readonly user_id: string;
  readonly scope: Scope;
  readonly made_by: string | null;
}

/** Workstations that people join, and what makes callers of them. */
@Controller()
export class DeviceHandlers {
  constructor(private readonly database: Database) {}

  @Handles(inviteDevice)
  async invite(
    input: ParsedInputOf<typeof inviteDevice>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof inviteDevice>> {
    const { caller } = context;
    const userId = ownOrManaged(caller, input.user_id);
    if (input.scope !== undefined && !scopeIncludes(caller.scope, input.scope))
      throw forbidden('The scope of a device cannot exceed the scope of the credential that invites it.', input.scope);
    return runIdentityCommand(this.database, context, (tx) => invite(tx, userId, input), { keepReply: false });
  }

  @Handles(joinDevice)
  async join(
    { code_sha256, ...joining }: ParsedInputOf<typeof joinDevice>,
    { envelope }: OperationContext,
  ): Promise<ReplyOf<typeof joinDevice>> {
    const context = systemContext(joinDevice.name, envelope.requestId);
    return runCommand(this.database, context, (tx) => join(tx, Buffer.from(code_sha256, 'hex'), joining), {
      keepReply: false,
    });
  }

  @Handles(listDevices)
  async list(
    input: ParsedInputOf<typeof listDevices>,
    { caller }: OperationContext,
  ): Promise<ReplyOf<typeof listDevices>> {
    const userId = input.everybody ? everybody(caller) : ownOrManaged(caller, input.user_id);
    if (userId !== null && userId !== caller.user_id) await this.requireUser(userId);
    const key = DEVICE_CURSOR.read(input.cursor, [LAST_ID]);
    const page = await this.database.json(DEVICE_PAGE, [userId, input.include_revoked, input.limit, ...key]);
    return page ?? { items: [], next_cursor: null };
  }

  @Handles(revokeDevice)
  async revoke(
    { device_id: id }: ParsedInputOf<typeof revokeDevice>,
    context: OperationContext,
  ): Promise<ReplyOf<typeof revokeDevice>> {
    return runIdentityCommand(this.database, context, async (tx) => {
      await revoke(tx, id, context.caller);
      return { done: true as const };
    });
  }

  @Handles(authenticateDevice)
  async authenticate({
    device_id,
  }: ParsedInputOf<typeof authenticateDevice>): Promise<ReplyOf<typeof authenticateDevice>> {
    const row = await this.database.row<DeviceRow>(DEVICE_CALLER, [device_id]);
    if (!row) throw new ServiceError('UNAUTHENTICATED', 'The device is not joined, or its person is disabled.');
    const { user_id, max_scope, claim_scope } = row;
    const scope = weakestScope(max_scope, claim_scope ?? 'manage');
    return { caller: { user_id, scope, credential_id: null, via: 'sync', device_id } };
  }

  private async requireUser(userId: string): Promise<void> {
    if (!(await this.database.prisma.user.findUnique({ where: { id: userId }, select: { id: true } })))
      throw userNotFound(userId);
  }
}

async function invite(
  tx: Transaction,
  userId: string,
  { scope: wanted, valid_minutes: minutes }: ParsedInputOf<typeof inviteDevice>,
) {
  const { caller } = tx.context;
  const ceiling = await lockCeiling(tx, userId);
  const maker = await lockMaker(tx, caller.credential_id);
  await refuseTooManyInvitations(tx, userId);
  const scope = weakestScope(caller.scope, ceiling, wanted ?? 'manage');
  const code = newSecret('invitation');
  const id = newId();
  const values = [id, userId, scope, hashSecret(code), maker?.id ?? null, minutes];
  const made = await tx.row<{ expires_at: string; user: { id: string; name: string } }>(INSERT_INVITATION, values);
  if (!made) throw new Error('The invitation that was just written is missing');
  const after = { invitation_id: id, scope, expires_at: made.expires_at };
  tx.audit({ action: inviteDevice.name, targetKind: 'user', targetId: userId, after });
  return { code, user: made.user, scope, expires_at: made.expires_at };
}

/** The user is locked, so those that are made at once are counted one after the other. */
async function refuseTooManyInvitations(tx: Transaction, userId: string): Promise<void> {
  await tx.execute(FORGET_INVITATIONS, [userId]);
  const limit = LIMITS.invitationsPerUser;
  const row = await tx.row<{ count: number }>(INVITATIONS_OF_USER, [userId]);
  if ((row?.count ?? 0) < limit) return;
  throw new ServiceError('CONFLICT', `${limit} codes of this user work already: use one, or wait until they end.`, {
    limit,
  });
}

/** Whoever has the code joins, once, while the invitation and what made it work. */
async function join(tx: Transaction, codeSha256: Buffer, { name, device_id: again }: Joining) {
  const invitation = await tx.row<Invitation>(INVITATION, [codeSha256]);
  if (!invitation) throw refusedCode();
  const { user_id: userId, made_by: madeBy } = invitation;
  // The user is locked before the token, as everywhere.
  const scope = weakestScope(invitation.scope, await lockCeiling(tx, userId));
  const maker = await lockMaker(tx, madeBy).catch((error: unknown) => {
    throw error instanceof ServiceError ? refusedCode() : error;
  });
  const deviceId = again ?? newId();
  const before = again === undefined ? null : await joinAgain(tx, again, { userId, name });
  if (!before) await tx.execute(INSERT_DEVICE, [deviceId, userId, name]);
  await tx.execute(USE_INVITATION, [invitation.id, deviceId]);
  const latest = maker ? new Date(maker.expires_at) : null;
  const wanted = inDays(LIMITS.tokenDaysDefault);
  const { token, secret } = await insertToken(tx, joinDevice.name, {
    kind: 'device',
    label: name,
    scope,
    userId,
    expiresAt: latest && latest < wanted ? latest : wanted,
    origin: maker ? 'token' : 'person',
    madeBy,
    deviceId,
  });
  const after = { name, user_id: userId, scope, invitation_id: invitation.id };
  tx.audit({ action: joinDevice.name, targetKind: 'device', targetId: deviceId, ...(before ? { before } : {}), after });
  const row = await tx.row<{ device: Device }>(DEVICE_BY_ID, [deviceId]);
  if (!row) throw new Error('The device that was just written is missing');
  return { device: row.device, token: secret, expires_at: token.expires_at };
}

/** Ends what the device was known by until now, and renames it. Answers how it was called. @throws ServiceError DEVICE_NOT_FOUND */
async function joinAgain(
  tx: Transaction,
  id: string,
  { userId, name }: { readonly userId: string; readonly name: string },
): Promise<{ readonly name: string }> {
  const found = await tx.row<{ name: string }>(DEVICE_TO_JOIN, [id, userId]);
  if (!found)
    throw new ServiceError(
      'DEVICE_NOT_FOUND',
      'The device was revoked, or belongs to somebody else than the one whom this code invites. The code can still be used.',
      { device_id: id },
    );
  await endTokensOf(tx, id);
  await tx.execute(FORGET_INVITATION_OF_DEVICE, [id]);
  await tx.execute(RENAME_DEVICE, [id, name]);
  return found;
}

async function endTokensOf(tx: Transaction, deviceId: string): Promise<void> {
  const tokens = await tx.row<{ ids: string[] }>(TOKENS_OF_DEVICE, [deviceId]);
  await endTokens(tx, END_TOKENS, [tokens?.ids ?? []]);
}

async function revoke(tx: Transaction, id: string, caller: Caller): Promise<void> {
  const found = await tx.row<{ revoked: boolean }>(DEVICE_TO_REVOKE, [
    id,
    ...reachOf(caller),
    caller.device_id ?? null,
  ]);
  if (!found)
    throw new ServiceError('DEVICE_NOT_FOUND', `There is no device ${id} that you may revoke.`, { device_id: id });
  if (found.revoked) return;
  const row = await tx.row<{ revoked_at: string }>(REVOKE_DEVICE, [id]);
  await endTokensOf(tx, id);
  tx.audit({
    action: revokeDevice.name,
    targetKind: 'device',
    targetId: id,
    before: { revoked_at: null },
    after: { revoked_at: row?.revoked_at },
  });
}

function refusedCode(): ServiceError {
  return new ServiceError(
    'UNAUTHENTICATED',
    'This code was used already, or has ended. `svc device invite` makes a new one.',
  );
}
