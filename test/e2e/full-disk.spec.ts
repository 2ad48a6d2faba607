import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createNode,
  type ErrorBody,
  getOverview,
  listEvents,
  listTokens,
  logEvent,
  type Node,
  rotateWorkspaceToken,
} from '@workspace-graph/contracts';
import { descendantsOf, SmallDisk } from '@workspace-graph/testing';
import { canActAsNobody, NOBODY } from './other-user.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const [TOO_SMALL_MB, LARGE_ENOUGH_MB] = [128, 420];
/** Too little for work, enough for a look. */
const [LITTLE_BYTES, BACKUP_MB] = [20_000_000, 30];
const WRITES = 300;
const AT_ONCE = 6;
const STORY_MS = 3 * START_MS;
const MORE_THAN_ENDS_ALLOWED = 8;
const LONGER_THAN_PAUSES_MS = 500;

/** Only root can make a small disk to fill. */
const onSmallDisk = SmallDisk.available() && canActAsNobody() ? describe : describe.skip;

onSmallDisk('a disk without room, for an ordinary user', () => {
  it(
    'is refused before anything is made on it [cli.start.disk-full]',
    async () => {
      using disk = new SmallDisk(TOO_SMALL_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      const refused = await folder.svc(['start', '--json']);
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        1,
        { code: 'DISK_FULL', message: expect.stringContaining(folder.root), hint: expect.any(String) },
      ]);
    },
    START_MS,
  );

  it(
    'that fills up in the middle of work loses nothing that was acknowledged, says what is wrong, and goes on when there is room [cli.start.disk-full, graph.durability.kill-9]',
    async () => {
      using disk = new SmallDisk(LARGE_ENOUGH_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      let workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Full' });
      disk.fill(1_000_000);
      const { acknowledged, refused } = await writeMuch(workspace, node.id);
      expect(refused.length).toBeGreaterThan(0);
      for (const error of refused)
        expect(error).toMatchObject({ code: 'STORAGE_FULL', message: expect.stringContaining('disk') });
      expect((await workspace.call(getOverview, {})).new_nodes).toHaveLength(1);

      disk.clear();
      acknowledged.push(
        (await workspace.call(logEvent, { node_id: node.id, kind: 'note', content: 'Room again' })).content,
      );
      expect(await contents(workspace, node.id)).toEqual(acknowledged.toSorted());
      await workspace.stop();
      workspace = await folder.start();
      expect(await contents(workspace, node.id)).toEqual(acknowledged.toSorted());
      await workspace.stop();

      disk.fill(LITTLE_BYTES);
      const refusedStart = await folder.svc(['start', '--foreground', '--json']);
      expect([refusedStart.code, JSON.parse(refusedStart.stdout)]).toMatchObject([1, { code: 'DISK_FULL' }]);
      using another = new SmallDisk(BACKUP_MB, NOBODY);
      const backup = await folder.svc(['backup', join(another.folder, 'all.wgbackup'), '--json']);
      expect([backup.code, JSON.parse(backup.stdout)]).toMatchObject([0, { size_bytes: expect.any(Number) }]);
    },
    STORY_MS,
  );
});

onSmallDisk('a new token of the workspace for which its disk has no room', () => {
  it(
    'is refused as that, by the command and over the interface; the old one goes on, and is replaced when there is room [cli.token.rotate]',
    async () => {
      using disk = new SmallDisk(LARGE_ENOUGH_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      const workspace = await folder.start();
      const before = folder.token;
      // A lock that is there needs no room, and neither does a row in a page that has some.
      expect((await folder.svc(['token', 'rotate'])).code).toBe(0);
      const kept = folder.token;
      expect(kept).not.toBe(before);
      disk.fill(0);
      const refused = await folder.svc(['token', 'rotate', '--json']);
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        1,
        { code: 'DISK_FULL', message: expect.stringContaining('disk') },
      ]);
      const answer = await workspace.send(rotateWorkspaceToken, {});
      expect([answer.status, await answer.json()]).toMatchObject([
        507,
        { code: 'STORAGE_FULL', message: expect.stringContaining('disk') },
      ]);
      expect(folder.token).toBe(kept);
      await workspace.call(getOverview, {});

      disk.clear();
      expect((await folder.svc(['token', 'rotate'])).code).toBe(0);
      expect(folder.token).not.toBe(kept);
      const { items } = await workspace.call(listTokens, {});
      expect(items.filter(({ label }) => label === 'sidecar')).toHaveLength(1);
    },
    STORY_MS,
  );
});

