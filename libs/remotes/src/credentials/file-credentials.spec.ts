import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CredentialsUnreadable } from './credential-store.js';
import { FileCredentials } from './file-credentials.js';

const KEY = 'a key of thirty-two characters, or more';
const secret = { access_key_id: 'AKIA', secret_access_key: 'příliš tajné' };

describe('credentials in files', () => {
  let folder: string;
  let store: FileCredentials;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'credentials-')), 'store');
    store = await FileCredentials.open(folder, KEY);
  });
  afterEach(() => rm(join(folder, '..'), { recursive: true }));

  it('are kept until they are removed [remotes.credentials.token-store]', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await store.write(one, secret);
    expect([await store.read(one), await store.read(other)]).toEqual([secret, null]);
    const again = await FileCredentials.open(folder, KEY);
    expect(await again.read(one)).toEqual(secret);
    expect((await again.list()).map(({ id }) => id)).toEqual([one]);
    await again.remove(one);
    await again.remove(one);
    expect([await store.read(one), await store.list()]).toEqual([null, []]);
  });

  it('are for their user only, and say nothing without the key [remotes.credentials.stores]', async () => {
    const id = randomUUID();
    await store.write(id, secret);
    const [name = ''] = await readdir(folder);
    expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, name))).mode & 0o777]).toEqual([0o700, 0o600]);
    const text = await readFile(join(folder, name), 'utf8');
    for (const plain of [...Object.values(secret), 'access_key_id']) {
      expect(text).not.toContain(plain);
      expect(Buffer.from(text.split(':')[1] ?? '', 'base64').includes(plain)).toBe(false);
    }
    await store.write(id, secret);
    expect(await readFile(join(folder, name), 'utf8')).not.toBe(text);
    const stranger = await FileCredentials.open(folder, KEY.replace('a', 'b'));
    await expect(stranger.read(id)).rejects.toThrow('another key');
  });

  it('are refused when their file is damaged, or that of others', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await store.write(one, secret);
    const path = (id: string) => join(folder, `${id}.credentials`);
    await copyFile(path(one), path(other));
    await expect(store.read(other)).rejects.toThrow(CredentialsUnreadable);
    const text = await readFile(path(one), 'utf8');
    const flipped = `${text.slice(0, 40)}${text[40] === 'A' ? 'B' : 'A'}${text.slice(41)}`;
    for (const damaged of ['', 'wgc1:', 'wgc2:AAAA', text.slice(0, 30), flipped]) {
      await writeFile(path(one), damaged);
      const refused = await store.read(one).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(CredentialsUnreadable);
      expect(String(refused)).not.toContain('tajné');
    }
  });

  it('take no short key and no id that is a path', async () => {
    await expect(FileCredentials.open(folder, 'short')).rejects.toThrow('at least 32 characters');
    await expect(store.write('../outside', secret)).rejects.toThrow(CredentialsUnreadable);
    await expect(store.read('../outside')).rejects.toThrow(CredentialsUnreadable);
  });
});
