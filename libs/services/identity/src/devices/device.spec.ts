import { authenticateDevice, type Caller, type Scope, updateUser } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { IdentityModule } from '../identity.module.js';
import { ensureLocalDevice } from './local-device.js';

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
