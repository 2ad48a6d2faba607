import { z } from 'zod';
import { plainText } from '../common.js';

/** What each type of remote is configured with. Whatever grants access is a credential, and never part of `config`. */

export const REMOTE_TYPES = ['drive', 'filehost', 'objstore', 'fs', 'webdav', 'sftp'] as const;
export const RemoteType = z.enum(REMOTE_TYPES);
export type RemoteType = z.infer<typeof RemoteType>;

export const RemoteName = plainText(100)
  .trim()
  .min(1, 'must not be empty')
  .regex(/^[^\p{Cc}/]*$/u, 'must not contain slashes or control characters');

/** Hashes that storages list. `dropbox` is the SHA-256 over the SHA-256 of each block of 4 MiB. */
export const HASH_KINDS = ['sha256', 'sha1', 'md5', 'dropbox'] as const;
export type HashKind = (typeof HASH_KINDS)[number];

const Line = plainText(2_000).min(1, 'must not be empty');
const Key = plainText(20_000).min(1, 'must not be empty');
/** A folder of the storage that is the root of the remote. */
const Root = plainText(2_000)
  .regex(/^[^/].*[^/]$|^[^/]?$/su, 'must be a path without a slash at its ends')
  .default('');
const HttpUrl = Line.refine(isHttpUrl, 'must be a URL that begins with https:// or http://, without a password in it');

/** `config` and `credentials` of each type. */
export const REMOTE_SETTINGS = {
  fs: {
    config: z.strictObject({
      folder: Line.describe('Below the folder that SVC_REMOTE_FOLDERS of the file service names.'),
    }),
    credentials: z.strictObject({}),
  },
  objstore: {
    config: z.strictObject({
      endpoint: HttpUrl,
      region: Line.default('us-east-1'),
      bucket: Line,
      root: Root,
      path_style: z
        .boolean()
        .default(true)
        .describe('Whether the bucket is part of the path instead of the host name.'),
    }),
    credentials: z.strictObject({ access_key_id: Key, secret_access_key: Key }),
  },
  webdav: {
    config: z.strictObject({ url: HttpUrl, root: Root }),
    credentials: z.strictObject({ username: Key, password: Key }),
  },
  sftp: {
    config: z.strictObject({
      host: Line,
      port: z.int().min(1).max(65_535).default(22),
      username: Line,
      host_key: Line.regex(
        /^SHA256:[A-Za-z0-9+/]{43}=?$/,
        'must be a fingerprint such as ssh-keyscan HOST | ssh-keygen -lf - prints: SHA256:…',
      ),
      root: Line.describe('Absolute path on the server.'),
    }),
    credentials: z.union([
      z.strictObject({ private_key: Key, passphrase: Key.optional() }),
      z.strictObject({ password: Key }),
    ]),
  },
  filehost: {
    config: z.strictObject({ root: Root }),
    credentials: z.strictObject({ app_key: Key, app_secret: Key, refresh_token: Key }),
  },
  drive: {
    config: z.strictObject({ shared_drive_id: Line, root_folder_id: Line.optional() }),
    credentials: z.strictObject({
      service_account_json: Key.refine(isServiceAccount, 'must be the JSON of a key of a service account'),
    }),
  },
} as const satisfies Record<RemoteType, { readonly config: z.ZodType; readonly credentials: z.ZodType }>;

export type RemoteSettings = {
  [T in RemoteType]: {
    readonly type: T;
    readonly config: z.output<(typeof REMOTE_SETTINGS)[T]['config']>;
    readonly credentials: z.output<(typeof REMOTE_SETTINGS)[T]['credentials']>;
  };
}[RemoteType];

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['https:', 'http:'].includes(protocol) && username === '' && password === '';
}

function isServiceAccount(text: string): boolean {
  try {
    const { client_email, private_key } = JSON.parse(text) as Record<string, unknown>;
    return typeof client_email === 'string' && typeof private_key === 'string';
  } catch {
    return false;
  }
}
