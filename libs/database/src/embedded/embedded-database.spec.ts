import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isRunning } from '@workspace-graph/testing';
import pg from 'pg';
import { migrate } from '../migrate/migrator.js';
import { startEmbeddedDatabase } from './embedded-database.js';
import { isRoot, makeTestPlaces, nobody, type TestPlaces } from './embedded-places.fixture.js';
import { processesIn } from './processes.js';
import { serverUser } from './server-user.js';
import { startWorkspace } from './workspace.fixture.js';

import.meta.jest.setTimeout(60_000);

let places: TestPlaces;

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  places = await makeTestPlaces();
});

afterAll(() => places.remove());

describe('the database of a local workspace', () => {
  it('keeps what was written, and starts again with nothing to make or to recover', async () => {
    const folder = places.used();
    const first = await startEmbeddedDatabase({ folder });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const phases: string[] = [];
    for (let start = 0; start < 5; start++) {
      await using again = await startEmbeddedDatabase({ folder, onProgress: ({ phase }) => void phases.push(phase) });
      expect(await query(again.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    }
    // Nothing is made or recovered.
    expect(new Set(phases)).toEqual(new Set(['starting']));
  });

  it('belongs to a role without power over the server, takes the migrations and syncs to disk', async () => {
    await using database = await startEmbeddedDatabase({ folder: places.used() });
    await migrate({ url: database.url });
    const rows = await query(
      database.url,
      `
      SELECT rolsuper AS super, pg_encoding_to_char(encoding) AS encoding, datlocale AS locale, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages, graph.fold('Žluťoučký Straße') AS folded,
        to_tsvector('simple', graph.fold('„slovo“ – 🦊 další…'))::text AS words
      FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
    );
    expect(rows).toEqual([
      {
        super: false,
        encoding: 'UTF8',
        locale: 'C.UTF-8',
        fsync: 'on',
        commit: 'on',
        pages: 'on',
        folded: 'zlutoucky strasse',
        words: `'dalsi':2 'slovo':1`,
      },
    ]);
  });

  it('is closed to other users of the machine and to those without the password', async () => {
    const folder = places.used();
    await using database = await startEmbeddedDatabase({ folder });
    expect(statSync(join(folder, 'password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700);
    expect(statSync(database.dataFolder).mode & 0o777).toBe(0o700);
    const url = new URL(database.url);
    url.password = 'guessed';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    url.username = 'postgres';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  it('runs beside another one on the same machine', async () => {
    await using first = await startEmbeddedDatabase({ folder: places.used() });
    await using second = await startEmbeddedDatabase({ folder: places.used() });
    await query(first.url, 'CREATE TABLE mine (id int)');
    expect(await query(second.url, `SELECT to_regclass('mine')::text AS mine`)).toEqual([{ mine: null }]);
  });

  it('refuses a second start on its folder and names who holds it', async () => {
    const folder = places.used();
    const workspace = await startWorkspace({ folder });
    await expect(startEmbeddedDatabase({ folder })).rejects.toMatchObject({
      code: 'IN_USE',
      message: expect.stringContaining(`process ${workspace.pid}`),
    });
    await workspace.signal('SIGINT');
    await using database = await startEmbeddedDatabase({ folder });
    await expect(startEmbeddedDatabase({ folder })).rejects.toMatchObject({
      code: 'IN_USE',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('leaves one winner of five starts at the same moment on a fresh folder', async () => {
    const folder = places.fresh();
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => startWorkspace({ folder })));
    const winners = results.filter((result) => result.status === 'fulfilled');
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as { code: string }).code] : [],
    );
    expect(reasons).toEqual(['IN_USE', 'IN_USE', 'IN_USE', 'IN_USE']);
    await Promise.all(winners.map(({ value }) => value.signal('SIGINT')));
  });

  it('leaves no process behind after its stop, which may be asked twice', async () => {
    const database = await startEmbeddedDatabase({ folder: places.used() });
    const server = database.pid;
    await Promise.all([database.stop(), database.stop()]);
    expect(isRunning(server)).toBe(false);
    expect(processesIn(database.dataFolder)).toEqual([]);
  });

  it('outlives the Ctrl-C that reaches its whole terminal until the workspace stops it', async () => {
    const workspace = await startWorkspace({ folder: places.used() });
    await workspace.signal('SIGINT', true);
    expect(isRunning(workspace.serverPid)).toBe(false);
  });

  it('gets a new password when the file with it was lost', async () => {
    const folder = places.used();
    rmSync(join(folder, 'password'));
    await using database = await startEmbeddedDatabase({ folder });
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('where it listens', () => {
  it('is loopback where the path is too long for a socket', async () => {
    const folder = join(places.used(), '..', 'x'.repeat(100));
    await using database = await startEmbeddedDatabase({ folder });
    expect(new URL(database.url).hostname).toBe('127.0.0.1');
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is a port if one is asked for, and a clear refusal where it is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const folder = places.used();
    await expect(startEmbeddedDatabase({ folder, port })).rejects.toMatchObject({ code: 'PORT_TAKEN' });
    await new Promise((resolve) => server.close(resolve));
    await using database = await startEmbeddedDatabase({ folder, port });
    expect(new URL(database.url).port).toBe(String(port));
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

const asRoot = isRoot ? describe : describe.skip;

asRoot('for root, which PostgreSQL refuses to be', () => {
  it('runs as an unprivileged user [cli.start.as-root]', async () => {
    await using database = await startEmbeddedDatabase({ folder: places.used() });
    expect(statSync(`/proc/${database.pid}`).uid).toBe(serverUser('/nowhere')?.uid);
  });

  it('puts the data where that user can go when the folder is out of its reach', async () => {
    const folder = join(places.fresh({ uid: 0, gid: 0 }), '..', 'closed', 'db');
    mkdirSync(join(folder, '..'), { mode: 0o700 });
    const elsewhere = join(places.base, 'elsewhere');
    const first = await startEmbeddedDatabase({ folder, elsewhere });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    expect(first.dataFolder.startsWith(elsewhere)).toBe(true);
    const again = await startEmbeddedDatabase({ folder, elsewhere });
    expect(await query(again.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await again.stop();
    rmSync(elsewhere, { recursive: true });
    await expect(startEmbeddedDatabase({ folder, elsewhere })).rejects.toMatchObject({ code: 'DATA_MISSING' });
  });

  it('leaves a user’s workspace usable for that user', async () => {
    const folder = places.used(nobody);
    rmSync(join(folder, 'server.log'));
    const database = await startEmbeddedDatabase({ folder });
    expect(statSync(`/proc/${database.pid}`).uid).toBe(nobody.uid);
    await database.stop();
    const workspace = await startWorkspace({ folder, user: nobody });
    await workspace.signal('SIGINT');
    expect(existsSync(join(folder, 'server.log'))).toBe(true);
  });
});
