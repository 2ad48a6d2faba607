import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import { migrate } from '../migrate/migrator.js';
import { fill, fingerprint, withClient } from './backup.fixture.js';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/deployment.md');
const COMMAND = /^docker compose exec -T postgres (?<program>pg_\w+) (?<args>.+) [<>] workspace\.dump$/gm;
/** The user of the compose file, and its database. */
const NAME = 'workspace_graph';

let source: TestDatabase;

beforeAll(async () => {
  source = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  await fill(source.url);
});
afterAll(() => source.drop());

describe('a dump of the database by the programs of PostgreSQL', () => {
  it('finds what tables call: no function that they need calls another one in the text of its body', async () => {
    const { rows } = await withClient(source.url, (client) =>
      client.query<{ name: string }>(`
        WITH ours AS (
          SELECT p.oid, format('%I.%I', n.nspname, p.proname) AS name, p.prosrc, p.prosqlbody
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
          WHERE n.nspname IN ('graph', 'file', 'identity', 'session', 'audit', 'outbox')
        )
        SELECT DISTINCT ours.name FROM ours JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = ours.oid
        WHERE d.classid IN ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_class'::regclass)
          AND ours.prosqlbody IS NULL AND EXISTS (SELECT FROM ours called WHERE strpos(ours.prosrc, called.name || '(') > 0)`),
    );
    expect(rows).toEqual([]);
  });

  it('is restored by the commands that the document names, over a later state and into an empty database', async (): Promise<void> => {
    const [dump, restore] = readFileSync(DOCUMENT, 'utf8').matchAll(COMMAND);
    expect([dump?.groups?.['program'], restore?.groups?.['program']]).toEqual(['pg_dump', 'pg_restore']);
    if (!(await isAtHand(source.url))) return;
    const bytes = run(dump, source.url);
    const before = await fingerprint(source.url);
    for (const target of [await createEmptyDatabase(), await later()]) {
      run(restore, target.url, bytes);
      expect(await fingerprint(target.url)).toEqual(before);
      await target.drop();
    }
  });
});

/** A database in use, with other contents. */
async function later(): Promise<TestDatabase> {
  const database = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  await withClient(database.url, (client) =>
    client.query(`INSERT INTO identity."user" (id, name, max_scope) VALUES (gen_random_uuid(), 'Later', 'read')`),
  );
  return database;
}

/** Whether this machine has the programs of the server's version. */
async function isAtHand(url: string): Promise<boolean> {
  const { rows } = await withClient(url, (client) => client.query<{ server_version: string }>('SHOW server_version'));
  const major = rows[0]?.server_version.split('.')[0];
  const versions = ['pg_dump', 'pg_restore'].map((program) => spawnSync(program, ['--version']).stdout?.toString());
  return versions.every((version) => version?.includes(` ${major}.`));
}

function run(command: RegExpExecArray | undefined, url: string, input?: Buffer): Buffer {
  const { hostname, port, username, password, pathname } = new URL(url);
  const args = (command?.groups?.['args'] ?? '').split(' ').map((arg, index, all) => {
    if (arg !== NAME) return arg;
    return all[index - 1] === '-U' ? decodeURIComponent(username) : pathname.slice(1);
  });
  const env = { ...process.env, PGHOST: hostname, PGPORT: port, PGPASSWORD: decodeURIComponent(password) };
  return execFileSync(command?.groups?.['program'] ?? '', args, { env, input, maxBuffer: 1e9 });
}
