import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SmallDisk } from '@workspace-graph/testing';
import { DISK_MB } from '../conformance/sizes.conformance.js';
import type { RemoteWorld } from '../conformance/world.js';
import { FsRemote } from './fs.remote.js';

/** Of notes; what is in them is left over. */
const OUR_FOLDERS = new Set(['.svc-asides', '.svc-drafts', '.svc-uploads']);

/** On a disk of its own where this run may make one: only that can be full or read-only for root. */
export async function fsWorld(): Promise<RemoteWorld> {
  const disk = SmallDisk.available() ? new SmallDisk(DISK_MB) : null;
  const folder = disk?.folder ?? (await mkdtemp(join(tmpdir(), 'fs-remote-')));
  const root = join(folder, 'root');
  await mkdir(root);
  return {
    remote: await FsRemote.open(root),
    plant: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      // As editors save: another file takes the name.
      await writeFile(join(folder, 'planted'), content);
      await rename(join(folder, 'planted'), join(root, path));
    },
    break: async (reason) => {
      if (reason === 'unavailable') await rename(root, `${root}-away`);
      else if (reason === 'full') disk?.fill(65_536);
      else disk?.setReadOnly(true);
    },
    mend: async () => {
      disk?.setReadOnly(false);
      disk?.clear();
      await rename(`${root}-away`, root).catch(() => undefined);
    },
    leftOvers: async () => {
      const names = await readdir(root, { recursive: true });
      return names.filter((name) => name.includes('.svc-') && !OUR_FOLDERS.has(name));
    },
    close: async () => {
      if (disk) disk[Symbol.dispose]();
      else await rm(folder, { recursive: true });
    },
  };
}
