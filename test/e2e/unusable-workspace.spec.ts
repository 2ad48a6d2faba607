import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNode, type Node } from '@workspace-graph/contracts';
import { createEmptyDatabase, freePort, listProcesses } from '@workspace-graph/testing';
import { canActAsNobody, NOBODY } from './other-user.js';
import { type CommandResult, START_MS, WorkspaceFolder } from './workspace-process.js';

const STORY_MS = 4 * START_MS;
/** Only root can act as somebody else. */
const asNobody = canActAsNobody() ? it : it.skip;

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly advice?: string;
}

function told({ code, stdout }: CommandResult): unknown {
  return { exit: code, ...(JSON.parse(stdout) as object) };
}

async function finding(folder: WorkspaceFolder, check: string, env: Record<string, string> = {}): Promise<Finding> {
  const { stdout } = await folder.svc(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const found = findings.find((entry) => entry.check === check);
  if (!found) throw new Error(`No finding about ${check}: ${stdout}`);
  return found;
}

describe('a running workspace that cannot be used', () => {
  it(
    'is explained, backed up and stopped without its credential, and the next start makes a new one [cli.stop.no-orphan, cli.doctor, cli.status]',
    async () => {
      await using folder = new WorkspaceFolder();
      const port = String(await freePort());
      const token = join(folder.root, '.svc/token');
      expect((await folder.svc(['start', '--port', port])).code).toBe(0);
      for (const damage of ['nötig\u0007', null, 'svc_dev_of_somebody_else\n']) {
        if (damage === null) rmSync(token);
        else writeFileSync(token, damage);
        expect(told(await folder.svc(['status', '--json']))).toMatchObject({ exit: 1, code: 'CREDENTIAL_REFUSED' });
        expect(await finding(folder, 'workspace')).toMatchObject({
          state: 'failed',
          found: expect.stringContaining('does not accept'),
          advice: expect.stringContaining('svc stop'),
        });
      }
      expect(told(await folder.svc(['start', '--json', '--port', port]))).toMatchObject({
        exit: 1,
        code: 'ALREADY_RUNNING',
        hint: expect.stringContaining('svc stop'),
      });
      expect(told(await folder.svc(['start', '--foreground', '--json']))).toMatchObject({ code: 'ALREADY_RUNNING' });
      expect(await finding(folder, 'port', { SVC_PORT: port })).toMatchObject({ state: 'ok' });
      expect((await folder.svc(['backup'])).code).toBe(0);
      expect((await folder.svc(['stop'])).code).toBe(0);
      expect(listProcesses().filter((entry) => entry.command.includes(folder.root))).toEqual([]);
      for (const left of ['svc_dev_of_somebody_else\n', null]) {
        if (left === null) rmSync(token);
        const restarted = await folder.start();
        expect((await restarted.fetch('/me')).status).toBe(200);
        await restarted.stop();
      }
    },
    STORY_MS,
  );

  it(
    'is found by the lock on its folder when its state file is damaged, and stopped',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      writeFileSync(join(folder.root, '.svc/workspace.json'), '{"pid":1,');
      expect(told(await folder.svc(['status', '--json']))).toMatchObject({ exit: 3, code: 'WORKSPACE_NOT_READY' });
      expect(await finding(folder, 'workspace')).toMatchObject({
        state: 'failed',
        found: expect.stringContaining('workspace.json'),
      });
      const stopped = told(await folder.svc(['stop', '--json']));
      expect(stopped).toMatchObject({ exit: 0, stopped: true, pid: workspace.pid });
      expect(told(await folder.svc(['stop', '--json']))).toMatchObject({ exit: 3, code: 'WORKSPACE_NOT_RUNNING' });
    },
    STORY_MS,
  );

  it(
    'is not locked out by revoking the credential in use [cli.token.list-revoke, identity.token.workspace-rotated]',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      const { credential_id } = (await (await workspace.fetch('/me')).json()) as { credential_id: string };
      const asked = await folder.svc(['token', 'revoke', credential_id]);
      expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining('--yes')]);
      const refused = await folder.svc(['token', 'revoke', credential_id, '--yes']);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('svc token rotate`')]);
      expect((await workspace.fetch('/me')).status).toBe(200);
      expect((await folder.svc(['stop'])).code).toBe(0);
    },
    STORY_MS,
  );
});

describe('SVC_URL', () => {
  it(
    'keeps commands that work on this machine alone from working on the wrong workspace [cli.finds-workspace]',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      const env = { SVC_URL: 'http://127.0.0.1:1', SVC_TOKEN: 'svc_pat_other' };
      const file = join(folder.root, 'all.wgbackup');
      for (const args of [['stop'], ['backup', file], ['restore', file, '--confirm'], ['start']])
        expect(told(await folder.svc([...args, '--json'], { env }))).toMatchObject({
          exit: 1,
          code: 'LOCAL_ONLY',
          message: expect.stringContaining(`svc ${args[0]}`),
          hint: expect.stringContaining('docs/deployment.md'),
        });
      expect((await workspace.fetch('/me')).status).toBe(200);
      expect(existsSync(file)).toBe(false);
      expect(await finding(folder, 'SVC_URL', env)).toMatchObject({
        state: 'failed',
        found: expect.stringContaining('this machine'),
      });
      expect(await finding(folder, 'workspace', env)).toMatchObject({
        state: 'ok',
        found: expect.stringContaining(workspace.url),
      });
      expect(await finding(folder, 'environment', { SVC_URL: 'nowhere' })).toMatchObject({
        state: 'failed',
        found: expect.stringContaining('SVC_URL'),
      });
      const itself = { SVC_URL: workspace.url, SVC_TOKEN: folder.token };
      expect(await finding(folder, 'SVC_URL', itself)).toMatchObject({ state: 'ok' });
    },
    STORY_MS,
  );
});

