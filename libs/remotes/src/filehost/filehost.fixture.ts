import type { RemoteWorld } from '../conformance/world.js';
import { CREDENTIALS, DropboxServer } from './emulator/dropbox-server.fixture.js';
import { FilehostRemote } from './filehost.remote.js';

const ROOT = '/Root';

export function openOn(server: DropboxServer, rootPath = ROOT): Promise<FilehostRemote> {
  return FilehostRemote.open({ ...CREDENTIALS, rootPath }, { api: server.origin, content: server.origin });
}

/** A new account on a server that is there, or on one of its own. */
export async function filehostWorld(shared?: DropboxServer): Promise<RemoteWorld> {
  const server = shared ?? (await DropboxServer.start());
  server.reset();
  return {
    remote: await openOn(server),
    plant: async (path, content) => server.plant(`${ROOT}/${path}`, content),
    break: async (reason) => {
      if (reason === 'unavailable') server.goDown();
      else server.files.refusing = reason === 'full' ? 'insufficient_space' : 'no_write_permission';
    },
    mend: async () => server.mend(),
    leftOvers: async () => [],
    isInMemory: true,
    network: server,
    close: async () => {
      if (!shared) await server.close();
    },
  };
}
