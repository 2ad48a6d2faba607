import {
  type Caller,
  createGroup,
  createToken,
  createUser,
  type ErrorCode,
  getUser,
  listUsers,
  revokeToken,
  updateUser,
  whoami,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';

let harness: ServiceHarness;
let admin: Caller;
beforeEach(async () => {
  harness = await startServices([IdentityModule]);
  admin = await harness.user('Ada', 'manage');
});
afterEach(() => harness.close());

async function endedCredentials(): Promise<unknown[]> {
  const { rows } = await harness.database.pool.query<{ payload: unknown }>(
    `SELECT payload FROM outbox.event WHERE type = 'credential.ended' ORDER BY id`,
  );
  return rows.map((row) => row.payload);
}

describe('users', () => {
  it('are created, read, listed by name and changed at manage [identity.users.crud]', async () => {
    const made = await harness.call(createUser, { name: 'Žofie', max_scope: 'read' }, admin);
    expect(made).toMatchObject({
      name: 'Žofie',
      external_id: null,
      max_scope: 'read',
      claim_scope: null,
      disabled: false,
      groups: [],
      version: 1,
    });
    const changed = await harness.call(
      updateUser,
      { user_id: made.id, name: 'Sofie', max_scope: 'write', expected_version: 1 },
      admin,
    );
    expect(changed).toMatchObject({ name: 'Sofie', max_scope: 'write', version: 2 });
    expect(await harness.call(getUser, { user_id: made.id }, admin)).toEqual(changed);
    expect((await harness.call(listUsers, {}, admin)).items.map((user) => user.name)).toEqual(['Ada', 'Sofie']);
  });

  it('are found by a part of the name or of their identity at the provider, diacritics and case aside, and page without gap', async () => {
    for (const name of ['Žofie', 'Zora', 'Zdeněk', 'Bo']) await harness.call(createUser, { name }, admin);
    expect((await harness.call(listUsers, { query: 'ZO' }, admin)).items.map((user) => user.name)).toEqual([
      'Žofie',
      'Zora',
    ]);
    expect((await harness.call(listUsers, { query: '%' }, admin)).items).toEqual([]);
    await harness.call(createUser, { name: 'Eva', external_id: 'https://login.example|eva@example.org' }, admin);
    expect((await harness.call(listUsers, { query: 'Eva@' }, admin)).items.map((user) => user.name)).toEqual(['Eva']);
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await harness.call(listUsers, { limit: 2, ...(cursor ? { cursor } : {}) }, admin);
      names.push(...page.items.map((user) => user.name));
      cursor = page.next_cursor;
    }
    expect(names).toEqual(['Ada', 'Bo', 'Eva', 'Zdeněk', 'Žofie', 'Zora']);
  });

  it('have an e-mail and a handle, by parts of which they are found [identity.users.called]', async () => {
    const called = { email: 'T.Hockin@example.org', handle: 'thockin' };
    const made = await harness.call(createUser, { name: 'Tim', ...called }, admin);
    expect(made).toMatchObject(called);
    for (const query of ['t.hockin@', 'THOCK', '@thockin', 'tim'])
      expect((await harness.call(listUsers, { query }, admin)).items).toEqual([made]);
    const changed = await harness.call(updateUser, { user_id: made.id, email: null, handle: 'tim' }, admin);
    expect(changed).toMatchObject({ email: null, handle: 'tim', version: 2 });
    expect((await harness.call(listUsers, { query: 'hockin' }, admin)).items).toEqual([]);
    for (const email of ['tim', 'tim @example.org', 'a@b@c', ''])
      await harness.refusal(updateUser, { user_id: made.id, email }, admin, 'VALIDATION_FAILED');
  });

  it('are out of reach below manage [access.tier.identity-needs-manage]', async () => {
    const bo = await harness.user('Bo', 'write');
    for (const [operation, input] of [
      [createUser, { name: 'x' }],
      [getUser, { user_id: bo.user_id }],
      [listUsers, {}],
      [updateUser, { user_id: bo.user_id, max_scope: 'manage' }],
    ] as const) {
      expect((await harness.refusal(operation, input, bo, 'FORBIDDEN')).details).toEqual({ required_scope: 'manage' });
    }
    expect(await harness.call(whoami, {}, bo)).toMatchObject({
      user: { id: bo.user_id, name: 'Bo' },
      scope: 'write',
      credential_id: null,
    });
  });

  it('that do not exist are USER_NOT_FOUND', async () => {
    await harness.refusal(getUser, { user_id: newId() }, admin, 'USER_NOT_FOUND');
    await harness.refusal(updateUser, { user_id: newId(), name: 'x' }, admin, 'USER_NOT_FOUND');
  });

  it('have each their own external id', async () => {
    const first = await harness.call(createUser, { name: 'Bo', external_id: 'https://id.example|1' }, admin);
    const refused = await harness.refusal(
      createUser,
      { name: 'Eve', external_id: 'https://id.example|1' },
      admin,
      'CONFLICT',
    );
    expect(refused.details?.['current']).toEqual(first);
  });

  it('are not overwritten by who read them before a change', async () => {
    const made = await harness.call(createUser, { name: 'Bo' }, admin);
    const changed = await harness.call(
      updateUser,
      { user_id: made.id, name: 'Bob', expected_version: made.version },
      admin,
    );
    const refused = await harness.refusal(
      updateUser,
      { user_id: made.id, name: 'Bobby', expected_version: made.version },
      admin,
      'CONFLICT',
    );
    expect(refused.details?.['current']).toEqual(changed);
  });

  it('leave what changed in the audit trail, and nothing when nothing did', async () => {
    const made = await harness.call(createUser, { name: 'Bo' }, admin);
    await harness.call(updateUser, { user_id: made.id, name: 'Bo', disabled: true }, admin);
    await harness.call(updateUser, { user_id: made.id, disabled: true }, admin);
    const entries = await harness.database.prisma.auditEntry.findMany({ where: { action: 'update_user' } });
    expect(entries).toMatchObject([
      { userId: admin.user_id, targetId: made.id, before: { disabled: false }, after: { disabled: true } },
    ]);
  });
});

