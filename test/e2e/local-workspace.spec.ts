import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNode, listNodes } from '@workspace-graph/contracts';
import { descendantsOf, listProcesses } from '@workspace-graph/testing';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const DEMO = join(import.meta.dirname, '../../apps/device-agent/demo/linden-bakery.json');

function processesOf(folder: WorkspaceFolder): string[] {
  return listProcesses()
    .filter((entry) => entry.command.includes(folder.root))
    .map((entry) => entry.command);
}

describe('a local workspace', () => {
  it('starts from nothing, takes the demo in, answers, and leaves no process behind on Ctrl-C [cli.demo, cli.stop.no-orphan, cli.finds-workspace]', async () => {
    await using folder = new WorkspaceFolder();
    const workspace = await folder.start();
    const children = descendantsOf(workspace.pid).map((entry) => entry.pid);
    expect(children.length).toBeGreaterThan(0);

    const demo = await folder.svc(['demo', '--json']);
    expect(demo.code).toBe(0);
    expect(JSON.parse(demo.stdout)).toMatchObject({ applied: true, created: { nodes: 21, edges: 25, events: 14 } });
    const found = await workspace.call(listNodes, { query: 'SECOND oven' });
    expect(found.items.map((node) => node.name)).toEqual(['Second oven']);

    expect(await workspace.interrupt()).toBe(0);
    expect(listProcesses().filter((entry) => children.includes(entry.pid))).toEqual([]);
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(folder.root, '.svc/workspace.json'))).toBe(false);
  });

  it('runs in the background, tells its status, is not started twice and stops [cli.status, cli.stop.no-orphan]', async () => {
    await using folder = new WorkspaceFolder();
    const started = await folder.svc(['start', '--json']);
    expect(started.code).toBe(0);
    const status = await folder.svc(['status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ running: true, scope: 'manage', root: folder.root });
    const again = await folder.svc(['start', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ already_running: true });
    const second = await folder.svc(['start', '--foreground', '--json']);
    expect([second.code, JSON.parse(second.stdout)]).toMatchObject([1, { code: 'ALREADY_RUNNING' }]);
    expect((await folder.svc(['stop'])).code).toBe(0);
    expect((await folder.svc(['status', '--json'])).code).toBe(3);
    expect(processesOf(folder)).toEqual([]);
  });

  it('says what is wrong with a taken port and a folder that cannot be used [cli.start.port-taken, cli.start.no-rights]', async () => {
    await using folder = new WorkspaceFolder();
    const server = createServer().listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const port = String((server.address() as { port: number }).port);
      const taken = await folder.svc(['start', '--foreground', '--json', '--port', port]);
      expect([taken.code, JSON.parse(taken.stdout)]).toMatchObject([1, { code: 'PORT_TAKEN' }]);
      const behind = await folder.svc(['start', '--json', '--port', port]);
      expect([behind.code, JSON.parse(behind.stdout)]).toMatchObject([1, { code: 'PORT_TAKEN' }]);
    } finally {
      server.close();
    }
    expect(processesOf(folder)).toEqual([]);

    writeFileSync(join(folder.root, 'file'), '');
    const blocked = await folder.svc(['start', '--json', '--root', join(folder.root, 'file/below')]);
    expect([blocked.code, JSON.parse(blocked.stdout)]).toMatchObject([1, { code: 'FOLDER_UNUSABLE' }]);
  });

  it('exports, imports, backs up and restores [cli.import-export, cli.backup-restore, graph.backup.restore]', async () => {
    await using folder = new WorkspaceFolder();
    const workspace = await folder.start();
    await folder.svc(['demo']);
    const secret = { key: 'secret', type: 'organization', name: 'Secret', sharing: { visibility: 'private' } };
    await folder.svc(['import', '-'], { input: JSON.stringify({ format: 'workspace-graph/1', nodes: [secret] }) });
    const file = join(folder.root, 'graph.json');
    expect((await folder.svc(['export', file])).code).toBe(0);
    const twice = await folder.svc(['export', file, '--json']);
    expect([twice.code, JSON.parse(twice.stdout)]).toMatchObject([1, { code: 'FILE_EXISTS' }]);
    expect((await folder.svc(['export', file, '--yes'])).code).toBe(0);
    const again = JSON.parse((await folder.svc(['import', file, '--json'])).stdout) as {
      created: object;
      updated: object;
    };
    expect([again.created, again.updated]).toEqual([{}, {}]);
    const piped = await folder.svc(['import', '-', '--dry-run', '--json'], { input: readFileSync(DEMO, 'utf8') });
    expect(JSON.parse(piped.stdout)).toMatchObject({ applied: false });

    const opening = JSON.stringify({
      format: 'workspace-graph/1',
      nodes: [{ ...secret, sharing: { visibility: 'everyone' } }],
    });
    const waiting = await folder.svc(['import', '-'], { input: opening });
    expect([waiting.code, waiting.stdout]).toEqual([0, expect.stringContaining('add --yes')]);
    expect((await folder.svc(['import', '-', '--confirm'], { input: opening })).code).toBe(0);

    const backup = join(folder.root, 'all.wgbackup');
    expect((await folder.svc(['backup', backup])).code).toBe(0);
    const node = await workspace.call(createNode, { type: 'organization', name: 'After the backup' });
    expect((await folder.svc(['restore', backup, '--confirm', '--json'])).code).toBe(1);
    await workspace.stop();
    expect(JSON.parse((await folder.svc(['restore', backup, '--json'])).stdout)).toMatchObject({
      code: 'CONFIRMATION_NEEDED',
    });
    expect((await folder.svc(['restore', backup, '--yes'])).code).toBe(0);

    const restored = await folder.start();
    expect((await restored.fetch(`/nodes/${node.id}`)).status).toBe(404);
    expect((await restored.call(listNodes, { limit: 100 })).items).toHaveLength(22);
  });

  it('explains wrong usage with exit codes that scripts can use, and finds nothing amiss [cli.exit-codes, cli.help, cli.completion, cli.doctor]', async () => {
    await using folder = new WorkspaceFolder();
    expect((await folder.svc(['--help'])).code).toBe(0);
    expect((await folder.svc(['nonsense'])).code).toBe(2);
    expect((await folder.svc(['token', 'create', '--scope', 'all', '--label', 'x'])).code).toBe(2);
    expect((await folder.svc(['demo', '--json'])).code).toBe(3);
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await folder.svc(['completion', shell])).stdout).toContain('token');
    expect(JSON.parse((await folder.svc(['doctor', '--json'])).stdout)).toMatchObject({ healthy: true });
  });
});

