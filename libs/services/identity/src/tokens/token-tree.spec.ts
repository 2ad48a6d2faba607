import {
  type Caller,
  createToken,
  listTokens,
  type OutputOf,
  revokeToken,
  type Scope,
  updateUser,
} from '@workspace-graph/contracts';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';

type Made = OutputOf<typeof createToken>;

const DAY_MS = 86_400_000;

let harness: ServiceHarness;
let pat: Caller;
let bo: Caller;
beforeAll(async () => {
  harness = await startServices([IdentityModule]);
});
beforeEach(async () => {
  pat = await harness.user('Pat', 'manage');
  bo = await harness.user('Bo', 'write');
});
afterAll(() => harness.close());

const make = (caller: Caller, scope: Scope, more: object = {}): Promise<Made> =>
  harness.call(createToken, { label: 'made', scope, ...more }, caller);
const callerOf = ({ token }: Made): Caller => ({
  user_id: token.user.id,
  scope: token.scope,
  credential_id: token.id,
  via: 'rest',
});

/** Pat's tokens: one that manages, what it made (a writer, a reader), and what those made; and one of Bo's. */
async function plant() {
  const manager = await make(pat, 'manage');
  const [writer, reader] = [await make(callerOf(manager), 'write'), await make(callerOf(manager), 'read')];
  const [written, read] = [await make(callerOf(writer), 'read'), await make(callerOf(reader), 'read')];
  return { manager, writer, reader, written, read, foreign: await make(bo, 'write') };
}
type Name = keyof Awaited<ReturnType<typeof plant>>;
type Asker = Name | 'pat' | 'pat reading' | 'bo';

const OWN: readonly Name[] = ['manager', 'writer', 'reader', 'written', 'read'];
const ALL: readonly Name[] = [...OWN, 'foreign'];
const REACH: readonly [asker: Asker, reach: readonly Name[]][] = [
  ['manager', ALL],
  ['writer', ['writer', 'written']],
  ['reader', ['reader', 'read']],
  ['written', ['written']],
  ['read', ['read']],
  ['foreign', ['foreign']],
  ['pat', ALL],
  ['pat reading', OWN],
  ['bo', ['foreign']],
];

function askerOf(asker: Asker, tree: Awaited<ReturnType<typeof plant>>): Caller {
  if (asker === 'pat') return pat;
  if (asker === 'pat reading') return { ...pat, scope: 'read' };
  return asker === 'bo' ? bo : callerOf(tree[asker]);
}

async function living(ids: readonly string[]): Promise<string[]> {
  const found = await harness.database.prisma.token.findMany({ where: { id: { in: [...ids] }, revokedAt: null } });
  return found.map((token) => token.id);
}

async function toldOf(id: string): Promise<{ events: unknown[]; lines: number }> {
  const { rows } = await harness.database.pool.query(
    `SELECT payload FROM outbox.event WHERE type = 'credential.ended' AND payload->>'credential_id' = $1`,
    [id],
  );
  const lines = await harness.database.prisma.auditEntry.count({ where: { targetId: id, action: revokeToken.name } });
  return { events: rows.map((row: { payload: unknown }) => row.payload), lines };
}

describe('a token', () => {
  it.each(REACH)('%s lists %j [identity.token.own-tree]', async (asker, reach) => {
    const tree = await plant();
    const caller = askerOf(asker, tree);
    const all = caller.scope === 'manage' ? { everybody: true } : {};
    const listed = await harness.call(listTokens, { limit: 200, ...all }, caller);
    const ids = new Set(listed.items.map((token) => token.id));
    expect(ALL.filter((name) => ids.has(tree[name].token.id))).toEqual(reach);
  });

  it.each(REACH)('%s ends %j and nothing else, which is as absent [identity.token.own-tree]', async (asker, reach) => {
    const absentId = '01890000-0000-7000-8000-000000000002';
    const ended = [];
    for (const name of ALL) {
      const tree = await plant();
      const { id } = tree[name].token;
      const caller = askerOf(asker, tree);
      if (reach.includes(name)) {
        await harness.call(revokeToken, { token_id: id }, caller);
        ended.push(name);
        continue;
      }
      const hidden = await harness.refusal(revokeToken, { token_id: id }, caller, 'TOKEN_NOT_FOUND');
      const absent = await harness.refusal(revokeToken, { token_id: absentId }, caller, 'TOKEN_NOT_FOUND');
      expect(JSON.stringify(hidden.toBody('r')).replaceAll(id, absentId)).toBe(JSON.stringify(absent.toBody('r')));
      expect(await living([id])).toEqual([id]);
    }
    expect(ended).toEqual(reach);
  });

  it('counts by what it may do now, not by what its user may', async () => {
    const tree = await plant();
    const lowered = { ...callerOf(tree.manager), scope: 'write' as const };
    await harness.refusal(createToken, { label: 'x', scope: 'manage' }, lowered, 'FORBIDDEN');
    await harness.refusal(listTokens, { everybody: true }, lowered, 'FORBIDDEN');
    await harness.refusal(revokeToken, { token_id: tree.foreign.token.id }, lowered, 'TOKEN_NOT_FOUND');
  });

  it('is told which one made it where that can be seen, and nowhere else', async () => {
    const tree = await plant();
    expect([tree.manager.token.made_by, tree.writer.token.made_by]).toEqual([null, tree.manager.token.id]);
    const { items } = await harness.call(listTokens, {}, callerOf(tree.writer));
    expect(items.map((token) => [token.id, token.made_by])).toEqual([
      [tree.written.token.id, tree.writer.token.id],
      [tree.writer.token.id, null],
    ]);
    const ofReading = await harness.call(listTokens, { limit: 200 }, { ...pat, scope: 'read' });
    expect(ofReading.items.find((token) => token.id === tree.writer.token.id)?.made_by).toBe(tree.manager.token.id);
  });
});

