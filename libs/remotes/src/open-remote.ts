import { realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize, sep } from 'node:path';
import type { RemoteSettings, RemoteType } from '@workspace-graph/contracts';
import { assertNever } from '@workspace-graph/domain';
import { type DriveConfig, DriveRemote } from './drive/drive.remote.js';
import { type FilehostConfig, FilehostRemote } from './filehost/filehost.remote.js';
import { FsRemote } from './fs/fs.remote.js';
import { ObjstoreRemote } from './objstore/objstore.remote.js';
import type { ObjstoreConfig } from './objstore/s3-http.js';
import { type Remote, RemoteFailure } from './port/index.js';
import { SftpRemote } from './sftp/sftp.remote.js';
import type { SftpConfig } from './sftp/sftp-connection.js';
import type { DavConfig } from './webdav/dav-http.js';
import { WebdavRemote } from './webdav/webdav.remote.js';

/** What the process that opens remotes gives to them. */
export interface RemotePlaces {
  /** The folder below which remotes of the type `fs` may lie; null: none may be opened. */
  readonly folders: string | null;
}

/** Whether a storage may have documents of its own format: others need not be opened to look for one. */
export function mayHaveDocuments(type: RemoteType): boolean {
  return type === 'drive';
}

/**
 * Opens a storage by its settings.
 * @throws RemoteFailure when it is not reached, or refuses the credentials
 */
export async function openRemote(settings: RemoteSettings, places: RemotePlaces): Promise<Remote> {
  switch (settings.type) {
    case 'fs':
      return FsRemote.open(await folderWithin(places.folders, settings.config.folder));
    case 'sftp':
      return SftpRemote.open(sftpConfig(settings));
    case 'filehost':
      return FilehostRemote.open(filehostConfig(settings));
    case 'objstore':
      return ObjstoreRemote.open(objstoreConfig(settings));
    case 'webdav':
      return WebdavRemote.open(webdavConfig(settings));
    case 'drive':
      return DriveRemote.open(driveConfig(settings));
    default:
      return assertNever(settings);
  }
}

function sftpConfig({ config, credentials }: Extract<RemoteSettings, { type: 'sftp' }>): SftpConfig {
  const { host, port, username: user, host_key: hostKey, root } = config;
  return { host, port, user, hostKey: hostKey.replace(/=$/, ''), root, login: loginOf(credentials) };
}

function loginOf(credentials: Extract<RemoteSettings, { type: 'sftp' }>['credentials']): SftpConfig['login'] {
  if ('password' in credentials) return { password: credentials.password };
  const { private_key: privateKey, passphrase } = credentials;
  return { privateKey, ...(passphrase === undefined ? {} : { passphrase }) };
}

function filehostConfig({ config, credentials }: Extract<RemoteSettings, { type: 'filehost' }>): FilehostConfig {
  const { app_key: appKey, app_secret: appSecret, refresh_token: refreshToken } = credentials;
  return { appKey, appSecret, refreshToken, rootPath: config.root === '' ? '' : `/${config.root}` };
}

function objstoreConfig({ config, credentials }: Extract<RemoteSettings, { type: 'objstore' }>): ObjstoreConfig {
  const { path_style: pathStyle, ...place } = config;
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = credentials;
  return { ...place, pathStyle, accessKeyId, secretAccessKey };
}

function webdavConfig({ config, credentials }: Extract<RemoteSettings, { type: 'webdav' }>): DavConfig {
  const root = config.root.split('/').filter(Boolean).map(encodeURIComponent);
  return { url: [config.url.replace(/\/+$/, ''), ...root].join('/'), ...credentials };
}

/** Where tokens are asked for is Google's alone, whatever the JSON of the key says. */
function driveConfig({ config, credentials }: Extract<RemoteSettings, { type: 'drive' }>): DriveConfig {
  const key = JSON.parse(credentials.service_account_json) as Record<string, unknown>;
  const { client_email: email, private_key: privateKey, private_key_id: keyId } = key;
  const account = {
    email: String(email),
    privateKey: String(privateKey),
    keyId: typeof keyId === 'string' ? keyId : null,
  };
  return { driveId: config.shared_drive_id, rootFolderId: config.root_folder_id ?? null, account };
}

/** @throws RemoteFailure `forbidden` for a folder that lies elsewhere, also by a symbolic link; `unavailable` for none */
async function folderWithin(folders: string | null, folder: string): Promise<string> {
  const inside = normalize(folder);
  if (folders === null || isAbsolute(inside) || inside.split(sep)[0] === '..')
    throw new RemoteFailure('forbidden', { path: '' });
  const [base, wanted] = await Promise.all([real(folders), real(join(folders, inside))]);
  if (wanted !== base && !wanted.startsWith(`${base}${sep}`)) throw new RemoteFailure('forbidden', { path: '' });
  return wanted;
}

async function real(path: string): Promise<string> {
  return realpath(path).catch((cause: unknown) => {
    throw new RemoteFailure('unavailable', { path: '' }, { cause });
  });
}
