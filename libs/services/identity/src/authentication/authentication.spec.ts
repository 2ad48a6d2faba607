import { createHash } from 'node:crypto';
import {
  authenticate,
  type Caller,
  changeGroupMembers,
  createGroup,
  createToken,
  createUser,
  getUser,
  type Scope,
  updateUser,
} from '@workspace-graph/contracts';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';

let harness: ServiceHarness;
let admin: Caller;
beforeAll(async () => {
  harness = await startServices([IdentityModule]);
  admin = await harness.user('Ada', 'manage');
});
afterAll(() => harness.close());

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const byToken = (secret: string) => ({ credential: { kind: 'token' as const, sha256: sha256(secret) } });
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
const claims = (subject: string, scope: Scope, groups: string[] = [], expiresAt = inAnHour()) => ({
  credential: {
    kind: 'oidc' as const,
    issuer: 'https://id.example',
    subject,
    name: `User ${subject}`,
    groups,
    scope,
    expires_at: expiresAt,
  },
});

async function makeToken(caller: Caller, scope: Scope): Promise<{ id: string; secret: string }> {
  const made = await harness.call(createToken, { label: 'test', scope }, caller);
  return { id: made.token.id, secret: made.secret };
}

const lastUse = async (id: string): Promise<Date | null> =>
  (await harness.database.prisma.token.findUniqueOrThrow({ where: { id } })).lastUsedAt;

describe('a token', () => {
  it('answers its user, scope and expiry', async () => {
    const user = await harness.user('Bo');
    const { id, secret } = await makeToken(user, 'read');
    const reply = await harness.call(authenticate, byToken(secret), admin);
    expect(reply.caller).toEqual({ user_id: user.user_id, scope: 'read', credential_id: id });
    expect(new Date(reply.expires_at).getTime()).toBeGreaterThan(Date.now() + 179 * 86_400_000);
  });

  it('never goes beyond what its user may have now', async () => {
    const user = await harness.user('Cy', 'manage');
    const { secret } = await makeToken(user, 'manage');
    await harness.call(updateUser, { user_id: user.user_id, max_scope: 'read' }, admin);
    expect((await harness.call(authenticate, byToken(secret), admin)).caller.scope).toBe('read');
  });

  it.each([
    ['unknown', ''],
    ['expired', `expires_at = now() - interval '1 second'`],
    ['revoked', 'revoked_at = now()'],
  ])(
    'that is %s is refused [identity.token.expired-refused] [identity.token.revoked-refused]',
    async (_name, change) => {
      const { id, secret } = await makeToken(admin, 'read');
      if (change) await harness.database.pool.query(`UPDATE identity.token SET ${change} WHERE id = $1`, [id]);
      await harness.refusal(authenticate, byToken(change ? secret : `${secret}x`), admin, 'UNAUTHENTICATED');
    },
  );

  it('of a disabled user is refused until the user is enabled again [identity.users.crud]', async () => {
    const user = await harness.user('Di');
    const { secret } = await makeToken(user, 'write');
    await harness.call(updateUser, { user_id: user.user_id, disabled: true }, admin);
    await harness.refusal(authenticate, byToken(secret), admin, 'UNAUTHENTICATED');
    await harness.call(updateUser, { user_id: user.user_id, disabled: false }, admin);
    expect((await harness.call(authenticate, byToken(secret), admin)).caller.user_id).toBe(user.user_id);
  });

  it('has its use recorded to the minute with one write, however often it is used', async () => {
    const { id, secret } = await makeToken(admin, 'read');
    expect(await lastUse(id)).toBeNull();
    const before = await writes();
    await Promise.all(Array.from({ length: 20 }, () => harness.call(authenticate, byToken(secret), admin)));
    expect((await lastUse(id))?.getTime()).toBe(Math.floor(Date.now() / 60_000) * 60_000);
    expect((await writes()) - before).toBeLessThanOrEqual(1);
    await harness.database.pool.query(
      `UPDATE identity.token SET last_used_at = last_used_at - interval '1 minute' WHERE id = $1`,
      [id],
    );
    await harness.call(authenticate, byToken(secret), admin);
    expect((await lastUse(id))?.getTime()).toBeGreaterThan(Date.now() - 61_000);
  });
});

/** Versions of token rows written so far, over all transactions of this database. */
async function writes(): Promise<number> {
  const { rows } = await harness.database.pool.query<{ n: string }>(
    `SELECT count(DISTINCT xmin::text) AS n FROM identity.token`,
  );
  return Number(rows[0]?.n);
}

