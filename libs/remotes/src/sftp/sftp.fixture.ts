import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SmallDisk, type SshServer } from '@workspace-graph/testing';
import { FaultyNetwork } from '../conformance/faulty-network.js';
import { DISK_MB } from '../conformance/sizes.conformance.js';
import type { RemoteWorld } from '../conformance/world.js';
import { foldersAbove } from '../port/index.js';
import { SftpRemote } from './sftp.remote.js';

/** Of contents that are not whole yet; what is in them is left over. */
const OUR_FOLDERS = new Set(['.svc-drafts', '.svc-uploads']);

/** A folder of its own on a shared server, on a disk that can be full where this run may make one. */
export async function sftpWorld(server: SshServer): Promise<RemoteWorld> {
  const disk = SmallDisk.available() ? new SmallDisk(DISK_MB, server.owner) : null;
  const folder = disk?.folder ?? mkdtempSync(join(tmpdir(), 'sftp-remote-'));
  const root = join(folder, 'root');
  const own = (path: string): void => {
    if (server.owner) chownSync(path, server.owner.uid, server.owner.gid);
  };
  own(folder);
  mkdirSync(root);
  own(root);
  const network = await FaultyNetwork.to(server.port);
  const remote = await SftpRemote.open({ ...loginOf(server), port: network.port, root });
  return {
    remote,
    network,
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
      else chmodSync(root, 0o555);
    },
    mend: async () => {
      await network.mend();
      disk?.clear();
      if (readdirSync(folder).includes('root-away')) renameSync(`${root}-away`, root);
      chmodSync(root, 0o755);
    },
    leftOvers: async () =>
      readdirSync(root, { recursive: true })
        .map(String)
        .filter((name) => name.includes('.svc-') && !OUR_FOLDERS.has(name)),
    close: async () => {
      await remote[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
      if (disk) disk[Symbol.dispose]();
      else rmSync(folder, { recursive: true });
    },
  };
}

export function loginOf({ port, user, privateKey, hostKey }: SshServer) {
  return { host: '127.0.0.1', port, user, login: { privateKey }, hostKey };
}
