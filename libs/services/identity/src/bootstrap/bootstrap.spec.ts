import { createHash } from 'node:crypto';
import { authenticate, type Caller, createToken, revokeToken, updateUser } from '@workspace-graph/contracts';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';
import { bootstrapAdministrator, ensureLocalOwner } from './bootstrap.js';

let harness: ServiceHarness;
beforeEach(async () => {
  harness = await startServices([IdentityModule]);
});
afterEach(() => harness.close());

const edge: Caller = {
  user_id: '01890000-0000-7000-8000-000000000001',
  scope: 'read',
  credential_id: null,
  via: 'system',
};
const callerOf = (secret: string) =>
  harness.call(
    authenticate,
    { credential: { kind: 'token', sha256: createHash('sha256').update(secret).digest('hex') } },
    edge,
  );

describe('the first administrator', () => {
  it('gets a manage token, and nobody gets a second one [identity.bootstrap.one-time]', async () => {
    const made = await bootstrapAdministrator(harness.database, { name: 'Ada', label: 'first' });
    expect((await callerOf(made.secret)).caller).toEqual({
      user_id: made.user_id,
      scope: 'manage',
      credential_id: made.token_id,
    });
    await expect(bootstrapAdministrator(harness.database, { name: 'Eve', label: 'second' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await harness.database.prisma.user.count()).toBe(1);
  });

  it('is one, however many ask at once [identity.bootstrap.one-time]', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        bootstrapAdministrator(harness.database, { name: `User ${index}`, label: 'x' }),
      ),
    );
    expect(asked.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    expect(await harness.database.prisma.user.count()).toBe(1);
    expect(await harness.database.prisma.token.count()).toBe(1);
  });

  it('keeps the last token with which anybody can manage, and may end it once there is another one', async () => {
    const { secret, token_id } = await bootstrapAdministrator(harness.database, { name: 'Ada', label: 'first' });
    const ada: Caller = { ...(await callerOf(secret)).caller, via: 'rest' };
    const below = await harness.call(createToken, { label: 'below', scope: 'manage' }, ada);
    const eve = await harness.user('Eve', 'write');
    await harness.call(createToken, { label: 'weak', scope: 'write', user_id: eve.user_id }, ada);
    const refused = await harness.refusal(revokeToken, { token_id }, ada, 'TOKEN_NOT_REVOCABLE');
    expect(refused.message).toContain('nobody with the scope manage could sign in any more');
    await harness.call(revokeToken, { token_id: below.token.id }, ada);
    const bo = await harness.user('Bo', 'manage');
    const others: Caller = { ...bo, credential_id: null };
    const own = await harness.call(createToken, { label: 'own', scope: 'manage' }, others);
    const both = [token_id, own.token.id].map((id) => harness.call(revokeToken, { token_id: id }, ada));
    const ended = await Promise.allSettled(both);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is in the audit trail, the secret is not', async () => {
    const { secret, user_id: userId } = await bootstrapAdministrator(harness.database, { name: 'Ada', label: 'first' });
    const entries = await harness.database.prisma.auditEntry.findMany();
    expect(entries.map((entry) => [entry.action, entry.via, entry.targetKind])).toEqual(
      expect.arrayContaining([
        ['bootstrap', 'system', 'user'],
        ['bootstrap', 'system', 'token'],
      ]),
    );
    expect(entries.some((entry) => entry.targetId === userId)).toBe(true);
    expect(JSON.stringify(entries)).not.toContain(secret);
  });
});

describe('the owner of a local workspace', () => {
  it('is made once and keeps a token that works [identity.local.sidecar-token]', async () => {
    const first = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    const again = await ensureLocalOwner(harness.database, { name: 'Bo', secret: first.secret });
    expect(first.created).toBe(true);
    expect(again).toEqual({ user_id: first.user_id, secret: first.secret, created: false });
    expect((await callerOf(first.secret)).caller).toMatchObject({ user_id: first.user_id, scope: 'manage' });
    expect(await harness.database.prisma.token.count()).toBe(1);
  });

  it.each([
    ['is lost', ''],
    ['was revoked', 'revoked_at = now()'],
    ['is about to expire', `expires_at = now() + interval '1 day'`],
  ])('gets a new token when the kept one %s, and the old one ends', async (_name, change) => {
    const first = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    if (change) await harness.database.pool.query(`UPDATE identity.token SET ${change}`);
    const next = await ensureLocalOwner(harness.database, { name: 'Bo', secret: change ? first.secret : null });
    expect(next.user_id).toBe(first.user_id);
    expect(next.secret).not.toBe(first.secret);
    await expect(callerOf(first.secret)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await callerOf(next.secret)).caller.user_id).toBe(first.user_id);
  });

  it('is one when two processes start at once', async () => {
    const owners = await Promise.all(
      [1, 2, 3].map(() => ensureLocalOwner(harness.database, { name: 'Bo', secret: null })),
    );
    expect(new Set(owners.map((owner) => owner.user_id)).size).toBe(1);
    expect(await harness.database.prisma.user.count()).toBe(1);
    expect(await harness.database.prisma.token.count({ where: { revokedAt: null } })).toBe(1);
  });

  it.each([
    ['disabled', { disabled: true }],
    ['lowered', { max_scope: 'write' as const }],
  ])('cannot be %s, by themselves or others, which would shut them out of their own machine', async (_name, change) => {
    const { user_id, secret } = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    const owner: Caller = { ...(await callerOf(secret)).caller, via: 'rest' };
    const eve = await harness.user('Eve', 'manage');
    await harness.call(createToken, { label: 'own', scope: 'manage', user_id: eve.user_id }, owner);
    for (const caller of [owner, eve]) {
      const refused = await harness.refusal(updateUser, { user_id, ...change }, caller, 'CONFLICT');
      expect(refused.message).toContain('the person of this local workspace');
    }
    await harness.call(updateUser, { user_id, name: 'Bob' }, eve);
  });

  it.each([
    ['disabled', 'disabled_at = now()', [{ disabled: true }, { disabled: false }]],
    ['lowered', `max_scope = 'read'`, [{ max_scope: 'read' }, { max_scope: 'manage' }]],
  ])('who was %s elsewhere is let in again at the start', async (_name, change, told) => {
    const { user_id, secret } = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    await harness.database.pool.query(`UPDATE identity."user" SET ${change}`);
    expect(await ensureLocalOwner(harness.database, { name: 'Bo', secret })).toMatchObject({ user_id, secret });
    expect((await callerOf(secret)).caller).toMatchObject({ user_id, scope: 'manage' });
    const entries = await harness.database.prisma.auditEntry.findMany({ where: { targetId: user_id } });
    expect(entries.map(({ action, before, after }) => [action, before, after])).toContainEqual(['bootstrap', ...told]);
  });

  it('leaves no place for a bootstrap', async () => {
    await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    await expect(bootstrapAdministrator(harness.database, { name: 'Eve', label: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });
});