describe('a running local workspace', () => {
  const folder = new WorkspaceFolder();
  let workspace: RunningWorkspace;

  beforeAll(async () => {
    workspace = await folder.start();
  }, START_MS);
  afterAll(() => folder[Symbol.asyncDispose]());

  it('keeps its credential to itself and lets nobody in without one [cli.public-interface]', async () => {
    expect(statSync(join(folder.root, '.svc/token')).mode & 0o077).toBe(0);
    // Root's is passed through by the user that runs the database, and read by nobody.
    expect(statSync(join(folder.root, '.svc')).mode & (process.getuid?.() === 0 ? 0o067 : 0o077)).toBe(0);
    const welcome = await fetch(workspace.url, { headers: { 'accept-language': 'cs,en;q=0.5' } });
    expect([welcome.status, welcome.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await welcome.text()).toContain('<html lang="cs">');
    const anonymous = await fetch(new URL('/nodes', workspace.url));
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toContain('Bearer');
    const rebound = await workspace.fetch('/nodes', { headers: { host: 'attacker.example' } });
    expect(rebound.status).toBeLessThan(500);
  });

  it('makes, lists and revokes tokens that end within a second [cli.token.create, cli.token.list-revoke]', async () => {
    const made = JSON.parse(
      (await folder.svc(['token', 'create', '--scope', 'read', '--label', 'a look', '--json'])).stdout,
    ) as { secret: string; token: { id: string } };
    const asReader = (): Promise<Response> =>
      fetch(new URL('/nodes', workspace.url), { headers: { authorization: `Bearer ${made.secret}` } });
    expect((await asReader()).status).toBe(200);
    expect((await folder.svc(['token', 'list'])).stdout).toContain('a look');
    await folder.svc(['token', 'revoke', made.token.id]);
    await sleep(1_000);
    expect((await asReader()).status).toBe(401);
    expect(readFileSync(join(folder.root, '.svc/token'), 'utf8')).not.toContain(made.secret);
  });

  it('examines itself [cli.doctor, config.unknown.reported]', async () => {
    const doctor = await folder.svc(['doctor', '--json'], { env: { SVC_PROT: '1' } });
    expect(doctor.stdout).toContain('SVC_PORT');
    expect(JSON.parse(doctor.stdout)).toMatchObject({ healthy: true });
  });

  it('explains refusals with exit codes that scripts can use [cli.exit-codes, cli.json]', async () => {
    const missing = await folder.svc(['import', join(folder.root, 'nothing.json'), '--json']);
    expect([missing.code, JSON.parse(missing.stdout)]).toMatchObject([1, { code: 'FILE_UNREADABLE' }]);
    const invalid = await folder.svc(['import', '-', '--json'], {
      input: '{"format":"workspace-graph/1","nodes":[{"key":"a"}]}',
    });
    expect([invalid.code, JSON.parse(invalid.stdout)]).toMatchObject([1, { code: 'VALIDATION_FAILED' }]);
  });
});
