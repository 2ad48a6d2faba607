import {
  type Caller,
  createToken,
  listTokens,
  type OutputOf,
  revokeToken,
  type Scope,
} from '@workspace-graph/contracts';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';

let harness: ServiceHarness;
let admin: Caller;
let bo: Caller;
beforeAll(async () => {
  harness = await startServices([IdentityModule]);
  admin = await harness.user('Ada', 'manage');
  bo = await harness.user('Bo', 'write');
});
afterAll(() => harness.close());

const make = (caller: Caller, scope: Scope, more: object = {}): Promise<OutputOf<typeof createToken>> =>
  harness.call(createToken, { label: 'laptop', scope, ...more }, caller);

async function everyText(): Promise<string> {
  const tables = ['identity.token', 'audit.entry', 'outbox.event', 'outbox.applied_call'];
  const texts = await Promise.all(
    tables.map(async (table) => (await harness.database.pool.query(`SELECT t::text FROM ${table} t`)).rows),
  );
  return JSON.stringify(texts);
}

describe('creating a token', () => {
  it.each([
    ['personal', /^svc_pat_[\w-]{43}$/],
    ['device', /^svc_dev_[\w-]{43}$/],
  ] as const)(
    'answers the secret of a %s token [identity.personal-token.format] [identity.device-token.format]',
    async (kind, format) => {
      const first = await make(bo, 'write', { kind });
      expect(first.secret).toMatch(format);
      expect(first.token).toMatchObject({
        kind,
        label: 'laptop',
        scope: 'write',
        user: { id: bo.user_id, name: 'Bo' },
        last_used_at: null,
        revoked_at: null,
        revocable: true,
      });
      expect((await make(bo, 'write', { kind })).secret).not.toBe(first.secret);
    },
  );

  it('keeps nothing but the hash, in no table [identity.token.hash-only] [identity.token.shown-once]', async () => {
    const { secret } = await make(bo, 'read');
    const text = await everyText();
    expect(text).not.toContain(secret);
    expect(text).not.toContain(secret.slice('svc_pat_'.length));
    expect(text).not.toContain(Buffer.from(secret).toString('hex'));
  });

  it('is valid for 180 days unless told [identity.token.default-expiry]', async () => {
    const days = ({ token }: OutputOf<typeof createToken>): number =>
      Math.round((Date.parse(token.expires_at) - Date.now()) / 86_400_000);
    expect(days(await make(bo, 'read'))).toBe(180);
    expect(days(await make(bo, 'read', { expires_in_days: 3 }))).toBe(3);
  });

  it('is refused above the scope of the credential in use [identity.token.scope-not-above-own]', async () => {
    const refused = await harness.refusal(createToken, { label: 'x', scope: 'manage' }, bo, 'FORBIDDEN');
    expect(refused.details).toEqual({ required_scope: 'manage' });
    await harness.refusal(createToken, { label: 'x', scope: 'write' }, { ...bo, scope: 'read' }, 'FORBIDDEN');
  });

  it('is refused above what the other user may have, for an unknown and for a disabled user', async () => {
    const refused = await harness.refusal(
      createToken,
      { label: 'x', scope: 'manage', user_id: bo.user_id },
      admin,
      'VALIDATION_FAILED',
    );
    expect(refused.details?.['issues']).toEqual([{ path: 'scope', message: 'this user may have at most write' }]);
    await harness.refusal(
      createToken,
      { label: 'x', scope: 'read', user_id: '01890000-0000-7000-8000-000000000001' },
      admin,
      'USER_NOT_FOUND',
    );
    const gone = await harness.user('Gone');
    await harness.database.prisma.user.update({ where: { id: gone.user_id }, data: { disabledAt: new Date() } });
    await harness.refusal(
      createToken,
      { label: 'x', scope: 'read', user_id: gone.user_id },
      admin,
      'VALIDATION_FAILED',
    );
  });

  it('for somebody else needs manage [access.tier.identity-needs-manage]', async () => {
    await harness.refusal(createToken, { label: 'x', scope: 'read', user_id: admin.user_id }, bo, 'FORBIDDEN');
    const { token } = await make(admin, 'write', { user_id: bo.user_id });
    expect(token.user).toEqual({ id: bo.user_id, name: 'Bo' });
  });

  it('is refused to a user who has as many as one may have, until one of them ends', async () => {
    const many = await harness.user('Many', 'write');
    await harness.database.pool.query(
      `INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at, revoked_at)
      SELECT gen_random_uuid(), 'personal', 'old', 'read', $1::uuid, sha256(n::text::bytea), now() + (n - 10) * interval '1 day',
        CASE WHEN n > 110 THEN now() END FROM generate_series(1, 120) n`,
      [many.user_id],
    );
    await harness.database.pool.query(
      `UPDATE identity.token SET revoked_at = now() WHERE user_id = $1 AND secret_sha256 = sha256('110'::bytea)`,
      [many.user_id],
    );
    const last = await make(many, 'read');
    const made = await Promise.allSettled([make(many, 'read'), make(admin, 'read', { user_id: many.user_id })]);
    expect(made.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const error = await harness.refusal(createToken, { label: 'x', scope: 'read' }, many, 'CONFLICT');
    expect(error.details).toEqual({ limit: 100 });
    await harness.call(revokeToken, { token_id: last.token.id }, many);
    const again = await Promise.allSettled([1, 2, 3].map(() => make(many, 'read')));
    expect(again.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await harness.database.pool.query('DELETE FROM identity.token WHERE user_id = $1', [many.user_id]);
  });

  it('answers a repeated call with CONFLICT, for the secret is not kept', async () => {
    const before = await harness.database.prisma.token.count();
    const callId = 'call-made-twice';
    await harness.call(createToken, { label: 'twice', scope: 'read' }, bo, callId);
    await expect(harness.call(createToken, { label: 'twice', scope: 'read' }, bo, callId)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await harness.database.prisma.token.count()).toBe(before + 1);
  });
});

describe('listing tokens', () => {
  it('shows the own ones, newest first and page by page, without their text [identity.token.last-use] [identity.token.own-only]', async () => {
    const cy = await harness.user('Cy');
    const made = [];
    for (const label of ['a', 'b', 'c']) made.push(await make(cy, 'read', { label }));
    const first = await harness.call(listTokens, { limit: 2 }, cy);
    const second = await harness.call(listTokens, { limit: 2, cursor: first.next_cursor ?? '' }, cy);
    expect([...first.items, ...second.items].map((token) => token.label)).toEqual(['c', 'b', 'a']);
    expect(second.next_cursor).toBeNull();
    for (const { secret } of made) expect(JSON.stringify([first, second])).not.toContain(secret);
  });

  it('of others needs manage [identity.token.own-only]', async () => {
    await harness.refusal(listTokens, { everybody: true }, bo, 'FORBIDDEN');
    await harness.refusal(listTokens, { user_id: admin.user_id }, bo, 'FORBIDDEN');
    await harness.refusal(listTokens, { user_id: '01890000-0000-7000-8000-000000000001' }, admin, 'USER_NOT_FOUND');
    const users = (await harness.call(listTokens, { everybody: true }, admin)).items.map((token) => token.user.name);
    expect(users).toEqual(expect.arrayContaining(['Bo', 'Cy']));
  });

  it('leaves ended ones out unless asked', async () => {
    const di = await harness.user('Di');
    const { token } = await make(di, 'read');
    await harness.call(revokeToken, { token_id: token.id }, di);
    expect((await harness.call(listTokens, {}, di)).items).toEqual([]);
    expect((await harness.call(listTokens, { include_ended: true }, di)).items[0]?.revoked_at).not.toBeNull();
  });

  it('refuses a cursor that is none', async () => {
    const refused = await harness.refusal(listTokens, { cursor: 'bm90IGpzb24' }, bo, 'VALIDATION_FAILED');
    expect(refused.details?.['issues']).toMatchObject([{ path: 'cursor' }]);
  });
});

describe('revoking a token', () => {
  it('tells that its connections end, once', async () => {
    const { token } = await make(bo, 'read');
    await harness.call(revokeToken, { token_id: token.id }, bo);
    await harness.call(revokeToken, { token_id: token.id }, bo);
    const { rows } = await harness.database.pool.query(
      `SELECT payload FROM outbox.event WHERE payload->>'credential_id' = $1`,
      [token.id],
    );
    expect(rows).toEqual([{ payload: { user_id: bo.user_id, credential_id: token.id } }]);
  });

  it('of somebody else looks like revoking none, and is done with manage [identity.token.own-only]', async () => {
    const { token } = await make(bo, 'read');
    const eve = await harness.user('Eve');
    const hidden = await harness.refusal(revokeToken, { token_id: token.id }, eve, 'TOKEN_NOT_FOUND');
    const absentId = '01890000-0000-7000-8000-000000000002';
    const absent = await harness.refusal(revokeToken, { token_id: absentId }, eve, 'TOKEN_NOT_FOUND');
    expect(JSON.stringify(hidden.toBody('r')).replaceAll(token.id, absentId)).toBe(JSON.stringify(absent.toBody('r')));
    expect(await harness.call(revokeToken, { token_id: token.id }, admin)).toEqual({ done: true });
  });
});
