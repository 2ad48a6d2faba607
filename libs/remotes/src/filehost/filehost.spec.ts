import { remoteConformance } from '../conformance/remote.conformance.js';
import { DropboxServer } from './emulator/dropbox-server.fixture.js';
import { filehostWorld } from './filehost.fixture.js';

let server: DropboxServer;
beforeAll(async () => {
  server = await DropboxServer.start();
});
afterAll(() => server.close());

remoteConformance('filehost', () => filehostWorld(server));
