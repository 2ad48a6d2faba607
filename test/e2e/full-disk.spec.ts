import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createNode, type ErrorBody, getOverview, listEvents, logEvent, type Node } from '@workspace-graph/contracts';
import { NOBODY, SmallDisk } from './small-disk.js';
import { type RunningWorkspace, START_MS, WorkspaceFolder } from './workspace-process.js';

const [TOO_SMALL_MB, LARGE_ENOUGH_MB] = [128, 420];
/** Too little for work, enough for a look. */
const [LITTLE_BYTES, BACKUP_MB] = [20_000_000, 30];
const WRITES = 300;
const AT_ONCE = 6;
const STORY_MS = 3 * START_MS;

/** Only root can make a small disk to fill. */
const onSmallDisk = SmallDisk.available() ? describe : describe.skip;

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
        expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('disk') });
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
