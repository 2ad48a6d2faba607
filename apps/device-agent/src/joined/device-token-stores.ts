import { readFile, rm } from 'node:fs/promises';
import { keepOwner } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { CliError } from '../cli/cli-error.js';
import { folderError, isNoRight } from '../workspace/workspace-folders.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';

export const TOKEN_STORES = ['file', 'keychain'] as const;
export type TokenStore = (typeof TOKEN_STORES)[number];

/** Where the token of a device is kept on its machine. */
export interface DeviceTokens {
  /** Null for none. */
  read(): Promise<string | null>;
  write(token: string): Promise<void>;
  /** One that is not there is no error. */
  remove(): Promise<void>;
}

type Files = Pick<WorkspacePaths, 'own' | 'deviceToken'>;

/** @throws CliError KEYCHAIN_UNAVAILABLE; FOLDER_UNUSABLE for a file */
export function deviceTokens(store: TokenStore, deviceId: string, paths: Files): DeviceTokens {
  return store === 'file' ? inFile(paths) : inKeychain(deviceId);
}

/** Before a code is used up for a token that could not be kept. @throws CliError KEYCHAIN_UNAVAILABLE */
export async function requireStore(store: TokenStore): Promise<void> {
  if (store === 'keychain') await inKeychain('none').read();
}

/** A file that its user alone may read. */
function inFile(paths: Files): DeviceTokens {
  const { own, deviceToken } = paths;
  return {
    read: () =>
      readFile(deviceToken, 'utf8').then(
        (text) => text.trim() || null,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
          throw isNoRight(error) ? folderError(paths, error) : error;
        },
      ),
    write: async (token) => {
      await replaceText(deviceToken, `${token}\n`);
      keepOwner(own, deviceToken);
    },
    remove: () => rm(deviceToken, { force: true }),
  };
}

/** The keychain of the user: Secret Service, Keychain or Credential Manager. */
function inKeychain(deviceId: string): DeviceTokens {
  const entry = async () => {
    // Loaded where it is used alone.
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // Else the keyring of the kernel would stand in, which a start of the machine empties.
    return new AsyncEntry('workspace-graph device token', deviceId, { linux: { store: 'secret-service' } });
  };
  return {
    read: async () => (await onKeychain(async () => (await entry()).getPassword())) ?? null,
    write: (token) => onKeychain(async () => (await entry()).setPassword(token)),
    remove: async () => {
      await onKeychain(async () => (await entry()).deletePassword());
    },
  };
}

async function onKeychain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new CliError('KEYCHAIN_UNAVAILABLE', 'The keychain of this user does not answer, or is locked.', {
      cause,
      hint: 'Unlock it, or run this in the session of its user. `svc join --token-store file` does without it.',
    });
  }
}
