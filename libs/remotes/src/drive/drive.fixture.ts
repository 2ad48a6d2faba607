import type { RemoteWorld } from '../conformance/world.js';
import { DriveRemote } from './drive.remote.js';
import { ACCOUNT, DriveServer } from './emulator/drive-server.fixture.js';

export function openOn(server: DriveServer, rootFolderId: string | null = server.rootId): Promise<DriveRemote> {
  return DriveRemote.open({ driveId: server.store.driveId, rootFolderId, account: ACCOUNT }, server.origins);
}

/** A new drive on a server that is there, or on one of its own. */
export async function driveWorld(shared?: DriveServer): Promise<RemoteWorld & { readonly remote: DriveRemote }> {
  const server = shared ?? (await DriveServer.start());
  server.reset();
  return {
    remote: await openOn(server),
    plant: async (path, content) => void server.store.plant(server.rootId, path, Buffer.from(content)),
    break: async (reason) => {
      if (reason === 'unavailable') server.goDown();
      else server.refusing = reason === 'full' ? 'storageQuotaExceeded' : 'insufficientFilePermissions';
    },
    mend: async () => server.mend(),
    leftOvers: async () => Array.from({ length: server.unfinished }, () => 'an upload'),
    isInMemory: true,
    network: server,
    close: async () => {
      if (!shared) await server.close();
    },
  };
}