describe('a user who loses rights', () => {
  it.each([
    ['is disabled', { disabled: true }],
    ['may have less', { max_scope: 'read' as const }],
  ])('because the user %s has every credential ended, once', async (_name, change) => {
    const bo = await harness.user('Bo', 'write');
    await harness.call(updateUser, { user_id: bo.user_id, ...change }, admin);
    await harness.call(updateUser, { user_id: bo.user_id, ...change, name: 'Bob' }, admin);
    expect(await endedCredentials()).toEqual([{ user_id: bo.user_id, credential_id: null }]);
  });

  it('is told from one who gains or is renamed', async () => {
    const bo = await harness.user('Bo', 'write');
    await harness.call(updateUser, { user_id: bo.user_id, max_scope: 'manage', name: 'Bob' }, admin);
    expect(await endedCredentials()).toEqual([]);
  });

  it.each([
    ['disabled', { disabled: true }],
    ['lowered', { max_scope: 'write' as const }],
  ])('is not the last one who can manage, who cannot be %s', async (_name, change) => {
    const refused = await harness.refusal(updateUser, { user_id: admin.user_id, ...change }, admin, 'CONFLICT');
    expect(refused.details?.['current']).toMatchObject({ id: admin.user_id, max_scope: 'manage', disabled: false });
    const bo = await harness.user('Bo', 'manage');
    await harness.call(updateUser, { user_id: admin.user_id, ...change }, bo);
    await harness.refusal(updateUser, { user_id: bo.user_id, ...change }, bo, 'CONFLICT');
  });

  it('is not the last one who can manage and sign in', async () => {
    const bo = await harness.user('Bo', 'manage');
    const refused = await harness.refusal(updateUser, { user_id: admin.user_id, disabled: true }, admin, 'CONFLICT');
    expect(refused.message).toContain('No other user with the scope manage can sign in');
    await harness.call(createToken, { label: 'weak', scope: 'write', user_id: bo.user_id }, admin);
    await harness.refusal(updateUser, { user_id: admin.user_id, disabled: true }, admin, 'CONFLICT');
    const { token } = await harness.call(createToken, { label: 'ended', scope: 'manage', user_id: bo.user_id }, admin);
    await harness.call(revokeToken, { token_id: token.id }, admin);
    await harness.refusal(updateUser, { user_id: admin.user_id, max_scope: 'write' }, admin, 'CONFLICT');
    await harness.call(createToken, { label: 'own', scope: 'manage', user_id: bo.user_id }, admin);
    await harness.call(updateUser, { user_id: admin.user_id, disabled: true }, admin);
  });

  it('can be lowered by themselves where another one signs in at the provider', async () => {
    await harness.call(createUser, { name: 'Eva', external_id: 'https://id.example|2', max_scope: 'manage' }, admin);
    await harness.call(updateUser, { user_id: admin.user_id, max_scope: 'read' }, admin);
  });

  it('is not the last one who can manage even when two lower each other at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, other] = [await harness.user('One', 'manage'), await harness.user('Other', 'manage')];
      await harness.database.pool.query(`UPDATE identity."user" SET disabled_at = now() WHERE id NOT IN ($1, $2)`, [
        one.user_id,
        other.user_id,
      ]);
      const done = await Promise.allSettled([
        harness.call(updateUser, { user_id: other.user_id, max_scope: 'read' }, one),
        harness.call(updateUser, { user_id: one.user_id, disabled: true }, other),
      ]);
      expect(done.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('does not count as one who can manage when the provider allows less', async () => {
    const bo = await harness.user('Bo', 'manage');
    await harness.database.prisma.user.update({ where: { id: bo.user_id }, data: { claimScope: 'read' } });
    await harness.refusal(updateUser, { user_id: admin.user_id, disabled: true }, admin, 'CONFLICT');
  });

  it('gives nothing to anybody once its caller is disabled, revoked or lowered, however lately the edge let it in [identity.credential.confirmed-after-body]', async () => {
    const eve = await harness.user('Eve', 'manage');
    const { token } = await harness.call(createToken, { label: 'own', scope: 'manage' }, eve);
    const withToken: Caller = { ...eve, credential_id: token.id };
    const attempts = async (caller: Caller, code: ErrorCode): Promise<void> => {
      await harness.refusal(updateUser, { user_id: eve.user_id, disabled: false, max_scope: 'manage' }, caller, code);
      await harness.refusal(createUser, { name: 'Second', max_scope: 'manage' }, caller, code);
      await harness.refusal(createToken, { label: 'later', scope: 'manage' }, caller, code);
      const forAnother = { label: 'for another', scope: 'manage', user_id: admin.user_id };
      await harness.refusal(createToken, forAnother, caller, code);
      await harness.refusal(createGroup, { name: 'Friends' }, caller, code);
    };
    await harness.call(revokeToken, { token_id: token.id }, admin);
    await attempts(withToken, 'UNAUTHENTICATED');
    await harness.call(updateUser, { user_id: eve.user_id, max_scope: 'read' }, admin);
    await attempts(eve, 'SERVICE_UNAVAILABLE');
    await harness.call(updateUser, { user_id: eve.user_id, disabled: true }, admin);
    await attempts(eve, 'UNAUTHENTICATED');
    expect(await harness.call(getUser, { user_id: eve.user_id }, admin)).toMatchObject({ disabled: true });
  });

  it('that are disabled in the same instant by each other leave one who manages', async () => {
    const eve = await harness.user('Eve', 'manage');
    const ended = await Promise.allSettled([
      harness.call(updateUser, { user_id: eve.user_id, disabled: true }, admin),
      harness.call(updateUser, { user_id: admin.user_id, disabled: true }, eve),
    ]);
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
