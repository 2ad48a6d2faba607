import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  descendantsOf,
  expectNoOrphans,
  freePort,
  isRunning,
  memoryFolder,
  startNats,
  startPostgres,
  startRedis,
} from '../index.js';
import { startHolder } from './holder.fixture.js';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function firstLine(port: number, send = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(send));
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString('utf8').split('\r\n')[0] ?? '');
    });
  });
}

/** Folders of this process alone: other specs run beside this one. */
function runFolders(): string[] {
  const bases = [...new Set([tmpdir(), memoryFolder() ?? tmpdir()])];
  const folders = bases.flatMap((base) => readdirSync(base).map((name) => join(base, name)));
  return folders.filter(
    (folder) =>
      basename(folder).startsWith('workspace-graph-test-') &&
      existsSync(join(folder, 'data')) &&
      readFileSync(join(folder, 'owner'), 'utf8') === String(process.pid),
  );
}

describe('a private PostgreSQL', () => {
  it('has its data in memory where there is room, and on a disk when it syncs or nobody wants memory', async () => {
    const inMemory = async (options: { durable?: boolean }): Promise<boolean> => {
      const server = await startPostgres({ own: true, ...options });
      const [folder = ''] = runFolders();
      await server.stop();
      return folder !== '' && dirname(folder) === memoryFolder();
    };
    expect(await inMemory({})).toBe(memoryFolder() !== undefined);
    expect(await inMemory({ durable: true })).toBe(false);
    const { SVC_TEST_MEMORY_FOLDER: given } = process.env;
    process.env['SVC_TEST_MEMORY_FOLDER'] = '';
    try {
      expect([memoryFolder(), await inMemory({})]).toEqual([undefined, false]);
    } finally {
      if (given === undefined) delete process.env['SVC_TEST_MEMORY_FOLDER'];
      else process.env['SVC_TEST_MEMORY_FOLDER'] = given;
    }
  });

  it('answers on a free port and takes its folder along when it stops', async () => {
    const server = await startPostgres({ own: true });
    expect(runFolders()).toHaveLength(1);
    expect(server.port).not.toBe(5432);
    expect(
      await query(server.url, `select lower('ČŘÉ') as folded, current_setting('max_connections') as slots`),
    ).toEqual([{ folded: 'čřé', slots: '200' }]);
    await server.stop();
    await server.stop();
    expect(runFolders()).toEqual([]);
    await expectNoOrphans();
  });

  it('syncs to disk only when asked to', async () => {
    const server = await startPostgres({ durable: true });
    expect(await query(server.url, `select current_setting('fsync') as fsync`)).toEqual([{ fsync: 'on' }]);
    await server.stop();
  });

  it('keeps committed rows over SIGKILL and restart', async () => {
    const server = await startPostgres({ durable: true });
    await query(server.url, 'create table kept as select 1 as one');
    await server.kill('SIGKILL');
    await expect(query(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(await query(server.url, 'select one from kept')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  it('starts from the npm package where none is installed', async () => {
    process.env['SVC_TEST_IGNORE_INSTALLED'] = '1';
    try {
      const server = await startPostgres({ own: true });
      const [row] = await query(server.url, 'show server_version');
      await server.stop();
      expect(row?.['server_version']).toMatch(/^18\./);
    } finally {
      delete process.env['SVC_TEST_IGNORE_INSTALLED'];
    }
  });

  it('says why it did not start', async () => {
    await expect(startPostgres({ own: true, settings: { no_such_setting: 'x' } })).rejects.toThrow('no_such_setting');
    await expectNoOrphans();
  });
});

describe('a private NATS broker', () => {
  it('keeps its port and configuration over a restart', async () => {
    const port = await freePort();
    const server = await startNats({ port, config: 'server_name: "tested"\n' });
    expect(server.url).toBe(`nats://127.0.0.1:${port}`);
    await server.kill('SIGKILL');
    await expect(firstLine(port)).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(await firstLine(port)).toContain('"server_name":"tested"');
    await server.stop();
    await expectNoOrphans();
  });

  it('refuses a port that is taken, and a bad configuration', async () => {
    const first = await startNats({ own: true });
    await expect(startNats({ port: first.port })).rejects.toThrow('EADDRINUSE');
    await first.stop();
    await expect(startNats({ config: 'accounts: {' })).rejects.toThrow('NATS ended while starting');
  });
});

describe('a private Redis', () => {
  it('answers, restarts on its port and leaves nothing', async () => {
    const server = await startRedis({ own: true });
    expect(await firstLine(server.port, 'PING\r\n')).toBe('+PONG');
    await server.kill('SIGKILL');
    await server.restart();
    expect(await firstLine(server.port, 'PING\r\n')).toBe('+PONG');
    await server.stop();
    await expectNoOrphans();
  });
});

describe('a server named by the environment', () => {
  it('is answered as it is and refuses to be ended', async () => {
    process.env['SVC_TEST_REDIS_URL'] = 'redis://127.0.0.1:1';
    try {
      const server = await startRedis();
      expect(server.url).toBe('redis://127.0.0.1:1');
      await expect(server.kill('SIGKILL')).rejects.toThrow('{ own: true }');
    } finally {
      delete process.env['SVC_TEST_REDIS_URL'];
    }
  });
});

describe('a process that dies', () => {
  it('takes its servers with it, even by SIGKILL', async () => {
    const holder = await startHolder();
    const servers = descendantsOf(holder.pid);
    expect(servers.length).toBeGreaterThanOrEqual(2);
    holder.kill('SIGKILL');
    await expectNoOrphans({ groupId: holder.pid, withinMs: 60_000 });
    // PostgreSQL has a group of its own, and may write a while before it is gone.
    const deadlineMs = Date.now() + 60_000;
    while (servers.some((entry) => isRunning(entry.pid)) && Date.now() < deadlineMs) await sleep(25);
    expect(servers.filter((entry) => isRunning(entry.pid))).toEqual([]);
  });
});
