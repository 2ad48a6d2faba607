import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNode, getNode, type Node } from '@workspace-graph/contracts';
import { ownMountsAvailable, withMount } from './own-mounts.js';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const MIGRATIONS = join(import.meta.dirname, '../../libs/database/dist/migrations');
const STORY_MS = 4 * START_MS;
/** A release after this one: it has a migration that this one does not know. */
const NEXT = { name: '9999_next', sql: "COMMENT ON SCHEMA graph IS 'of the next release';" };

/** A later release is made by giving the command other migrations, which needs mounts of its own. */
const withReleases = ownMountsAvailable() ? describe : describe.skip;

/** Puts the migrations of the next release before the command. */
function nextRelease(folder: WorkspaceFolder, sql = NEXT.sql): WorkspaceFolder {
  const from = join(folder.root, 'next-migrations');
  cpSync(MIGRATIONS, from, { recursive: true });
  mkdirSync(join(from, NEXT.name), { recursive: true });
  writeFileSync(join(from, NEXT.name, 'migration.sql'), sql);
  return new WorkspaceFolder({ root: folder.root, before: withMount({ from, onto: MIGRATIONS }) });
}

function backups(folder: WorkspaceFolder): string[] {
  return readdirSync(join(folder.root, '.svc/backups'));
}

withReleases('a workspace that meets another release', () => {
  it(
    'is backed up and upgraded; the older release refuses it, and restores the backup [graph.backup.before-migration, graph.backup.restore]',
    async () => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Before the upgrade' });
      await workspace.stop();
      expect(backups(folder)).toEqual([]);

      const next = nextRelease(folder);
      workspace = await next.start();
      const later: Node = await workspace.call(createNode, { type: 'organization', name: 'After the upgrade' });
      const [backup = '', ...more] = backups(folder);
      expect([backup, more]).toEqual([expect.stringMatching(/^before-upgrade-.*\.wgbackup$/), []]);
      await workspace.stop();

      const refused = await folder.svc(['start', '--foreground', '--json']);
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        1,
        { code: 'NEWER_DATABASE', message: expect.stringContaining(NEXT.name), hint: expect.any(String) },
      ]);
      const restored = await folder.svc(['restore', join(folder.root, '.svc/backups', backup), '--confirm', '--json']);
      expect([restored.code, restored.stderr]).toEqual([0, '']);
      workspace = await folder.start();
      expect(await workspace.call(getNode, { node_id: node.id })).toMatchObject({ name: 'Before the upgrade' });
      expect((await workspace.fetch(`/nodes/${later.id}`)).status).toBe(404);
      await workspace.stop();
    },
    STORY_MS,
  );

  it(
    'is left as it was by an upgrade that fails',
    async () => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Stays' });
      await workspace.stop();

      const broken = nextRelease(folder, `${NEXT.sql} DROP TABLE graph.event CASCADE; SELECT 1 / 0;`);
      const refused = await broken.svc(['start', '--foreground', '--json']);
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        1,
        { code: 'MIGRATION_FAILED', message: expect.stringContaining(NEXT.name) },
      ]);
      expect(backups(folder)).toHaveLength(1);
      workspace = await folder.start();
      expect(await workspace.call(getNode, { node_id: node.id })).toMatchObject({ recent_events: [], name: 'Stays' });
    },
    STORY_MS,
  );

  it(
    'is left as it was by a restore whose upgrade fails, which says so and what to do',
    async () => {
      await using folder = new WorkspaceFolder();
      let workspace = await folder.start();
      await workspace.stop();
      const file = join(folder.root, 'old.wgbackup');
      expect((await folder.svc(['backup', file])).code).toBe(0);
      workspace = await folder.start();
      const node: Node = await workspace.call(createNode, { type: 'organization', name: 'Stays' });
      await workspace.stop();

      const broken = nextRelease(folder, `${NEXT.sql} SELECT 1 / 0;`);
      const refused = await broken.svc(['restore', file, '--yes', '--json']);
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        1,
        {
          code: 'MIGRATION_FAILED',
          message: expect.stringMatching(/9999_next.* The previous data of the workspace is unchanged\.$/s),
          hint: 'Restore the backup with the version of the product that wrote it.',
        },
      ]);
      workspace = await folder.start();
      expect(await workspace.call(getNode, { node_id: node.id })).toMatchObject({ name: 'Stays' });
    },
    STORY_MS,
  );
});
