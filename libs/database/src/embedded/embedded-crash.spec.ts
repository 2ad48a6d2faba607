import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '@workspace-graph/testing';
import pg from 'pg';
import { findBinaries, findPackage } from './binaries.js';
import { type EmbeddedDatabase, type EmbeddedProgress, startEmbeddedDatabase } from './embedded-database.js';
import { isRoot, makeTestPlaces, nobody, type TestPlaces } from './embedded-places.fixture.js';
import { processesIn, waitFor } from './processes.js';
import { identityOf, type ServerUser, serverEnvironment, serverUser } from './server-user.js';
import { startWorkspace } from './workspace.fixture.js';

import.meta.jest.setTimeout(60_000);

let places: TestPlaces;

beforeAll(async () => {
  places = await makeTestPlaces();
});

afterAll(() => places.remove());

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Writes single rows until the server goes away. @returns how many it acknowledged */
interface Writing {
  /** Resolves with the first acknowledged write. */
  readonly begun: Promise<void>;
  /** Resolves with the number of acknowledged writes when the server is gone. */
  readonly acknowledged: Promise<number>;
}

function writeUntilTheEnd(url: string): Writing {
  const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>();
  let count = 0;
  const acknowledged = withClient(url, async (client) => {
    await client.query('CREATE TABLE written (id int PRIMARY KEY)');
    for (;;) {
      await client.query('INSERT INTO written VALUES ($1)', [count + 1]);
      count++;
      begin();
    }
  }).catch((error: unknown) => {
    if (count === 0) reject(error);
    return count;
  });
  return { begun, acknowledged };
}

async function countRows(database: EmbeddedDatabase): Promise<number> {
  return withClient(
    database.url,
    async (client) => (await client.query<{ n: number }>('SELECT count(*)::int AS n FROM written')).rows[0]?.n ?? 0,
  );
}

const users: [string, ServerUser | undefined][] = isRoot
  ? [
      ['root', undefined],
      ['an ordinary user', nobody],
    ]
  : [['this user', undefined]];

describe.each(users)('a workspace of %s that is killed', (_name, user) => {
  it('loses no acknowledged write and leaves no server when its process is killed', async () => {
    const folder = places.used(user);
    const workspace = await startWorkspace({ folder, user });
    const writing = writeUntilTheEnd(workspace.url);
    await writing.begun;
    await sleep(200);
    await workspace.signal('SIGKILL');
    const acknowledged = await writing.acknowledged;
    await using database = await startEmbeddedDatabase({ folder });
    expect(isRunning(workspace.serverPid)).toBe(false);
    expect(acknowledged).toBeGreaterThan(0);
    expect(await countRows(database)).toBeGreaterThanOrEqual(acknowledged);
  });

  it('loses no acknowledged write when process and server are killed together', async () => {
    const folder = places.used(user);
    const workspace = await startWorkspace({ folder, user });
    const writing = writeUntilTheEnd(workspace.url);
    await writing.begun;
    await sleep(200);
    process.kill(workspace.serverPid, 'SIGKILL');
    await workspace.signal('SIGKILL');
    const acknowledged = await writing.acknowledged;
    const again = await startWorkspace({ folder, user });
    expect(again.phases).toContain('recovering');
    const rows = await withClient(
      again.url,
      async (client) => (await client.query<{ n: number }>('SELECT count(*)::int AS n FROM written')).rows,
    );
    expect(rows[0]?.n).toBeGreaterThanOrEqual(acknowledged);
    await again.signal('SIGINT');
  });
});

describe('a server that is killed under its workspace', () => {
  it('is told, and starts again in the same process', async () => {
    const folder = places.used();
    const database = await startEmbeddedDatabase({ folder });
    const writing = writeUntilTheEnd(database.url);
    await writing.begun;
    await sleep(200);
    process.kill(database.pid, 'SIGKILL');
    expect(await database.endedUnasked).toMatchObject({ signal: 'SIGKILL' });
    const acknowledged = await writing.acknowledged;
    const phases: EmbeddedProgress[] = [];
    await using again = await startEmbeddedDatabase({ folder, onProgress: (progress) => phases.push(progress) });
    expect(phases).toContainEqual(expect.objectContaining({ phase: 'recovering' }));
    expect(await countRows(again)).toBeGreaterThanOrEqual(acknowledged);
    await database.stop();
  });

  it('waits for an old server process that is slow to go', async () => {
    const folder = places.used();
    const database = await startEmbeddedDatabase({ folder });
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const backend = rows[0]?.pid ?? 0;
    process.kill(backend, 'SIGSTOP');
    process.kill(database.pid, 'SIGKILL');
    await database.endedUnasked;
    await using again = await startEmbeddedDatabase({ folder });
    expect(isRunning(backend)).toBe(false);
    expect(again.pid).not.toBe(database.pid);
    await client.end().catch(() => undefined);
  });
});

/** A server as a killed workspace leaves it where the kernel does not end it. */
async function startOrphan(folder: string, reaped: boolean): Promise<{ child: ChildProcess; pid: number }> {
  const dataFolder = join(folder, 'data');
  const user = serverUser(dataFolder);
  const { postgres } = findBinaries(findPackage(folder), folder, user, () => undefined);
  const args = [
    '-D',
    dataFolder,
    '-p',
    '5432',
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${join(folder, 'run')}`,
  ];
  const [command, before] = reaped ? [postgres, []] : ['/bin/sh', ['-c', '"$0" "$@" & exec sleep 60', postgres]];
  const child = spawn(command, [...before, ...args], {
    ...identityOf(user),
    cwd: '/',
    env: serverEnvironment(),
    stdio: 'ignore',
  });
  await waitFor(() => processesIn(dataFolder).length > 3, 15_000);
  const pid = Math.min(...processesIn(dataFolder));
  return { child, pid };
}

describe('what a killed workspace leaves', () => {
  it('is a running server, which the next start ends [cli.start.orphan-database-repaired]', async () => {
    const folder = places.used();
    const { pid } = await startOrphan(folder, true);
    const phases: EmbeddedProgress[] = [];
    await using database = await startEmbeddedDatabase({ folder, onProgress: (progress) => phases.push(progress) });
    expect(phases).toContainEqual({ phase: 'stopping_previous', pid });
    expect(isRunning(pid)).toBe(false);
    expect(database.pid).not.toBe(pid);
  });

  it('is a zombie that still answers signals, which stops nobody', async () => {
    const folder = places.used();
    const { child, pid } = await startOrphan(folder, false);
    process.kill(pid, 'SIGKILL');
    await waitFor(() => processesIn(join(folder, 'data')).length === 0, 15_000);
    expect(() => process.kill(pid, 0)).not.toThrow();
    await using database = await startEmbeddedDatabase({ folder });
    expect(database.pid).not.toBe(pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('is a lock file with a number that another program has now, which is left alone', async () => {
    const folder = places.used();
    const stranger = spawn('sleep', ['60']);
    const lockFile = join(folder, 'data', 'postmaster.pid');
    writeFileSync(
      lockFile,
      `${stranger.pid}\n${join(folder, 'data')}\n1700000000\n5432\n${join(folder, 'run')}\n\n  1234567   7\nready   \n`,
    );
    await using _database = await startEmbeddedDatabase({ folder });
    expect(isRunning(stranger.pid ?? 0)).toBe(true);
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
  });
});