describe('a workspace whose registry is damaged', () => {
  it(
    'says so when it is started, with the way out, which works',
    async () => {
      await using folder = new WorkspaceFolder({ isStarted: true });
      await (await folder.start()).stop();
      const registry = join(folder.root, '.svc/sync.db');
      writeFileSync(registry, 'damaged '.repeat(1_000));
      for (const more of [[], ['--foreground']])
        expect(told(await folder.svc(['start', '--json', ...more]))).toMatchObject({
          exit: 1,
          code: 'REGISTRY_UNUSABLE',
          message: expect.stringContaining(registry),
          hint: expect.stringContaining('Move sync.db'),
        });
      renameSync(registry, `${registry}.away`);
      expect((await (await folder.start()).fetch('/me')).status).toBe(200);
    },
    STORY_MS,
  );
});

describe('the doctor', () => {
  it(
    'looks at the database itself, and says where it lies [cli.doctor]',
    async () => {
      await using folder = new WorkspaceFolder();
      const workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Kept' });
      const status = JSON.parse((await folder.svc(['status', '--json'])).stdout) as { database_folder: string };
      expect(existsSync(join(status.database_folder, 'PG_VERSION'))).toBe(true);
      expect(await finding(folder, 'database')).toMatchObject({
        state: 'ok',
        found: expect.stringContaining(status.database_folder),
      });
      await workspace.stop();
      const away = `${status.database_folder}-away`;
      renameSync(status.database_folder, away);
      expect(await finding(folder, 'database')).toMatchObject({
        state: 'failed',
        found: expect.stringContaining('is missing'),
        advice: expect.stringContaining('svc restore'),
      });
      renameSync(away, status.database_folder);
      expect(await finding(folder, 'database')).toMatchObject({ state: 'ok' });
      const again = await folder.start();
      expect((await again.fetch(`/nodes/${node.id}`)).status).toBe(200);
    },
    STORY_MS,
  );

  it('connects to the database that SVC_DATABASE_URL names [cli.doctor, config.database.external]', async () => {
    await using folder = new WorkspaceFolder();
    await using database = await createEmptyDatabase();
    expect(await finding(folder, 'database', { SVC_DATABASE_URL: database.url })).toMatchObject({ state: 'ok' });
    const unreachable = await finding(folder, 'database', { SVC_DATABASE_URL: 'postgresql://x:hidden@127.0.0.1:1/x' });
    expect(unreachable).toMatchObject({ state: 'failed', advice: expect.stringContaining('SVC_DATABASE_URL') });
    expect(JSON.stringify(unreachable)).not.toContain('hidden');
  });

  it('and a backup make nothing where no workspace is [cli.doctor, cli.backup-restore]', async () => {
    await using folder = new WorkspaceFolder();
    const root = join(folder.root, 'not/there');
    const env = { SVC_WORKSPACE_ROOT: root };
    expect((await folder.svc(['doctor'], { env })).code).toBe(0);
    expect(told(await folder.svc(['backup', '--json'], { env }))).toMatchObject({ exit: 1, code: 'NO_WORKSPACE' });
    expect(told(await folder.svc(['restore', join(folder.root, 'x'), '--json'], { env }))).toMatchObject({ exit: 1 });
    expect(readdirSync(folder.root)).toEqual([]);
  });

  asNobody(
    'survives a folder of somebody else, as every command does, and says so [cli.start.no-rights]',
    async () => {
      const root = mkdtempSync(join(tmpdir(), 'workspace-e2e-'));
      chmodSync(root, 0o755);
      await using owner = new WorkspaceFolder({ root });
      await owner.start();
      await using other = new WorkspaceFolder({ root, user: NOBODY });
      for (const args of [['status'], ['stop'], ['start'], ['backup'], ['token', 'list'], ['demo']])
        expect(told(await other.svc([...args, '--json']))).toMatchObject({
          exit: 1,
          code: 'FOLDER_UNUSABLE',
          hint: expect.stringContaining('permission'),
        });
      expect(await finding(other, 'folder')).toMatchObject({
        state: 'failed',
        found: expect.stringContaining('no permission'),
      });
      await owner.stop();
      for (const path of [root, join(root, '.svc')]) chownSync(path, NOBODY.uid, NOBODY.gid);
      expect(told(await other.svc(['start', '--json']))).toMatchObject({ exit: 1, code: 'FOLDER_UNUSABLE' });
      expect(told(await other.svc(['doctor', '--json']))).toMatchObject({ exit: 1, healthy: false });
      expect(readFileSync(join(root, '.svc/token'), 'utf8')).toMatch(/^svc_/);
    },
    STORY_MS,
  );
});
