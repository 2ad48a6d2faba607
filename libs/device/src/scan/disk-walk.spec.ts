import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskWalk, type WalkOrder, type WalkPart } from './disk-walk.js';

const NOBODY = 65_534;

/** Walks as somebody whom the system refuses what it refuses to others: it refuses nothing to root. */
function walkUnprivileged(order: WalkOrder): WalkPart {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return new DiskWalk(order).next();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a walk', () => {
  it('takes nothing for deleted that lies in an ignored folder which it may not enter, and sees the rest', async () => {
    const root = await mkdtemp(join(tmpdir(), 'svc-walk-'));
    const closed = join(root, 'wip/build');
    try {
      await mkdir(closed, { recursive: true });
      await writeFile(join(closed, 'a.md'), 'a');
      await writeFile(join(root, '.svcignore'), 'build/\n');
      await chmod(root, 0o755);
      await chmod(closed, 0o000);
      const { end } = walkUnprivileged({ root, scope: ['wip'], known: 'wip/build/a.md\t1:1|5\nwip/b.md\t1:1|6' });
      expect(end?.missing).toEqual(['wip/b.md']);
      expect(end?.problems.map(({ path }) => path)).toEqual(['wip/build']);
    } finally {
      await chmod(closed, 0o755);
      await rm(root, { recursive: true, force: true });
    }
  });
});
