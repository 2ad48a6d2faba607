import { mkdir, mkdtemp, writeFile as put, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COPY_DISK, copyFolder, removeCopied } from './copy-folder.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-copy-'));
  await mkdir(join(root, 'old/wip'), { recursive: true });
  await put(join(root, 'old/wip/a.md'), 'a');
  const signal = new AbortController().signal;
  await copyFolder(join(root, 'old'), join(root, 'new'), { disk: COPY_DISK, signal });
});
afterEach(() => rm(root, { recursive: true }));

describe('removing a folder that was copied', () => {
  it('removes what the copy has, and nothing that is saved in the same instant [files.save.not-lost]', async () => {
    const disk = {
      ...COPY_DISK,
      unlink: async (path: string) => {
        await put(join(root, 'old/wip/a.md'), 'saved meanwhile');
        await unlink(path);
      },
    };
    expect(await removeCopied(join(root, 'old'), join(root, 'new'), disk)).toBe(false);
    expect(await readFile(join(root, 'old/wip/a.md'), 'utf8')).toBe('saved meanwhile');
    expect(await removeCopied(join(root, 'old'), join(root, 'new'), COPY_DISK)).toBe(false);
    expect(await readdir(join(root, 'old/wip'))).toEqual(['a.md']);
    await put(join(root, 'old/wip/a.md'), 'a');
    expect(await removeCopied(join(root, 'old'), join(root, 'new'), COPY_DISK)).toBe(true);
  });
});
