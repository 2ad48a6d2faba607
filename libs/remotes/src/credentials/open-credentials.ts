import type { CredentialStore } from './credential-store.js';
import { FileCredentials } from './file-credentials.js';

export const CREDENTIAL_STORES = ['file', 'keychain', 'varlock'] as const;

export interface CredentialPlace {
  readonly store: (typeof CREDENTIAL_STORES)[number];
  /** Of the files, or of the schema of varlock. */
  readonly folder: () => string;
  /** By which files are encrypted. */
  readonly key: () => string;
}

/** Opens the store of credentials of remotes. @throws CredentialsUnreadable; what `folder` and `key` throw where they are needed */
export async function openCredentials({ store, folder, key }: CredentialPlace): Promise<CredentialStore> {
  if (store === 'file') return FileCredentials.open(folder(), key());
  // Neither is loaded where it is not used.
  if (store === 'keychain') return (await import('./keychain-credentials.js')).KeychainCredentials.open();
  return (await import('./varlock-credentials.js')).VarlockCredentials.open(folder());
}