describe('what a token makes', () => {
  it.each<[maker: Scope, wanted: Scope, isMade: boolean]>([
    ['read', 'read', true],
    ['read', 'write', false],
    ['read', 'manage', false],
    ['write', 'write', true],
    ['write', 'manage', false],
    ['manage', 'manage', true],
  ])('with %s of the scope %s: %s [identity.token.scope-not-above-own]', async (scope, wanted, isMade) => {
    const maker = callerOf(await make(pat, scope));
    if (isMade) expect((await make(maker, wanted)).token.scope).toBe(wanted);
    else await harness.refusal(createToken, { label: 'x', scope: wanted }, maker, 'FORBIDDEN');
  });

  it('ends no later than it, whether it is asked to or not [identity.token.not-after-maker]', async () => {
    const maker = await make(pat, 'write', { expires_in_days: 10 });
    const caller = callerOf(maker);
    expect((await make(caller, 'read')).token.expires_at).toBe(maker.token.expires_at);
    expect(Date.parse((await make(caller, 'read', { expires_in_days: 9 })).token.expires_at)).toBeLessThan(
      Date.parse(maker.token.expires_at),
    );
    const refused = await harness.refusal(
      createToken,
      { label: 'x', scope: 'read', expires_in_days: 11 },
      caller,
      'VALIDATION_FAILED',
    );
    expect(refused.details?.['issues']).toEqual([
      { path: 'expires_in_days', message: expect.stringContaining(maker.token.expires_at) },
    ]);
  });

  it('for somebody else ends no later either, and with it', async () => {
    const maker = await make(pat, 'manage', { expires_in_days: 10 });
    const made = await make(callerOf(maker), 'write', { user_id: bo.user_id });
    expect(made.token).toMatchObject({ user: { id: bo.user_id }, expires_at: maker.token.expires_at });
    await harness.call(revokeToken, { token_id: maker.token.id }, callerOf(maker));
    expect(await toldOf(made.token.id)).toEqual({
      events: [{ user_id: bo.user_id, credential_id: made.token.id }],
      lines: 1,
    });
  });

  it('is nothing once it has expired or was revoked', async () => {
    for (const change of ['revoked_at = now()', `expires_at = now() - interval '1 second'`]) {
      const maker = await make(bo, 'write');
      await harness.database.pool.query(`UPDATE identity.token SET ${change} WHERE id = $1`, [maker.token.id]);
      await harness.refusal(createToken, { label: 'x', scope: 'read' }, callerOf(maker), 'UNAUTHENTICATED');
    }
  });

  it('with a JWT is the person’s, for as long as they ask [identity.token.of-a-person]', async () => {
    const { token } = await make(bo, 'write', { expires_in_days: 3_650 });
    expect(token.made_by).toBeNull();
    expect(Date.parse(token.expires_at)).toBeGreaterThan(Date.now() + 3_649 * DAY_MS);
    await harness.call(updateUser, { user_id: bo.user_id, disabled: true }, pat);
    await harness.call(updateUser, { user_id: bo.user_id, disabled: false }, pat);
    expect(await living([token.id])).toEqual([token.id]);
  });
});

describe('ending a token', () => {
  it('ends all that were made with it, and tells of each once [identity.token.ends-with-maker]', async () => {
    const tree = await plant();
    const ids = OWN.map((name) => tree[name].token.id);
    await harness.call(revokeToken, { token_id: tree.written.token.id }, callerOf(tree.writer));
    expect(await living(ids)).toHaveLength(4);
    await harness.call(revokeToken, { token_id: tree.manager.token.id }, pat);
    await harness.call(revokeToken, { token_id: tree.manager.token.id }, pat);
    expect(await living([...ids, tree.foreign.token.id])).toEqual([tree.foreign.token.id]);
    for (const id of ids)
      expect(await toldOf(id)).toEqual({ events: [{ user_id: pat.user_id, credential_id: id }], lines: 1 });
  });

  it('reaches hundreds at once, however deep they are', async () => {
    const root = await make(pat, 'manage');
    await harness.database.pool.query(`
      DO $$ DECLARE v_maker uuid := '${root.token.id}'; v_made uuid; BEGIN
        FOR n IN 1..300 LOOP
          INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at, origin, made_by)
            VALUES (gen_random_uuid(), 'personal', 'deep', 'read', '${bo.user_id}', sha256(gen_random_uuid()::text::bytea), now(), 'token', v_maker)
            RETURNING id INTO v_made;
          IF n % 3 = 0 THEN v_maker := v_made; END IF;
        END LOOP;
      END $$`);
    const made = await harness.database.prisma.token.findMany({ where: { userId: bo.user_id } });
    const ids = [root.token.id, ...made.map((token) => token.id)];
    await harness.call(revokeToken, { token_id: root.token.id }, callerOf(root));
    expect(await living(ids)).toEqual([]);
    const { rows } = await harness.database.pool.query<{ n: number }>(
      `SELECT count(DISTINCT payload->>'credential_id')::int AS n FROM outbox.event WHERE payload->>'credential_id' = ANY ($1)`,
      [ids],
    );
    expect(rows[0]?.n).toBe(301);
  });
});

