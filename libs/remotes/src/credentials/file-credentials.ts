import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceText, syncFolder } from '@workspace-graph/platform/disk';
import { type CredentialStore, CredentialsUnreadable, type RemoteCredentials } from './credential-store.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'wgc1';
const ENDING = '.credentials';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Shorter ones could be guessed from a stolen file. */
const KEY_LENGTH = 32;

/**
 * A file for each id, readable for its user only, encrypted and bound to its id by AES-256-GCM. The key lies outside of the
 * folder: whoever gets the files alone gets nothing.
 */
export class FileCredentials implements CredentialStore {
  private constructor(
    private readonly folder: string,
    private readonly key: Buffer,
  ) {}

  /** Makes the folder. @throws CredentialsUnreadable for a key of less than 32 characters */
  static async open(folder: string, secret: string): Promise<FileCredentials> {
    if (secret.length < KEY_LENGTH)
      throw new CredentialsUnreadable(`The key of the credentials must have at least ${KEY_LENGTH} characters.`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'workspace-graph remote credentials', KEY_BYTES));
    return new FileCredentials(folder, key);
  }

  async read(id: string): Promise<RemoteCredentials | null> {
    const text = await readFile(this.pathOf(id), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new CredentialsUnreadable('The file of the credentials cannot be read.', { cause: error });
    });
    return text === null ? null : (JSON.parse(this.opened(id, text)) as RemoteCredentials);
  }

  async write(id: string, credentials: RemoteCredentials): Promise<void> {
    await replaceText(this.pathOf(id), this.sealed(id, JSON.stringify(credentials)));
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
    await syncFolder(this.folder);
  }

  async list(): Promise<{ id: string; writtenAtMs: number }[]> {
    const ids = (await readdir(this.folder))
      .filter((name) => name.endsWith(ENDING))
      .map((name) => name.slice(0, -ENDING.length))
      .filter((id) => ID.test(id));
    return Promise.all(ids.map(async (id) => ({ id, writtenAtMs: (await stat(this.pathOf(id))).mtimeMs })));
  }

  private sealed(id: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(Buffer.from(id));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${VERSION}:${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')}\n`;
  }

  private opened(id: string, text: string): string {
    const [version, packed = ''] = text.trim().split(':');
    const bytes = Buffer.from(packed, 'base64');
    if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES)
      throw new CredentialsUnreadable('The file of the credentials is damaged.');
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(id))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch (error) {
      throw new CredentialsUnreadable('The credentials were written with another key, or their file is damaged.', {
        cause: error,
      });
    }
  }

  private pathOf(id: string): string {
    if (!ID.test(id)) throw new CredentialsUnreadable('Credentials have a UUID as their id.');
    return join(this.folder, `${id}${ENDING}`);
  }
}
