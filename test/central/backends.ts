import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputOf, setupRemote } from '@workspace-graph/contracts';
import { DRIVE_ACCOUNT, DROPBOX_CREDENTIALS, DriveServer, DropboxServer } from '@workspace-graph/remotes/emulators';
import { startApache, startRadosgw, startSshd, whyNoApache, whyNoRadosgw, whyNoSshd } from '@workspace-graph/testing';

/** A storage that runs, and how it is set up. */
export interface Storage {
  readonly settings: Omit<InputOf<typeof setupRemote>, 'name'>;
  stop(): Promise<void>;
}

/** Services of the internet, as far as the product uses them, in this process. */
export interface Clouds extends AsyncDisposable {
  readonly drive: DriveServer;
  readonly dropbox: DropboxServer;
  /** Where they are found, by the addresses of what they stand for. */
  readonly emulated: Readonly<Record<string, string>>;
}

export async function startClouds(): Promise<Clouds> {
  const [drive, dropbox] = await Promise.all([DriveServer.start(), DropboxServer.start()]);
  return {
    drive,
    dropbox,
    emulated: {
      'https://oauth2.googleapis.com': drive.origin,
      'https://www.googleapis.com': drive.origin,
      'https://api.dropboxapi.com': dropbox.origin,
      'https://content.dropboxapi.com': dropbox.origin,
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([drive.close(), dropbox.close()]);
    },
  };
}

/** How the emulated drive is set up. */
export function driveSettings({ drive }: Clouds): Storage['settings'] {
  const { email: client_email, privateKey: private_key, keyId: private_key_id } = DRIVE_ACCOUNT;
  return {
    type: 'drive',
    config: { shared_drive_id: drive.store.driveId, root_folder_id: drive.rootId },
    service_account_json: JSON.stringify({ type: 'service_account', client_email, private_key, private_key_id }),
  };
}

function dropboxSettings(): Storage['settings'] {
  const { appKey: app_key, appSecret: app_secret, refreshToken: refresh_token } = DROPBOX_CREDENTIALS;
  return { type: 'filehost', config: { root: 'Root' }, credentials: { app_key, app_secret, refresh_token } };
}

/** Storages of other kinds, where this machine has their servers. */
export const BACKENDS = [
  {
    type: 'sftp',
    missing: await whyNoSshd(),
    start: async (_clouds: Clouds): Promise<Storage> => {
      const server = await startSshd();
      const { port, user: username, privateKey: private_key, hostKey: host_key, owner } = server;
      const root = await mkdtemp(join(tmpdir(), 'central-sftp-'));
      if (owner) await chown(root, owner.uid, owner.gid);
      const config = { host: '127.0.0.1', port, username, host_key, root };
      const stop = async (): Promise<void> => {
        await server.stop();
        await rm(root, { recursive: true });
      };
      return { settings: { type: 'sftp', config, credentials: { private_key } }, stop };
    },
  },
  {
    type: 'objstore',
    missing: await whyNoRadosgw(),
    start: async (_clouds: Clouds): Promise<Storage> => {
      const server = await startRadosgw();
      const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = server;
      await server.makeBucket('files');
      const config = { endpoint: server.url, bucket: 'files' };
      const settings = { type: 'objstore', config, credentials: { access_key_id, secret_access_key } } as const;
      return { settings, stop: () => server.stop() };
    },
  },
  {
    type: 'webdav',
    missing: await whyNoApache(),
    start: async (_clouds: Clouds): Promise<Storage> => {
      const server = await startApache();
      const { username, password } = server;
      const config = { url: server.url, root: '' };
      return { settings: { type: 'webdav', config, credentials: { username, password } }, stop: () => server.stop() };
    },
  },
  {
    type: 'drive',
    missing: null,
    start: async (clouds: Clouds): Promise<Storage> => ({
      settings: driveSettings(clouds),
      stop: async () => undefined,
    }),
  },
  {
    type: 'filehost',
    missing: null,
    start: async (_clouds: Clouds): Promise<Storage> => ({ settings: dropboxSettings(), stop: async () => undefined }),
  },
] as const;
