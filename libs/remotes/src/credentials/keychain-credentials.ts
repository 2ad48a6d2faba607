import { AsyncEntry, type EntryOptions, findCredentialsAsync } from '@napi-rs/keyring';
import { z } from 'zod';
import { type CredentialStore, CredentialsUnreadable, type RemoteCredentials } from './credential-store.js';

const SERVICE = 'workspace-graph remote credentials';
/** Without it the keyring of the kernel would stand in, which a start of the machine empties. */
const OPTIONS: EntryOptions = { linux: { store: 'secret-service' } };
const Kept = z.strictObject({ written_at_ms: z.number(), credentials: z.record(z.string(), z.string()) });

/** The keychain of the user that the process runs as: Secret Service, Keychain or Credential Manager. */
export class KeychainCredentials implements CredentialStore {
  /** @throws CredentialsUnreadable when there is no keychain, or it is locked */
  static async open(): Promise<KeychainCredentials> {
    const store = new KeychainCredentials();
    await store.list();
    return store;
  }

  async read(id: string): Promise<RemoteCredentials | null> {
    const text = await onKeychain(() => entryOf(id).getPassword());
    return text === null ? null : keptOf(text).credentials;
  }

  async write(id: string, credentials: RemoteCredentials): Promise<void> {
    const text = JSON.stringify({ written_at_ms: Date.now(), credentials });
    await onKeychain(() => entryOf(id).setPassword(text));
  }

  async remove(id: string): Promise<void> {
    await onKeychain(() => entryOf(id).deletePassword());
  }

  async list(): Promise<{ id: string; writtenAtMs: number }[]> {
    // An entry of the right store first: finding alone would make do with another one.
    await this.read('none');
    const found = await onKeychain(() => findCredentialsAsync(SERVICE));
    return found.map(({ account: id, password }) => ({ id, writtenAtMs: keptOf(password).written_at_ms }));
  }
}

function entryOf(id: string): AsyncEntry {
  return new AsyncEntry(SERVICE, id, OPTIONS);
}

function keptOf(text: string): z.infer<typeof Kept> {
  try {
    return Kept.parse(JSON.parse(text));
  } catch {
    // What it holds is not told.
    throw new CredentialsUnreadable('An entry of the keychain is not one of ours, or was changed.');
  }
}

async function onKeychain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new CredentialsUnreadable('The keychain of this user does not answer, or is locked.', { cause });
  }
}
