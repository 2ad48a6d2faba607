import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMirror, ServiceError } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { chosenPath, isOfSystem, refuseReserved } from './folder-rules.js';
import { systemFolders } from './system-folders.js';

const onPosix = process.platform === 'win32' ? describe.skip : describe;

onPosix('where the folder of a node may lie', () => {
  let device: DeviceFixture;
  beforeAll(async () => {
    device = await startDevice();
  });
  afterAll(() => device.close());

  it.each(['/tmp/../etc', '/tmp/..', '/tmp/./x', '/../tmp/x', '/tmp/x/.'])('does not follow dots: %s', async (path) => {
    const nodeId = device.records.node({ name: 'Alpha' });
    const refusal = await device.refusal(createMirror, { node_id: nodeId, custom_path: path }, 'VALIDATION_FAILED');
    expect(refusal.details).toEqual({
      issues: [{ path: 'custom_path', message: 'must not contain the segments . or ..' }],
    });
  });

  it.each(['/tmp/.hidden', '/tmp/a..b', '/tmp/...', '/tmp/x/', '/tmp//x'])('takes %s', (path) => {
    expect(chosenPath('custom_path', path)).toBe(join(path, '.').replace(/\/$/, ''));
  });

  it('is no folder of the system, also behind a link', async () => {
    const nodeId = device.records.node({ name: 'Beta' });
    for (const path of ['/etc', '/usr/share/x', '/bin/x', '/proc/sys/x']) {
      const refusal = await device.refusal(createMirror, { node_id: nodeId, custom_path: path }, 'MIRROR_PATH_REFUSED');
      expect(refusal.details).toEqual({ reason: 'reserved' });
    }
  });

  it('is one in the workspace wherever that is', async () => {
    await refuseReserved('/var/log/workspace/acme', '/var/log/workspace');
    const refusal = await refuseReserved('/var/log/acme', '/var/log/workspace').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
  });
});

onPosix('folders of the system', () => {
  const own = (platform: NodeJS.Platform) => (path: string) => isOfSystem(path, systemFolders(platform, {}));

  it.each([
    ...[
      '/etc',
      '/etc/x',
      '/usr',
      '/usr/lib/x',
      '/bin',
      '/sbin',
      '/lib64',
      '/boot',
      '/dev',
      '/dev/x',
      '/proc/1',
      '/sys',
    ],
    ...[
      '/run',
      '/run/user',
      '/run/systemd/x',
      '/var',
      '/var/log/x',
      '/var/lib',
      '/var/lib/dpkg/x',
      '/var/cache',
      '/usr/home',
    ],
  ])('on Linux include %s', (path) => expect(own('linux')(path)).toBe(true));

  it.each([
    ...[
      '/srv',
      '/srv/x',
      '/mnt',
      '/mnt/c/x',
      '/media/ann/disk',
      '/opt/x',
      '/home/ann/x',
      '/root/x',
      '/data',
      '/tmp/x',
      '/library',
    ],
    ...[
      '/var/tmp/x',
      '/var/home/ann',
      '/var/lib/workspace',
      '/var/www/x',
      '/run/media/ann/disk',
      '/dev/shm/x',
      '/usr/home/ann/x',
    ],
    ...['/etcetera', '/usrlocal', '/variety', tmpdir()],
  ])('on Linux leave %s to people', (path) => expect(own('linux')(path)).toBe(false));

  it('on macOS include those behind its links, and leave what lies in homes and on other disks', () => {
    const isOwn = own('darwin');
    for (const path of ['/private', '/private/etc/x', '/private/var/log', '/Library/x', '/System', '/Applications/x'])
      expect([path, isOwn(path)]).toEqual([path, true]);
    for (const path of ['/Users/ann/Library/x', '/private/tmp/x', '/private/var/folders/ab/T/x', '/Volumes/Disk/x'])
      expect([path, isOwn(path)]).toEqual([path, false]);
  });

  it('on Windows are where the environment tells', () => {
    const env = { SystemRoot: 'C:\\Windows', ProgramFiles: 'C:\\Program Files', ProgramW6432: 'C:\\Program Files' };
    expect(systemFolders('win32', env)).toEqual({ closed: ['C:\\Windows', 'C:\\Program Files'], open: [] });
    expect(systemFolders('win32', {})).toEqual({ closed: [], open: [] });
  });
});
