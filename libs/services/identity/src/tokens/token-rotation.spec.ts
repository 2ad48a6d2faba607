import { createHash } from 'node:crypto';
import {
  authenticate,
  type Caller,
  completeRotation,
  createToken,
  listTokens,
  type OutputOf,
  revokeToken,
  rotateToken,
  type Scope,
} from '@workspace-graph/contracts';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { bootstrapAdministrator, ensureLocalOwner } from '../bootstrap/bootstrap.js';
import { IdentityModule } from '../identity.module.js';

type Made = OutputOf<typeof createToken>;

const DAY_MS = 86_400_000;

let harness: ServiceHarness;
beforeEach(async () => {
  harness = await startServices([IdentityModule]);
});
afterEach(() => harness.close());

/** Whoever presents this secret. */
async function presenting(secret: string): Promise<Caller> {
  const sha256 = createHash('sha256').update(secret).digest('hex');
  const edge: Caller = { user_id: '', scope: 'read', credential_id: null, via: 'system' };
  const { caller } = await harness.call(authenticate, { credential: { kind: 'token', sha256 } }, edge);
  return { ...caller, via: 'rest' };
}

const make = (caller: Caller, scope: Scope, more: object = {}): Promise<Made> =>
  harness.call(createToken, { label: 'agent', scope, ...more }, caller);
