import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SecretService, startSecretService, whyNoSecretService } from '@workspace-graph/testing';

const run = promisify(execFile);
const missing = await whyNoSecretService();
const PACKAGE = join(import.meta.dirname, '../..');
const [ONE, OTHER] = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002'] as const;

/** A keychain belongs to the environment of a process: each script is one, with the store as `store`. */
async function inProcess(script: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const text = `
    import { openCredentials } from '@workspace-graph/remotes';
    const nothing = () => { throw new Error('not asked for'); };
    const opened = () => openCredentials({ store: 'keychain', folder: nothing, key: nothing });
    const answer = async () => { ${script} };
    const told = await answer().catch((error) => ({ name: error.name, message: error.message }));
    console.log(JSON.stringify(told));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', text], {
    cwd: PACKAGE,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  return JSON.parse(stdout);
}

const REFUSED = { name: 'CredentialsUnreadable', message: expect.stringContaining('keychain') };

(missing === null ? describe : describe.skip)(`credentials in the keychain${missing ? `: ${missing}` : ''}`, () => {
  let keychain: SecretService;
  beforeAll(async () => {
    keychain = await startSecretService();
    const isThere = async (): Promise<boolean> =>
      (await inProcess('await opened(); return true;', keychain.env).catch(() => false)) === true;
    while (!(await isThere()));
  }, 120_000);
  afterAll(() => keychain?.stop());

  it('are kept until they are removed [remotes.credentials.stores, remotes.credentials.token-store]', async () => {
    const credentials = JSON.stringify({ access_key_id: 'AKIA', secret_access_key: 'příliš tajné' });
    const began = Date.now();
    const write = `const store = await opened(); await store.write('${ONE}', ${credentials}); return true;`;
    expect(await inProcess(write, keychain.env)).toBe(true);
    const read = `const store = await opened(); return [await store.read('${ONE}'), await store.read('${OTHER}'), await store.list()];`;
    expect(await inProcess(read, keychain.env)).toEqual([
      JSON.parse(credentials),
      null,
      [{ id: ONE, writtenAtMs: expect.any(Number) }],
    ]);
    const [, , [kept]] = (await inProcess(read, keychain.env)) as [unknown, unknown, [{ writtenAtMs: number }]];
    expect(kept.writtenAtMs).toBeGreaterThanOrEqual(began);
    const remove = `const store = await opened(); await store.remove('${ONE}'); await store.remove('${ONE}'); return [await store.read('${ONE}'), await store.list()];`;
    expect(await inProcess(remove, keychain.env)).toEqual([null, []]);
  }, 120_000);

  it('are refused where there is no keychain, and never kept anywhere else', async () => {
    const nobody = { ...keychain.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };
    expect(await inProcess('await opened(); return true;', nobody)).toEqual(REFUSED);
  }, 120_000);
});