describe('a token that is made while its maker ends', () => {
  async function waitForLocks(count: number): Promise<void> {
    const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    for (;;) {
      const { rows } = await harness.database.pool.query<{ n: number }>(sql);
      if (rows[0]?.n === count) return;
    }
  }

  /** Starts both, the first one holding its maker, and lets them go on. */
  async function race<A, B>(first: () => Promise<A>, second: () => Promise<B>) {
    const started = await harness.database.transaction(async (client) => {
      await client.query('LOCK TABLE identity.token IN SHARE MODE');
      const one = Promise.allSettled([first()]);
      await waitForLocks(1);
      const other = Promise.allSettled([second()]);
      await waitForLocks(2);
      return { result: { one, other } };
    });
    return [(await started.one)[0], (await started.other)[0]] as const;
  }

  it('a moment before ends too [identity.token.ends-with-maker]', async () => {
    const maker = await make(bo, 'write');
    const [made, ended] = await race(
      () => make(callerOf(maker), 'read'),
      () => harness.call(revokeToken, { token_id: maker.token.id }, pat),
    );
    expect([made.status, ended.status]).toEqual(['fulfilled', 'fulfilled']);
    const id = made.status === 'fulfilled' ? made.value.token.id : '';
    expect(await living([maker.token.id, id])).toEqual([]);
    expect((await toldOf(id)).events).toEqual([{ user_id: bo.user_id, credential_id: id }]);
  });

  it('a moment after is not made [identity.token.ends-with-maker]', async () => {
    const maker = await make(bo, 'write');
    const [ended, made] = await race(
      () => harness.call(revokeToken, { token_id: maker.token.id }, pat),
      () => make(callerOf(maker), 'read'),
    );
    expect(ended.status).toBe('fulfilled');
    expect(made).toMatchObject({ status: 'rejected', reason: { code: 'UNAUTHENTICATED' } });
  });

  it('survives in no order of many', async () => {
    for (let round = 0; round < 5; round += 1) {
      const root = await make(pat, 'manage');
      const child = await make(callerOf(root), 'manage');
      const grandchild = await make(callerOf(child), 'write');
      const makers = [root, child, grandchild, root, child, grandchild].map((maker) => make(callerOf(maker), 'read'));
      const enders = [child, root].map((one) => harness.call(revokeToken, { token_id: one.token.id }, pat));
      const done = await Promise.allSettled([...makers, ...enders]);
      const refused = done.flatMap((one) =>
        one.status === 'rejected' ? [(one.reason as { code: unknown }).code] : [],
      );
      expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? ['UNAUTHENTICATED'] : []));
    }
    const { rows } = await harness.database.pool.query(`
      SELECT t.id FROM identity.token t JOIN identity.token m ON m.id = t.made_by WHERE t.revoked_at IS NULL AND m.revoked_at IS NOT NULL`);
    expect(rows).toEqual([]);
  });
});

describe('the database itself', () => {
  const insert = (madeBy: string, scope: string, days: number): Promise<unknown> =>
    harness.database.pool.query(
      `INSERT INTO identity.token (id, kind, label, scope, user_id, secret_sha256, expires_at, origin, made_by)
      VALUES (gen_random_uuid(), 'personal', 'raw', $1, $2, sha256(gen_random_uuid()::text::bytea), now() + $3 * interval '1 day', 'token', $4)`,
      [scope, bo.user_id, days, madeBy],
    );

  it('refuses a token that goes beyond its maker, and one that survives it [identity.token.ends-with-maker]', async () => {
    const { id } = (await make(bo, 'write', { expires_in_days: 10 })).token;
    const beyond = { constraint: 'token_within_maker' };
    await insert(id, 'write', 9);
    await expect(insert(id, 'manage', 9)).rejects.toMatchObject(beyond);
    await expect(insert(id, 'read', 11)).rejects.toMatchObject(beyond);
    await expect(insert('01890000-0000-7000-8000-000000000002', 'read', 1)).rejects.toMatchObject({ code: '23503' });
    await expect(
      harness.database.pool.query('UPDATE identity.token SET revoked_at = now() WHERE id = $1', [id]),
    ).rejects.toMatchObject({ constraint: 'token_ends_with_maker' });
    await harness.call(revokeToken, { token_id: id }, pat);
    await expect(insert(id, 'read', 1)).rejects.toMatchObject(beyond);
  });
});