const refusedSecret = (secret: string) => expect(presenting(secret)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

async function workspace(): Promise<{ secret: string; owner: Caller }> {
  const { secret } = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
  return { secret, owner: await presenting(secret) };
}

describe('the workspace’s own token', () => {
  it('is not revoked, and says what to do instead [identity.token.workspace-rotated]', async () => {
    const { secret, owner } = await workspace();
    const token_id = owner.credential_id ?? '';
    const other = await presenting((await make(owner, 'manage')).secret);
    for (const caller of [owner, other]) {
      const refused = await harness.refusal(revokeToken, { token_id }, caller, 'TOKEN_NOT_REVOCABLE');
      expect(refused.message).toContain('rotated');
    }
    const reader = await presenting((await make(owner, 'read')).secret);
    await harness.refusal(revokeToken, { token_id }, reader, 'TOKEN_NOT_FOUND');
    expect(await presenting(secret)).toEqual(owner);
  });

  it('works until its successor is in its place, which keeps what it made [identity.token.workspace-rotated]', async () => {
    const { secret, owner } = await workspace();
    const [agent, guest] = [await make(owner, 'write'), await make(owner, 'read')];
    const next = await harness.call(rotateToken, {}, owner);
    expect(next.token).toMatchObject({
      kind: 'device',
      label: 'sidecar',
      scope: 'manage',
      user: { id: owner.user_id },
    });
    expect(await presenting(secret)).toEqual(owner);
    const successor = await presenting(next.secret);
    await harness.call(completeRotation, {}, successor);
    await harness.call(completeRotation, {}, successor);
    await refusedSecret(secret);
    const { items } = await harness.call(listTokens, {}, successor);
    expect(items.map((token) => token.revocable)).toEqual([false, true, true]);
    expect(items.map((token) => [token.id, token.made_by])).toEqual([
      [next.token.id, null],
      [guest.token.id, next.token.id],
      [agent.token.id, next.token.id],
    ]);
    await presenting(agent.secret);
    await harness.refusal(revokeToken, { token_id: next.token.id }, successor, 'TOKEN_NOT_REVOCABLE');
    const { rows } = await harness.database.pool.query(
      `SELECT payload FROM outbox.event WHERE type = 'credential.ended'`,
    );
    expect(rows).toEqual([{ payload: { user_id: owner.user_id, credential_id: owner.credential_id } }]);
  });

  it('has one successor at a time, which ends unused when another one is asked for', async () => {
    const { secret, owner } = await workspace();
    const first = await harness.call(rotateToken, {}, owner);
    const second = await harness.call(rotateToken, {}, owner);
    await refusedSecret(first.secret);
    await harness.call(revokeToken, { token_id: second.token.id }, owner);
    await refusedSecret(second.secret);
    expect(await presenting(secret)).toEqual(owner);
  });

  it('is replaced by a successor that was stored and asks for its own at once', async () => {
    const { secret, owner } = await workspace();
    const next = await harness.call(rotateToken, {}, owner);
    const after = await harness.call(rotateToken, {}, await presenting(next.secret));
    await refusedSecret(secret);
    await harness.call(completeRotation, {}, await presenting(after.secret));
    await refusedSecret(next.secret);
    expect((await presenting(after.secret)).user_id).toBe(owner.user_id);
  });

  it('gives way at the next start to the successor that was stored when the process was killed', async () => {
    const { secret, owner } = await workspace();
    const agent = await make(owner, 'write');
    const next = await harness.call(rotateToken, {}, owner);
    const started = await ensureLocalOwner(harness.database, { name: 'Bo', secret: next.secret });
    expect(started).toEqual({ user_id: owner.user_id, secret: next.secret, created: false });
    await refusedSecret(secret);
    await presenting(agent.secret);
  });

  it('that is lost is replaced at the next start, and what it and its successor made goes on', async () => {
    const { secret, owner } = await workspace();
    const agent = await make(owner, 'write');
    const next = await harness.call(rotateToken, {}, owner);
    const late = await make(await presenting(next.secret), 'write');
    const started = await ensureLocalOwner(harness.database, { name: 'Bo', secret: null });
    for (const gone of [secret, next.secret]) await refusedSecret(gone);
    for (const { secret: kept } of [agent, late]) await presenting(kept);
    const { items } = await harness.call(listTokens, {}, await presenting(started.secret));
    expect(items).toHaveLength(3);
  });
});

describe('rotating a token', () => {
  it('renews that of the first administrator for its whole time, and no other one [identity.token.not-after-maker]', async () => {
    const { secret } = await bootstrapAdministrator(harness.database, { name: 'Ada', label: 'first' });
    const ada = await presenting(secret);
    await harness.database.pool.query(
      `UPDATE identity.token SET created_at = created_at - interval '100 days', expires_at = expires_at - interval '100 days'`,
    );
    const robot = await make(ada, 'write', { expires_in_days: 30 });
    const next = await harness.call(rotateToken, {}, ada);
    const daysLeft = Math.round((Date.parse(next.token.expires_at) - Date.now()) / DAY_MS);
    expect(daysLeft).toBe(180);
    const renewed = await harness.call(rotateToken, {}, await presenting(robot.secret));
    expect(renewed.token).toMatchObject({ label: 'agent', scope: 'write', expires_at: robot.token.expires_at });
    const person = await make(await harness.user('Cy'), 'read');
    const again = await harness.call(rotateToken, {}, await presenting(person.secret));
    expect(again.token.expires_at).toBe(person.token.expires_at);
  });

  it('leaves no way to outlive its end: the successor ends with it', async () => {
    const root = await presenting((await make(await harness.user('Ada', 'manage'), 'manage')).secret);
    const stolen = await make(root, 'read');
    const thief = await presenting(stolen.secret);
    const next = await harness.call(rotateToken, {}, thief);
    const made = await make(await presenting(next.secret), 'read');
    await harness.call(revokeToken, { token_id: stolen.token.id }, root);
    for (const { secret } of [next, made]) await refusedSecret(secret);
    await harness.refusal(rotateToken, {}, thief, 'UNAUTHENTICATED');
    await harness.refusal(completeRotation, {}, { ...thief, credential_id: next.token.id }, 'UNAUTHENTICATED');
  });

  it('stays below what made it', async () => {
    await make(await harness.user('Eva', 'manage'), 'manage');
    const root = await make(await harness.user('Ada', 'manage'), 'manage');
    const below = await make(await presenting(root.secret), 'read');
    const next = await harness.call(rotateToken, {}, await presenting(below.secret));
    await harness.call(completeRotation, {}, await presenting(next.secret));
    await harness.call(revokeToken, { token_id: root.token.id }, await presenting(root.secret));
    await refusedSecret(next.secret);
  });

  it('is nothing for a JWT', async () => {
    await harness.refusal(rotateToken, {}, await harness.user('Jan'), 'CONFLICT');
  });

  it('completes once, however many say so at once, and loses nothing that is made meanwhile', async () => {
    const { owner } = await workspace();
    const next = await harness.call(rotateToken, {}, owner);
    const successor = await presenting(next.secret);
    const makers = Array.from({ length: 6 }, () => make(owner, 'read'));
    const completing = Array.from({ length: 3 }, () => harness.call(completeRotation, {}, successor));
    const made = (await Promise.allSettled(makers)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(await Promise.all(completing)).toEqual([{ done: true }, { done: true }, { done: true }]);
    for (const { secret } of made) await presenting(secret);
    expect((await harness.call(listTokens, {}, successor)).items).toHaveLength(made.length + 1);
  });
});
