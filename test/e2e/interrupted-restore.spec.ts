import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNode, type Node } from '@workspace-graph/contracts';
import { descendantsOf } from '@workspace-graph/testing';
import pg from 'pg';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const NODES = 20_000;
const STORY_MS = 4 * START_MS;
/** As a backup that is killed leaves it. */
const DRAFT = 'backup-2026-11-22.wgbackup.0123abcd.partial';

/** A document of so many nodes that its restore takes a while. */
function largeDocument(): string {
  const members = Array.from({ length: NODES }, (_, index) => ({
    key: `p${index}`,
    type: 'project',
    name: `Project ${index}`,
    organization: 'o',
  }));
  return JSON.stringify({
    format: 'workspace-graph/1',
    nodes: [{ key: 'o', type: 'organization', name: 'Large' }, ...members],
  });
}

interface Interrupted {
  readonly code: number | null;
  readonly said: string;
}

/** Restores, and kills the database as soon as the first table is told to be there. */
async function restoreAndKillDatabase(folder: WorkspaceFolder, file: string): Promise<Interrupted> {
  const child = folder.spawn(['restore', file, '--yes'], {
    env: folder.environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let said = '';
  let isKilled = false;
  const look = (chunk: string): void => {
    said += chunk;
    const server =
      /^ +1\/\d+ /m.test(said) && descendantsOf(child.pid ?? 0).find(({ command }) => / -D /.test(command));
    if (!server || isKilled) return;
    isKilled = true;
    process.kill(server.pid, 'SIGKILL');
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', look);
  return { code: await ended, said };
}

async function databasesOf(folder: WorkspaceFolder): Promise<string[]> {
  const client = new pg.Client({
    connectionString: readFileSync(join(folder.root, '.svc/database-url'), 'utf8').trim(),
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname`,
    );
    return rows.map(({ datname }) => datname);
  } finally {
    await client.end();
  }
}

describe('a restore whose database is killed', () => {
  it(
    'says that nothing changed; the doctor names what it left, and the next start removes it [cli.backup-restore, cli.doctor]',
    async () => {
      await using folder = new WorkspaceFolder({ isStarted: true });
      let workspace = await folder.start();
      const headers = { 'content-type': 'application/json' };
      const imported = await workspace.fetch('/import', { method: 'POST', body: largeDocument(), headers });
      expect(imported.status).toBe(200);
      const file = join(folder.root, 'large.wgbackup');
      expect((await folder.svc(['backup', file])).code).toBe(0);
      const later: Node = await workspace.call(createNode, { type: 'organization', name: 'After the backup' });
      await workspace.stop();

      const { code, said } = await restoreAndKillDatabase(folder, file);
      expect(code).toBe(1);
      expect(said).toMatch(
        /svc: The database cannot be used right now .* The previous data of the workspace is unchanged\./,
      );
      expect(said).not.toMatch(/^ +at /m);
      const backups = join(folder.root, '.svc/backups');
      writeFileSync(join(backups, DRAFT), 'the beginning');
      const doctor = await folder.svc(['doctor']);
      expect(doctor.stdout).toMatch(/restore_[0-9a-f]{8}/);
      expect(doctor.stdout).toContain(DRAFT);
      expect(doctor.stdout).toMatch(/the next `.*svc start` removes them/);

      workspace = await folder.start();
      expect((await workspace.fetch(`/nodes/${later.id}`)).status).toBe(200);
      expect(await databasesOf(folder)).toEqual(['postgres', 'workspace']);
      expect(readdirSync(backups)).toEqual([expect.stringMatching(/^before-restore-.*\.wgbackup$/)]);
      expect(existsSync(join(folder.root, '.svc/restore.json'))).toBe(false);
      expect((await folder.svc(['doctor'])).stdout).toContain('none');

      await workspace.stop();
      expect((await folder.svc(['restore', file, '--yes'])).code).toBe(0);
      workspace = await folder.start();
      expect((await workspace.fetch(`/nodes/${later.id}`)).status).toBe(404);
      expect(await databasesOf(folder)).toEqual(['postgres', 'workspace']);
    },
    STORY_MS,
  );
});
