import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type DavServer, SmallDisk } from '@workspace-graph/testing';
import { FaultyNetwork } from '../conformance/faulty-network.js';
import { DISK_MB } from '../conformance/sizes.conformance.js';
import type { RemoteWorld } from '../conformance/world.js';
import { foldersAbove } from '../port/index.js';
import type { DavConfig } from './dav-http.js';
import { WebdavRemote } from './webdav.remote.js';

/** Where mod_dav_fs keeps properties. */
const OF_SERVER = '.DAV';

/** What a server cannot do. */
export interface Limits {
  readonly atMost?: number;
  /** Names that it may leave. */
  readonly ignored?: RegExp;
}

/** A folder of its own on a shared server, on a disk that can be full where this run may make one. */
export async function webdavWorld(server: DavServer, limits: Limits = {}): Promise<RemoteWorld> {
  const disk = SmallDisk.available() ? new SmallDisk(DISK_MB, server.owner) : null;
  const folder = disk?.folder ?? mkdtempSync(join(tmpdir(), 'webdav-remote-'));
  // Nothing is mounted within the folder of the server, which is removed with all that is in it.
  const link = join(server.folder, basename(folder));
  symlinkSync(folder, link);
  const root = join(folder, 'root');
  const own = (path: string): void => {
    if (server.owner) chownSync(path, server.owner.uid, server.owner.gid);
  };
  own(folder);
  mkdirSync(root);
  own(root);
  let isForbidden = false;
  const network = await FaultyNetwork.to(server.port);
  const url = `http://127.0.0.1:${network.port}/${basename(folder)}/root`;
  const remote = await WebdavRemote.open({ ...configOf(server, ''), url });
  return {
    remote,
    network,
    atMost: limits.atMost ?? 10_000,
    plant: async (path, content) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      for (const above of foldersAbove(path)) own(join(root, above));
      writeFileSync(join(folder, 'planted'), content);
      own(join(folder, 'planted'));
      renameSync(join(folder, 'planted'), join(root, path));
    },
    break: async (reason) => {
      if (reason === 'unavailable') renameSync(root, `${root}-away`);
      else if (reason === 'full') disk?.fill(65_536);
      else {
        server.forbid(root, true);
        isForbidden = true;
      }
    },
    mend: async () => {
      await network.mend();
      disk?.clear();
      if (existsSync(`${root}-away`)) renameSync(`${root}-away`, root);
      if (isForbidden) server.forbid(root, false);
      isForbidden = false;
    },
    leftOvers: async () =>
      readdirSync(root, { recursive: true })
        .map(String)
        .filter(
          (name) =>
            name.includes('.svc-') &&
            !limits.ignored?.test(name) &&
            name !== '.svc-drafts' &&
            !name.includes(OF_SERVER),
        ),
    close: async () => {
      await remote[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      rmSync(link);
      if (disk) disk[Symbol.dispose]();
      else rmSync(folder, { recursive: true });
    },
  };
}

export function configOf({ url, username, password }: DavServer, folder: string): DavConfig {
  return { url: `${url}/${folder}`, username, password };
}
