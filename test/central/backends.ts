import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputOf, setupRemote } from '@workspace-graph/contracts';
import { startApache, startRadosgw, startSshd, whyNoApache, whyNoRadosgw, whyNoSshd } from '@workspace-graph/testing';

/** A storage that runs, and how it is set up. */
export interface Storage {
  readonly settings: Omit<InputOf<typeof setupRemote>, 'name'>;
  stop(): Promise<void>;
}

/** Storages of other kinds, where this machine has their servers. */
export const BACKENDS = [
  {
    type: 'sftp',
    missing: await whyNoSshd(),
    start: async (): Promise<Storage> => {
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
    start: async (): Promise<Storage> => {
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
    start: async (): Promise<Storage> => {
      const server = await startApache();
      const { username, password } = server;
      const config = { url: server.url, root: '' };
      return { settings: { type: 'webdav', config, credentials: { username, password } }, stop: () => server.stop() };
    },
  },
] as const;
