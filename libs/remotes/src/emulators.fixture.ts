export { ACCOUNT as DRIVE_ACCOUNT, DriveServer } from './drive/emulator/drive-server.fixture.js';
export { CREDENTIALS as DROPBOX_CREDENTIALS, DropboxServer } from './filehost/emulator/dropbox-server.fixture.js';
