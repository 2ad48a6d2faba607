import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CredentialStore } from './credential-store.js';
import { openCredentials } from './open-credentials.js';

const SCHEMA = `# @defaultSensitive=true @defaultRequired=infer
# ---
SVC_REMOTE_TEAM_ACCESS_KEY_ID=AKIA
SVC_REMOTE_TEAM_SECRET_ACCESS_KEY=exec('echo příliš tajné')
SVC_REMOTE_TEAM_EU_PASSWORD=other
SVC_LOG_LEVEL=info
`;

describe('credentials that varlock resolves', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'varlock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const open = (): Promise<CredentialStore> =>
    openCredentials({ store: 'varlock', folder: () => folder, key: () => 'not asked for' });

  it('are given to remotes by their names, and follow their schema [remotes.credentials.stores]', async () => {
    await writeFile(join(folder, '.env.schema'), SCHEMA);
    const store = await open();
    expect(await store.given?.('team-eu')).toEqual({ password: 'other' });
    expect(await store.given?.('Nobody')).toEqual({});
    expect(await store.given?.('team')).toMatchObject({ access_key_id: 'AKIA', secret_access_key: 'příliš tajné' });
    await writeFile(join(folder, '.env.schema'), SCHEMA.replace('AKIA', 'AKIB'));
    expect(await store.given?.('team')).toMatchObject({ access_key_id: 'AKIB' });
    expect([await store.read('id'), await store.list()]).toEqual([null, []]);
    await expect(store.write('id', { password: 'x' })).rejects.toThrow('only read');
  });

  it('are refused where there is no schema, or a wrong one, without a word of what it holds', async () => {
    await expect(open()).rejects.toThrow(`varlock cannot resolve the schema in ${folder}`);
    await writeFile(join(folder, '.env.schema'), `SVC_REMOTE_TEAM_PASSWORD=exec('echo topsecret; exit 1')\n`);
    const problem = await open().then(String, (error: Error) => `${error.message} ${String(error.cause)}`);
    expect(problem).not.toContain('topsecret');
  });
});
