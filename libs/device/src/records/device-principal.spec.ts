import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Caller, findPlaces, ServiceError } from '@workspace-graph/contracts';
import { Scanner } from '../scan/scanner.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { eventually, watchedMirror } from '../watcher/watcher.fixture.js';
import { DevicePrincipal } from './device-principal.js';

let device: DeviceFixture;
beforeEach(async () => {
  device = await startDevice();
});
afterEach(() => device.close());

describe('the device that asks something by itself', () => {
  it('sees what its person sees now [access.device.own-person]', async () => {
    const person = device.person();
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    const places = async () => (await device.parts.service.call(findPlaces, { node_ids: [hidden] }, null)).places;
    expect(await places()).toHaveLength(1);
    device.identity.users.set(person.user_id, { max_scope: 'write' });
    await eventually(async () => expect(await places()).toEqual([]));
    device.identity.users.set(person.user_id, { disabled: true });
    await eventually(() => expect(places()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' }));
    device.identity.users.delete(person.user_id);
    expect(await places()).toHaveLength(1);
  });

  it('takes in nothing while its person is disabled, and all of it afterwards', async () => {
    await using watching = await startDevice({ settings: { watch: true } });
    const { nodeId, path } = await watchedMirror(watching, 'Report');
    const { user_id } = watching.person();
    watching.identity.users.set(user_id, { disabled: true });
    await eventually(() => expect(watching.parts.service.place(nodeId, null)).rejects.toMatchObject({ status: 401 }));
    await writeFile(join(path, 'wip/a.md'), 'saved meanwhile');
    const { failures } = watching.module.get(Scanner);
    await eventually(() =>
      expect(failures.of(nodeId)).toMatchObject([{ message: expect.stringContaining('disabled') }]),
    );
    expect(watching.records.recordsOf(nodeId)).toEqual([]);
    watching.identity.users.delete(user_id);
    await eventually(() => expect(watching.records.recordAt(nodeId, 'wip/a.md')).toBeDefined());
  }, 150_000);

  it('asks who it is once for calls at the same time, and waits until it is joined', async () => {
    let asked = 0;
    let identity: { deviceId: string; userId: string } | null = null;
    const caller: Caller = { user_id: 'u', scope: 'read', credential_id: null, via: 'sync', device_id: 'd' };
    const bus = {
      call: async () => {
        asked += 1;
        return { caller } as never;
      },
    };
    const principal = new DevicePrincipal(bus, () => identity);
    await expect(principal.caller()).rejects.toBeInstanceOf(ServiceError);
    identity = { deviceId: 'd', userId: 'u' };
    expect(await Promise.all([principal.caller(), principal.caller(), principal.caller()])).toEqual([
      caller,
      caller,
      caller,
    ]);
    expect(asked).toBe(1);
    expect([principal.isOf('u'), principal.isOf('v')]).toEqual([true, false]);
  });
});