describe('the claims of an identity provider', () => {
  it('create the user on first sight, once however many requests come first [identity.jwt.groups-claim]', async () => {
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => harness.call(authenticate, claims('eve', 'write'), admin)),
    );
    expect(new Set(replies.map((reply) => reply.caller.user_id)).size).toBe(1);
    expect(replies[0]?.caller).toMatchObject({ scope: 'write', credential_id: null });
    const user = await harness.call(getUser, { user_id: replies[0]?.caller.user_id ?? '' }, admin);
    expect(user).toMatchObject({
      name: 'User eve',
      external_id: 'https://id.example|eve',
      max_scope: 'manage',
      claim_scope: 'write',
      disabled: false,
    });
  });

  it('decide the scope below what the administrator allows [identity.jwt.groups-claim]', async () => {
    const { caller } = await harness.call(authenticate, claims('fay', 'manage'), admin);
    expect(caller.scope).toBe('manage');
    await harness.call(updateUser, { user_id: caller.user_id, max_scope: 'write' }, admin);
    expect((await harness.call(authenticate, claims('fay', 'manage'), admin)).caller.scope).toBe('write');
    expect((await harness.call(authenticate, claims('fay', 'read'), admin)).caller.scope).toBe('read');
  });

  it('that allow less end what was allowed before, personal tokens included', async () => {
    const { caller } = await harness.call(authenticate, claims('gus', 'manage'), admin);
    const { secret } = await makeToken({ ...caller, via: 'rest' }, 'manage');
    await harness.call(authenticate, claims('gus', 'read'), admin);
    expect((await harness.call(authenticate, byToken(secret), admin)).caller.scope).toBe('read');
    expect(await ended()).toContainEqual({ user_id: caller.user_id, credential_id: null });
  });

  it('fill the groups of their claim and leave those joined by hand [identity.jwt.groups-claim]', async () => {
    const [staff, board, choir] = await Promise.all([
      harness.call(createGroup, { name: 'Staff', claim: 'staff' }, admin),
      harness.call(createGroup, { name: 'Board', claim: 'board' }, admin),
      harness.call(createGroup, { name: 'Choir' }, admin),
    ]);
    const { caller } = await harness.call(authenticate, claims('hal', 'write', ['staff', 'unknown']), admin);
    await harness.call(changeGroupMembers, { group_id: choir.id, add: [caller.user_id], confirmed: true }, admin);
    expect(await groupsOf(caller.user_id)).toEqual([choir.name, staff.name]);
    await harness.call(authenticate, claims('hal', 'write', ['board']), admin);
    expect(await groupsOf(caller.user_id)).toEqual([board.name, choir.name]);
    await harness.call(authenticate, claims('hal', 'write'), admin);
    expect(await groupsOf(caller.user_id)).toEqual([choir.name]);
  });

  it('tell e-mail and handle, which are followed unless the claims are older; what they leave out stays [identity.users.called]', async () => {
    const signIn = async (called: { email?: string; handle?: string }, minutesAgo = 0): Promise<string> => {
      const { credential } = claims('una', 'read');
      const issued_at = new Date(Date.now() - minutesAgo * 60_000).toISOString();
      const { caller } = await harness.call(
        authenticate,
        { credential: { ...credential, ...called, issued_at } },
        admin,
      );
      return caller.user_id;
    };
    const id = await signIn({ email: 'una@example.org', handle: 'una' });
    const told = () => harness.call(getUser, { user_id: id }, admin);
    expect(await told()).toMatchObject({ email: 'una@example.org', handle: 'una', version: 1 });
    await signIn({});
    await signIn({ email: 'old@example.org' }, 5);
    expect(await told()).toMatchObject({ email: 'una@example.org', handle: 'una', version: 1 });
    await signIn({ email: 'una@example.com' });
    expect(await told()).toMatchObject({ email: 'una@example.com', handle: 'una', version: 2 });
    const { before, after } = await harness.database.prisma.auditEntry.findFirstOrThrow({
      where: { targetId: id },
      orderBy: { id: 'desc' },
    });
    expect([before, after]).toEqual([{ email: 'una@example.org' }, { email: 'una@example.com' }]);
  });

  it('write nothing when nothing differs', async () => {
    const { caller } = await harness.call(authenticate, claims('ida', 'write', ['staff']), admin);
    const before = await auditedOf(caller.user_id);
    await harness.call(authenticate, claims('ida', 'write', ['staff']), admin);
    expect(await auditedOf(caller.user_id)).toBe(before);
    await harness.call(authenticate, claims('ida', 'write'), admin);
    expect(await auditedOf(caller.user_id)).toBe(before + 1);
  });

  it('that are older than the last ones bring nothing back and change nothing, however often they come', async () => {
    await harness.call(createGroup, { name: 'Former', claim: 'former' }, admin);
    const issued = (scope: Scope, groups: string[], minutesAgo: number) => {
      const { credential } = claims('mia', scope, groups);
      return { credential: { ...credential, issued_at: new Date(Date.now() - minutesAgo * 60_000).toISOString() } };
    };
    const [old, recent] = [issued('manage', ['former'], 5), issued('write', [], 1)];
    const { caller } = await harness.call(authenticate, old, admin);
    expect([caller.scope, await groupsOf(caller.user_id)]).toEqual(['manage', ['Former']]);
    expect((await harness.call(authenticate, recent, admin)).caller.scope).toBe('write');
    const [audited, told] = [await auditedOf(caller.user_id), (await ended()).length];
    const replies = await Promise.all([old, recent, old, recent].map((one) => harness.call(authenticate, one, admin)));
    expect(replies.map((reply) => reply.caller.scope)).toEqual(['write', 'write', 'write', 'write']);
    expect(await groupsOf(caller.user_id)).toEqual([]);
    expect([await auditedOf(caller.user_id), (await ended()).length]).toEqual([audited, told]);
  });

  it('never wait in a circle with a change that the same user makes to one of the groups', async () => {
    const { id } = await harness.call(createGroup, { name: 'Ring', claim: 'ring' }, admin);
    const { caller } = await harness.call(authenticate, claims('ned', 'manage'), admin);
    const signedIn = await harness.database.transaction(async (client) => {
      await client.query('SELECT FROM identity.user_group WHERE id = $1 FOR UPDATE', [id]);
      const reply = harness.call(authenticate, claims('ned', 'manage', ['ring']), admin);
      while ((await waitingForLocks()) !== 1);
      // What the audit line of the other change refers to.
      await client.query('SELECT FROM identity."user" WHERE id = $1 FOR KEY SHARE', [caller.user_id]);
      return { result: { reply } };
    });
    expect((await signedIn.reply).caller.user_id).toBe(caller.user_id);
    expect(await groupsOf(caller.user_id)).toEqual(['Ring']);
  });

  it('of a disabled user or past their expiry are refused', async () => {
    const { caller } = await harness.call(authenticate, claims('jan', 'write'), admin);
    await harness.refusal(
      authenticate,
      claims('jan', 'write', [], new Date(Date.now() - 1_000).toISOString()),
      admin,
      'UNAUTHENTICATED',
    );
    await harness.call(updateUser, { user_id: caller.user_id, disabled: true }, admin);
    await harness.refusal(authenticate, claims('jan', 'write', ['staff']), admin, 'UNAUTHENTICATED');
  });

  it('meet the user that an administrator made for them before', async () => {
    const user = await harness.call(
      createUser,
      { name: 'Kim', external_id: 'https://id.example|kim', max_scope: 'read' },
      admin,
    );
    const { caller } = await harness.call(authenticate, claims('kim', 'manage'), admin);
    expect(caller).toMatchObject({ user_id: user.id, scope: 'read' });
  });

  it('with a name or a group that cannot be stored still sign the user in', async () => {
    const odd = claims('lea', 'read', ['a\u0000b']);
    const { caller } = await harness.call(authenticate, { credential: { ...odd.credential, name: '\u0007' } }, admin);
    expect(await harness.call(getUser, { user_id: caller.user_id }, admin)).toMatchObject({
      name: 'https://id.example|lea',
    });
  });
});

async function waitingForLocks(): Promise<number> {
  const { rows } = await harness.database.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return rows[0]?.n ?? 0;
}

async function groupsOf(userId: string): Promise<string[]> {
  return (await harness.call(getUser, { user_id: userId }, admin)).groups.map((group) => group.name);
}

const auditedOf = (userId: string): Promise<number> =>
  harness.database.prisma.auditEntry.count({ where: { targetId: userId } });

async function ended(): Promise<unknown[]> {
  const { rows } = await harness.database.pool.query<{ payload: unknown }>(
    `SELECT payload FROM outbox.event WHERE type = 'credential.ended'`,
  );
  return rows.map((row) => row.payload);
}