onSmallDisk('a database server that ends while its disk is full', () => {
  it(
    'is tried again for as long as it takes; requests and commands are told why, and it is back when there is room [cli.start.disk-full, cli.backup-restore, graph.durability.kill-9]',
    async () => {
      using disk = new SmallDisk(LARGE_ENOUGH_MB, NOBODY);
      using another = new SmallDisk(BACKUP_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      const workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Kept' });
      disk.fill(0);
      const server = descendantsOf(workspace.pid).find((entry) => entry.command.includes(' -D '));
      process.kill(server?.pid ?? 0, 'SIGKILL');
      while (!workspace.output.includes('cannot be started')) await sleep(20);
      disk.fill(0);
      for (let times = 0; times < MORE_THAN_ENDS_ALLOWED; times += 1) {
        const refused = await workspace.fetch(`/nodes/${node.id}`);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
        expect(await refused.json()).toMatchObject({
          message: expect.stringContaining('disk of the database is full'),
        });
        await sleep(LONGER_THAN_PAUSES_MS);
      }
      const backup = await folder.svc(['backup', join(another.folder, 'all.wgbackup'), '--json']);
      expect([backup.code, JSON.parse(backup.stdout)]).toMatchObject([
        1,
        { code: 'DATABASE_LOST', message: expect.stringContaining('No backup was written') },
      ]);
      expect(readdirSync(another.folder)).toEqual([]);
      disk.clear();
      while (!(await workspace.fetch(`/nodes/${node.id}`)).ok) await sleep(50);
      await workspace.call(logEvent, { node_id: node.id, kind: 'note', content: 'Room again' });
    },
    STORY_MS,
  );
});

onSmallDisk('a disk that is read-only', () => {
  it(
    'is told as that, by a start, a backup and the doctor [cli.start.no-rights, cli.doctor]',
    async () => {
      using disk = new SmallDisk(LARGE_ENOUGH_MB, NOBODY);
      using another = new SmallDisk(BACKUP_MB, NOBODY);
      await using folder = new WorkspaceFolder({ root: join(disk.folder, 'workspace'), user: NOBODY });
      await (await folder.start()).stop();
      another.setReadOnly(true);
      const running = await folder.start();
      const backup = await folder.svc(['backup', join(another.folder, 'all.wgbackup'), '--json']);
      expect([backup.code, JSON.parse(backup.stdout)]).toMatchObject([
        1,
        { code: 'FILE_UNUSABLE', message: expect.stringContaining('read-only') },
      ]);
      await running.stop();
      disk.setReadOnly(true);
      for (const args of [['start'], ['start', '--foreground'], ['backup', '/tmp/never.wgbackup']]) {
        const refused = await folder.svc([...args, '--json']);
        expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
          1,
          { code: 'FOLDER_UNUSABLE', message: expect.stringContaining('read-only') },
        ]);
      }
      expect((await folder.svc(['doctor'])).stdout).toContain('read-only');
      disk.setReadOnly(false);
    },
    STORY_MS,
  );
});

/** Writes until far beyond what the disk holds; answers what was acknowledged and how the rest was refused. */
async function writeMuch(workspace: RunningWorkspace, nodeId: string) {
  const acknowledged: string[] = [];
  const refused: ErrorBody[] = [];
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next++ < WRITES) {
      const content = randomBytes(6_000).toString('base64url');
      const response = await workspace.fetch(`/nodes/${nodeId}/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'note', content }),
      });
      if (response.status === 201) acknowledged.push(content);
      else refused.push((await response.json()) as ErrorBody);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
  return { acknowledged, refused };
}

async function contents(workspace: RunningWorkspace, node_id: string): Promise<string[]> {
  const page = await workspace.call(listEvents, { node_id, limit: 500 });
  expect(page.next_cursor).toBeNull();
  return page.items.map((event) => event.content).sort();
}
