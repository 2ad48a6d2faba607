import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolder } from '@workspace-graph/contracts';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { SystemFolderOpener } from './folder-opener.js';

let device: DeviceFixture;
let programs: string;
let before: NodeJS.ProcessEnv;
beforeEach(async () => {
  device = await startDevice();
  programs = await mkdtemp(join(tmpdir(), 'svc-programs-'));
  before = { ...process.env };
});
afterEach(async () => {
  for (const name of ['PATH', 'DISPLAY', 'WAYLAND_DISPLAY']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  await device.close();
  await rm(programs, { recursive: true, force: true });
});

/** A file manager that notes what it is given, one argument a line, and ends with a code. */
async function install(name: string, code = 0): Promise<void> {
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > "\${0%/*}/opened"\nexit ${code}\n`;
  await writeFile(join(programs, name), script, { mode: 0o755 });
}
const opened = (): Promise<string> => readFile(join(programs, 'opened'), 'utf8');
const withScreen = (): NodeJS.ProcessEnv => ({ PATH: programs, DISPLAY: ':7' });

describe('the folder of a node', () => {
  it('is opened for the person of the device, with nothing of its name read by a shell', async () => {
    for (const name of ['xdg-open', 'open']) await install(name);
    Object.assign(process.env, withScreen());
    const { nodeId, path } = await device.mirror('Plans');
    expect(await device.call(openFolder, { node_id: nodeId }, device.person('write'))).toEqual({ node_id: nodeId });
    expect(await opened()).toBe(`${path}\n`);
    const odd = join(device.root, '$(touch harmed); "a b"');
    await new SystemFolderOpener(withScreen(), 'linux').open(odd);
    expect(await opened()).toBe(`${odd}\n`);
  });

  it('is not opened for anybody else, nor when it is not there; a node without one and a hidden one say so', async () => {
    await install('xdg-open');
    Object.assign(process.env, withScreen());
    const { nodeId, path } = await device.mirror('Plans');
    const person = device.person('write');
    await device.refusal(openFolder, { node_id: nodeId }, 'FORBIDDEN', device.caller('manage'));
    await device.refusal(openFolder, { node_id: nodeId }, 'FORBIDDEN', device.person('read'));
    const bare = device.records.node({ name: 'Bare', type: 'project' });
    await device.refusal(openFolder, { node_id: bare }, 'NO_MIRROR', person);
    await device.refusal(openFolder, { node_id: '018f0000-0000-7000-8000-00000000ffff' }, 'NODE_NOT_FOUND', person);
    await rm(path, { recursive: true });
    await device.refusal(openFolder, { node_id: nodeId }, 'NO_MIRROR', person);
    expect(existsSync(join(programs, 'opened'))).toBe(false);
  });
});

describe('a device that cannot show a folder', () => {
  const refused = { code: 'NO_FILE_MANAGER' };

  it('says so: without a screen, without a file manager, and with one that refuses', async () => {
    await install('xdg-open');
    await expect(new SystemFolderOpener({ PATH: programs }, 'linux').open(programs)).rejects.toMatchObject(refused);
    expect(existsSync(join(programs, 'opened'))).toBe(false);
    await new SystemFolderOpener({ PATH: programs, WAYLAND_DISPLAY: 'wayland-0' }, 'linux').open(programs);
    expect(await opened()).toBe(`${programs}\n`);
    await expect(new SystemFolderOpener(withScreen(), 'darwin').open(programs)).rejects.toMatchObject(refused);
    await install('xdg-open', 3);
    await expect(new SystemFolderOpener(withScreen(), 'linux').open(programs)).rejects.toMatchObject(refused);
    // The one of Windows ends so whatever it did.
    await install('explorer.exe', 1);
    await new SystemFolderOpener(withScreen(), 'win32').open(programs);
  });
});
