import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listRemotes, listRoutingRules, setRoutingPolicy, setupRemote, testRemote } from '@workspace-graph/contracts';
import { startSshd, whyNoSshd } from '@workspace-graph/testing';
import { type CentralWorld, ROOT, startWorld } from './central-world.js';
import type { RestClient } from './rest-client.js';

const noSshd = await whyNoSshd();
const SVC = join(ROOT, 'apps/device-agent/bin/svc.mjs');

let world: CentralWorld;
let folder: string;
/** Folders of the file service that may be remotes. */
let folders: string;
beforeAll(async () => {
  world = await startWorld({ replicas: { 'graph-svc': 1, 'session-svc': 1, gateway: 2, 'file-svc': 2 } });
  folder = await mkdtemp(join(tmpdir(), 'central-remotes-'));
  folders = join(world.central.volume('files'), 'folders');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** As whoever operates the centre: the command, with an address and a credential. */
function svc(
  who: RestClient,
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      SVC_WORKSPACE_ROOT: folder,
      SVC_URL: who.url,
      SVC_TOKEN: who.token,
    };
    const child = execFile(process.execPath, [SVC, ...args], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

async function fsRemote(name: string): Promise<string> {
  await mkdir(join(folders, name), { recursive: true });
  return name;
}

describe('remotes of a central workspace', () => {
  it('are set up through the gateway, by whichever instance is asked [remotes.setup.central-only, remotes.list.fields]', async () => {
    const name = await fsRemote('team');
    const input = { name, type: 'fs', config: { folder: name } } as const;
    const told = await world.ada.call(setupRemote, input);
    expect(told).toMatchObject({ applied: true, root: 'new', remote: { name, type: 'fs', authenticated: true } });
    expect(told.remote.grade).toMatchObject({ conditions: 'captured', listing: 'immediate', case_sensitive: true });
    expect(await readdir(join(folders, name))).toContain('.workspace-graph.json');
    const reader = await world.newcomer('Rita', 'read');
    // Each of the instances answers some of these.
    for (let round = 0; round < 6; round += 1) {
      const { remotes } = await reader.call(listRemotes, {});
      const { grade: _grade, ...remote } = remotes.find((found) => found.name === name) ?? { grade: null };
      expect(remote).toEqual({ name, type: 'fs', authenticated: true });
      expect(await world.ada.call(setupRemote, input)).toMatchObject({ root: 'known' });
    }
    expect((await reader.refusal(setupRemote, input)).status).toBe(403);
  });

  it('lie below the folder that is meant for them, and nowhere else', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    for (const outside of ['/etc', '..', '../credentials', 'a/../../credentials']) {
      const refused = await world.ada.refusal(setupRemote, { name: 'out', type: 'fs', config: { folder: outside } });
      expect([outside, refused.code, refused.details]).toMatchObject([
        outside,
        'REMOTE_REFUSED',
        { reason: 'forbidden' },
      ]);
      expect(refused.message).not.toContain(folders);
    }
    const missing = await world.ada.refusal(setupRemote, { name: 'out', type: 'fs', config: { folder: 'none' } });
    expect(missing.code).toBe('REMOTE_UNAVAILABLE');
  });

  it('are told from folders that were emptied or swapped', async () => {
    const name = await fsRemote('swapped');
    await world.ada.call(setupRemote, { name, type: 'fs', config: { folder: name } });
    expect(await world.ada.call(testRemote, { name })).toMatchObject({ name });
    await rm(join(folders, name), { recursive: true });
    expect((await world.ada.refusal(testRemote, { name })).code).toBe('REMOTE_UNAVAILABLE');
    await fsRemote('swapped');
    expect(await world.ada.refusal(testRemote, { name })).toMatchObject({
      code: 'REMOTE_REFUSED',
      details: { reason: 'wrong_root' },
    });
    expect(await readdir(join(folders, name))).toEqual([]);
  });

  it('outlive every instance', async () => {
    const name = await fsRemote('kept');
    await world.ada.call(setupRemote, { name, type: 'fs', config: { folder: name } });
    for (const instance of [...world.central.instances('file-svc')]) {
      await world.central.add('file-svc');
      await instance.stop();
    }
    expect(await world.ada.call(testRemote, { name })).toMatchObject({ name, authenticated: true });
    const rule = { priority: 100, node_type: null, org_slug: null, remote_name: name };
    expect(await world.ada.call(setRoutingPolicy, { rules: [rule] })).toEqual({ count: 1 });
    expect(await world.ada.call(listRoutingRules, {})).toEqual({ rules: [rule] });
    expect(await world.ada.call(setRoutingPolicy, { rules: [] })).toEqual({ count: 0 });
  });
});

describe('svc remote', () => {
  it('adds, lists, tries, routes to and removes a remote', async () => {
    const name = await fsRemote('by-command');
    const added = await svc(world.ada, 'remote', 'add', name, '--type', 'fs', '--set', `folder=${name}`);
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('is set up; its root is new')]);
    const listed = await svc(world.ada, 'remote', 'list');
    expect(listed.stdout).toMatch(/NAME +TYPE +CREDENTIALS/);
    expect(listed.stdout).toMatch(new RegExp(`^${name} +fs +yes +captured +immediate`, 'm'));
    expect((await svc(world.ada, 'remote', 'test', name)).stdout).toContain('Conditions   captured');
    const routed = await svc(
      world.ada,
      'remote',
      'route',
      'add',
      name,
      '--type',
      'project',
      '--priority',
      '10',
      '--json',
    );
    const rule = { priority: 10, node_type: 'project', org_slug: null, remote_name: name };
    expect(JSON.parse(routed.stdout)).toEqual({ rules: [rule] });
    const used = await svc(world.ada, 'remote', 'remove', name, '--yes', '--json');
    expect([used.code, JSON.parse(used.stdout)]).toMatchObject([
      1,
      { code: 'IN_USE', details: { uses: { rules: 1 } } },
    ]);
    const file = join(folder, 'rules.json');
    await writeFile(file, '[]');
    const asked = await svc(world.ada, 'remote', 'route', 'set', file);
    expect(asked.stdout).toContain('0 rules replace all of these:');
    expect((await svc(world.ada, 'remote', 'route', 'set', file, '--yes')).code).toBe(0);
    expect((await svc(world.ada, 'remote', 'remove', name)).stdout).toContain('add --yes');
    expect((await svc(world.ada, 'remote', 'remove', name, '--yes')).stdout).toContain('is forgotten');
    expect(JSON.parse((await svc(world.ada, 'remote', 'test', name, '--json')).stdout)).toMatchObject({
      code: 'REMOTE_NOT_FOUND',
    });
  });

  (noSshd === null ? it : it.skip)(
    `sets up a folder of an SSH server, with credentials from a file${noSshd === null ? '' : `: ${noSshd}`}`,
    async () => {
      const server = await startSshd();
      const root = await mkdtemp(join(tmpdir(), 'central-sftp-'));
      try {
        if (server.owner) await chown(root, server.owner.uid, server.owner.gid);
        const file = join(folder, 'sftp.json');
        await writeFile(file, JSON.stringify({ private_key: server.privateKey }));
        const fields = { host: '127.0.0.1', port: server.port, username: server.user, host_key: server.hostKey, root };
        const set = Object.entries(fields).flatMap(([field, value]) => ['--set', `${field}=${value}`]);
        const added = await svc(
          world.ada,
          'remote',
          'add',
          'ssh',
          '--type',
          'sftp',
          ...set,
          '--credentials',
          file,
          '--json',
        );
        expect([added.code, JSON.parse(added.stdout)]).toMatchObject([
          0,
          {
            applied: true,
            remote: { name: 'ssh', type: 'sftp', grade: { conditions: 'checked', listing: 'immediate' } },
          },
        ]);
        expect((await readdir(root)).sort()).toEqual(['.svc-drafts', '.workspace-graph.json']);
        const other = set.map((text) => (text.startsWith('host_key=') ? `host_key=SHA256:${'A'.repeat(43)}` : text));
        const refused = await svc(world.ada, 'remote', 'add', 'ssh', '--type', 'sftp', ...other, '--json');
        expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'REMOTE_REFUSED', details: { reason: 'forbidden' } });
        await server.kill('SIGKILL');
        const down = await svc(world.ada, 'remote', 'test', 'ssh', '--json');
        expect(JSON.parse(down.stdout)).toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
      } finally {
        await server.stop();
        await rm(root, { recursive: true });
      }
    },
  );

  it('says what is wrong of a field, a file and a right', async () => {
    const add = (...args: string[]) => svc(world.ada, 'remote', 'add', 'x', '--type', 'sftp', '--json', ...args);
    const noField = await add('--set', 'host');
    expect([noField.code, JSON.parse(noField.stdout)]).toMatchObject([
      2,
      { code: 'WRONG_USAGE', hint: expect.stringContaining('host_key') },
    ]);
    const secret = join(folder, 'secret.json');
    await writeFile(secret, 'hunter2');
    const noJson = await add('--credentials', secret);
    expect(JSON.parse(noJson.stdout)).toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(noJson.stdout + noJson.stderr).not.toContain('hunter2');
    await writeFile(secret, '{"password":"hunter2"}');
    const fields = [
      '--set',
      'host=h',
      '--set',
      'port=70000',
      '--set',
      'username=u',
      '--set',
      'root=/r',
      '--set',
      'host_key=x',
    ];
    const wrong = JSON.parse((await add('--credentials', secret, ...fields)).stdout);
    expect(wrong).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { issues: [{ path: 'config.port' }, { path: 'config.host_key' }] },
    });
    const reader = await world.newcomer('Ron', 'read');
    expect(JSON.parse((await svc(reader, 'remote', 'route', 'list', '--json')).stdout)).toMatchObject({
      code: 'FORBIDDEN',
    });
  });
});
