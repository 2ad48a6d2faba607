import { createHash } from 'node:crypto';
import {
  authenticate,
  authenticateDevice,
  type Caller,
  createToken,
  inviteDevice,
  joinDevice,
  LIMITS,
  listDevices,
  revokeDevice,
  revokeToken,
  rotateToken,
  type Scope,
  serviceCaller,
  updateUser,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';
import { ensureLocalDevice } from './local-device.js';

const EDGE = serviceCaller('edge');

let harness: ServiceHarness;
let admin: Caller;
let person: Caller;
let device_id: string;
beforeAll(async () => {
  harness = await startServices([IdentityModule]);
  admin = await harness.user('Ada', 'manage');
});
beforeEach(async () => {
  person = await harness.user('Bo', 'manage');
  device_id = await ensureLocalDevice(harness.database, { userId: person.user_id, name: 'desk' });
});
afterAll(() => harness.close());

const caller = async (id = device_id): Promise<Caller> =>
  (await harness.call(authenticateDevice, { device_id: id }, admin)).caller;
const refused = (id = device_id) => harness.refusal(authenticateDevice, { device_id: id }, admin, 'UNAUTHENTICATED');

describe('a device', () => {
  it('is its person, with the scope that the person has now [access.device.own-person]', async () => {
    const expected = (scope: Scope) => ({
      user_id: person.user_id,
      scope,
      credential_id: null,
      via: 'sync',
      device_id,
    });
    expect(await caller()).toEqual(expected('manage'));
    await harness.call(updateUser, { user_id: person.user_id, max_scope: 'write' }, admin);
    expect(await caller()).toEqual(expected('write'));
    await harness.database.pool.query(`UPDATE identity."user" SET claim_scope = 'read' WHERE id = $1`, [
      person.user_id,
    ]);
    expect(await caller()).toEqual(expected('read'));
  });

  it('is nobody while its person is disabled, once it is revoked, and before it is joined [access.device.own-person]', async () => {
    await harness.call(updateUser, { user_id: person.user_id, disabled: true }, admin);
    await refused();
    await harness.call(updateUser, { user_id: person.user_id, disabled: false }, admin);
    expect((await caller()).user_id).toBe(person.user_id);
    await harness.database.pool.query('UPDATE identity.device SET revoked_at = now() WHERE id = $1', [device_id]);
    await refused();
    await refused(newId());
  });

  it('of a local workspace is one, whenever it is asked for, and its joining is in the audit trail', async () => {
    expect(await ensureLocalDevice(harness.database, { userId: person.user_id, name: 'other' })).toBe(device_id);
    const { rows } = await harness.database.pool.query(
      `SELECT action, via, user_id, target_kind, after FROM audit.entry WHERE target_id = $1`,
      [device_id],
    );
    expect(rows).toEqual([
      {
        action: 'join_device',
        via: 'system',
        user_id: null,
        target_kind: 'device',
        after: { name: 'desk', user_id: person.user_id },
      },
    ]);
  });
});

describe('a workstation that is invited', () => {
  const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');
  const join = (code: string, name = 'laptop') => harness.call(joinDevice, { code_sha256: sha256(code), name }, EDGE);
  const refusedJoin = (code: string) =>
    harness.refusal(joinDevice, { code_sha256: sha256(code), name: 'laptop' }, EDGE, 'UNAUTHENTICATED');
  const callerOf = async (token: string): Promise<Caller> => {
    const credential = { kind: 'token' as const, sha256: sha256(token) };
    return { ...(await harness.call(authenticate, { credential }, EDGE)).caller, via: 'sync' };
  };
  const tokenOf = async (scope: Scope, who = person): Promise<Caller> => {
    const { secret } = await harness.call(createToken, { label: 'invites', scope }, who);
    return { ...(await callerOf(secret)), via: 'rest' };
  };
  const ended = async (): Promise<unknown[]> =>
    (
      await harness.database.pool.query(`SELECT payload FROM outbox.event WHERE type = 'credential.ended' ORDER BY id`)
    ).rows.map(({ payload }) => payload);

  it('joins with the code, once, and is its person from then on [identity.device.join-once]', async () => {
    const invited = await harness.call(inviteDevice, {}, person);
    expect(invited).toMatchObject({ user: { id: person.user_id, name: 'Bo' }, scope: 'manage' });
    const joined = await join(invited.code);
    expect(joined.device).toMatchObject({ name: 'laptop', scope: 'manage', revoked_at: null });
    const { device_id, user_id, scope } = await callerOf(joined.token);
    expect([device_id, user_id, scope]).toEqual([joined.device.id, person.user_id, 'manage']);
    await refusedJoin(invited.code);
    const devices = await harness.call(listDevices, {}, person);
    expect(devices.items.map(({ name }) => name)).toEqual(['laptop', 'desk']);
    expect(devices.items[0]?.last_seen_at).not.toBeNull();
  });

  it('joins once, however many come with the code at once', async () => {
    const { code } = await harness.call(inviteDevice, {}, person);
    const ends = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => join(code, `laptop ${n}`)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await harness.call(listDevices, {}, person)).items).toHaveLength(2);
  });

  it('joins again as the device that it was, with a new token alone', async () => {
    const again = async (id: string, who = person) => {
      const { code } = await harness.call(inviteDevice, {}, who);
      return { code_sha256: sha256(code), name: 'desktop', device_id: id };
    };
    const first = await join((await harness.call(inviteDevice, {}, person)).code);
    const { id } = first.device;
    const renewed = await harness.call(joinDevice, await again(id), EDGE);
    expect(renewed.device).toMatchObject({ id, name: 'desktop', joined_at: first.device.joined_at });
    await expect(callerOf(first.token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await callerOf(renewed.token)).device_id).toBe(id);
    expect(await ended()).toContainEqual({ credential_id: expect.any(String), user_id: person.user_id });
    const third = await harness.call(joinDevice, await again(id), EDGE);
    expect((await harness.call(listDevices, {}, person)).items.map((device) => device.id)).toEqual([id, device_id]);
    const audit = await harness.database.pool.query(
      `SELECT before FROM audit.entry WHERE target_id = $1 AND action = 'join_device' ORDER BY id`,
      [id],
    );
    expect(audit.rows.map(({ before }) => before)).toEqual([null, { name: 'laptop' }, { name: 'desktop' }]);
    // Of somebody else, revoked, or none: and the code can still be used.
    const other = await harness.user('Cy', 'manage');
    for (const [of, who] of [
      [id, other],
      [newId(), person],
    ] as const) {
      const joining = await again(of, who);
      await harness.refusal(joinDevice, joining, EDGE, 'DEVICE_NOT_FOUND');
      const { device_id: _none, ...anew } = joining;
      expect((await harness.call(joinDevice, anew, EDGE)).device.id).not.toBe(id);
    }
    expect((await callerOf(third.token)).device_id).toBe(id);
    await harness.call(revokeDevice, { device_id: id }, person);
    await harness.refusal(joinDevice, await again(id), EDGE, 'DEVICE_NOT_FOUND');
  });

  it('joins with no other code, nor one that has ended, nor for somebody who is disabled', async () => {
    await refusedJoin('svc_join_none');
    const late = await harness.call(inviteDevice, {}, person);
    await harness.database.pool.query(
      `UPDATE identity.device_invitation SET expires_at = now() - interval '1 minute' WHERE code_sha256 = $1`,
      [Buffer.from(sha256(late.code), 'hex')],
    );
    await refusedJoin(late.code);
    const { code } = await harness.call(inviteDevice, {}, person);
    await harness.call(updateUser, { user_id: person.user_id, disabled: true }, admin);
    await refusedJoin(code);
  });

  it('is invited by so many codes at a time at most, and those that have ended do not count', async () => {
    const invite = () => harness.call(inviteDevice, {}, person);
    for (let count = 0; count < LIMITS.invitationsPerUser; count += 1) await invite();
    await harness.refusal(inviteDevice, {}, person, 'CONFLICT');
    await harness.database.pool.query(
      `UPDATE identity.device_invitation SET expires_at = now() - interval '1 minute' WHERE user_id = $1`,
      [person.user_id],
    );
    await join((await invite()).code);
    const { rows } = await harness.database.pool.query(
      `SELECT count(*)::int AS count FROM identity.device_invitation WHERE user_id = $1`,
      [person.user_id],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('has at most the scope of whoever invites, and ends with their token', async () => {
    const reader = await tokenOf('read');
    await harness.refusal(inviteDevice, { scope: 'write' }, reader, 'FORBIDDEN');
    const { code, scope } = await harness.call(inviteDevice, {}, reader);
    const other = await harness.call(inviteDevice, {}, reader);
    expect(scope).toBe('read');
    const { token } = await join(code);
    expect((await callerOf(token)).scope).toBe('read');
    await harness.call(revokeToken, { token_id: reader.credential_id ?? '' }, person);
    await expect(callerOf(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await refusedJoin(other.code);
  });

  it('is invited for somebody else with manage alone', async () => {
    const writer = await harness.user('Cy', 'write');
    await harness.refusal(inviteDevice, { user_id: person.user_id }, writer, 'FORBIDDEN');
    await harness.refusal(listDevices, { user_id: person.user_id }, writer, 'FORBIDDEN');
    const { code, scope } = await harness.call(inviteDevice, { user_id: writer.user_id }, admin);
    expect(scope).toBe('write');
    expect((await join(code)).device.user.id).toBe(writer.user_id);
    expect((await harness.call(listDevices, { user_id: writer.user_id }, admin)).items).toHaveLength(1);
  });

  it('is revoked by its person, by itself and by what invited it, and its token ends with it [identity.device.revoke]', async () => {
    const joined = async (by: Caller) => join((await harness.call(inviteDevice, {}, by)).code);
    const [mine, own, writer] = [await joined(person), await joined(person), await tokenOf('write')];
    const invited = await joined(writer);
    await harness.refusal(revokeDevice, { device_id: mine.device.id }, writer, 'DEVICE_NOT_FOUND');
    const stranger = await harness.user('Di', 'write');
    await harness.refusal(revokeDevice, { device_id: mine.device.id }, stranger, 'DEVICE_NOT_FOUND');
    const before = (await ended()).length;
    await harness.call(revokeDevice, { device_id: mine.device.id }, person);
    await harness.call(revokeDevice, { device_id: mine.device.id }, person);
    await harness.call(revokeDevice, { device_id: own.device.id }, await callerOf(own.token));
    await harness.call(revokeDevice, { device_id: invited.device.id }, writer);
    for (const { token } of [mine, own, invited])
      await expect(callerOf(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await ended()).length - before).toBe(3);
    const all = await harness.call(listDevices, { include_revoked: true }, person);
    expect(all.items.filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(3);
  });

  it('keeps its device through a rotation of its token', async () => {
    const { code } = await harness.call(inviteDevice, {}, person);
    const { token, device } = await join(code);
    const next = await harness.call(rotateToken, {}, await callerOf(token));
    expect((await callerOf(next.secret)).device_id).toBe(device.id);
  });

  it('is not told by its code anywhere [identity.device.code-secret]', async () => {
    const { code } = await harness.call(inviteDevice, {}, person);
    const { token } = await join(code);
    const { rows } = await harness.database.pool.query(`SELECT before::text || after::text AS text FROM audit.entry`);
    for (const secret of [code, token]) expect(JSON.stringify(rows)).not.toContain(secret);
  });
});
