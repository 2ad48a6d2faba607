import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const NODE = 'Second oven';

const folder = new WorkspaceFolder({ onDisk: true, isStarted: true });
let mirror = '';

beforeAll(async () => {
  await folder.start();
  await folder.svc(['demo']);
  mirror = ((await json('mirror', 'create', NODE)) as { local_path: string }).local_path;
}, START_MS);
afterAll(() => folder[Symbol.asyncDispose]());

/** Runs a command that must be carried out; answers what it printed with --json. */
async function json(...args: readonly string[]): Promise<unknown> {
  const { code, stdout } = await folder.svc([...args, '--json']);
  expect([args, code, stdout]).toEqual([args, 0, expect.any(String)]);
  return JSON.parse(stdout);
}

describe('files on the command line of a real workspace', () => {
  it('come in, are read, moved, deleted and brought back, each as it is told [files.delete.preview-first]', async () => {
    const source = join(folder.root, 'offer.md');
    writeFileSync(source, 'An offer for bread');
    expect(await json('files', 'put', NODE, source, 'resources/')).toMatchObject({
      file: { path: 'resources/offer.md' },
    });
    expect((await folder.svc(['files', 'put', NODE, source, 'resources/'])).code).toBe(1);
    expect(
      (await folder.svc(['files', 'put', NODE, '-', 'resources/offer.md', '--replace'], { input: 'Better' })).code,
    ).toBe(0);
    expect((await folder.svc(['files', 'read', NODE, 'resources/offer.md'])).stdout).toBe('Better');

    const preview = await folder.svc(['files', 'move', NODE, 'resources/offer.md', 'wip/', '--json']);
    expect([preview.code, JSON.parse(preview.stdout)]).toMatchObject([0, { applied: false }]);
    expect(await json('files', 'move', NODE, 'resources/offer.md', 'wip/', '--yes')).toMatchObject({ applied: true });
    expect(readFileSync(join(mirror, 'wip/offer.md'), 'utf8')).toBe('Better');

    const deleted = (await json('files', 'delete', NODE, 'wip/offer.md', '--yes')) as { trash_id: string };
    expect(await json('trash', 'restore', deleted.trash_id)).toMatchObject({ path: 'wip/offer.md' });
    expect(await json('files', 'list', NODE)).toMatchObject({ items: [{ path: 'wip/offer.md' }], complete: true });
  });

  it('that other programs move are followed, and watch ends once all is quiet', async () => {
    await json('files', 'create', NODE, 'wip/notes.md', '--text', 'Sourdough');
    const before = (await json('status', NODE)) as { files: { clean: { path: string; file_id: string }[] } };
    renameSync(join(mirror, 'wip/notes.md'), join(mirror, 'outputs/notes.md'));
    const id = before.files.clean.find(({ path }) => path === 'wip/notes.md')?.file_id;
    const isFollowed = async (): Promise<boolean> => {
      expect((await folder.svc(['watch', NODE, '--until-quiet'])).code).toBe(0);
      const { items } = (await json('files', 'list', NODE)) as { items: { path: string; id: string }[] };
      return items.some((file) => file.path === 'outputs/notes.md' && file.id === id);
    };
    while (!(await isFollowed())) expect(await json('doctor')).toMatchObject({ healthy: true });
    expect(id).toBeDefined();
  });
});
