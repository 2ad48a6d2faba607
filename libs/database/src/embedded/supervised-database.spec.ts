import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '@workspace-graph/testing';
import pg from 'pg';
import { makeTestPlaces, type TestPlaces } from './embedded-places.fixture.js';
import { processesIn } from './processes.js';
import type { RestartPolicy } from './restart-policy.js';
import { type ServerChange, type SupervisedDatabase, superviseEmbeddedDatabase } from './supervised-database.js';

import.meta.jest.setTimeout(120_000);

const policy: RestartPolicy = { mostEnds: 2, withinMs: 3_600_000, pauseMs: 10, longestPauseMs: 50 };
let places: TestPlaces;
beforeAll(async () => {
  places = await makeTestPlaces();
});
afterAll(() => places.remove());

async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<{ a: unknown }>(text)).rows[0]?.a;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The first process of the server that runs for these data. */
function serverOf({ dataFolder }: SupervisedDatabase): number {
  return Number.parseInt(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8'), 10);
}

interface Watched {
  readonly database: SupervisedDatabase;
  readonly changes: ServerChange[];
  /** Resolves when so many changes of a kind have happened. */
  happened(kind: ServerChange['kind'], times: number): Promise<void>;
}

async function watched(folder: string): Promise<Watched> {
  const changes: ServerChange[] = [];
  const onChange = (change: ServerChange): void => void changes.push(change);
  const database = await superviseEmbeddedDatabase({ folder, policy, onChange });
  const count = (kind: ServerChange['kind']): number => changes.filter((change) => change.kind === kind).length;
  const happened = async (kind: ServerChange['kind'], times: number): Promise<void> => {
    while (count(kind) < times) await sleep(5);
  };
  return { database, changes, happened };
}

describe('a supervised database whose server is killed', () => {
  it('runs again at the same address, with everything that was acknowledged', async () => {
    const { database, happened } = await watched(places.used());
    await using _ends = database;
    await ask(database.url, 'CREATE TABLE kept AS SELECT 7 AS a');
    const first = serverOf(database);
    process.kill(first, 'SIGKILL');
    await happened('ended', 1);
    expect(database.problem).toMatchObject({ code: 'SERVER_ENDED' });
    await happened('running', 1);
    expect([database.problem, isRunning(first)]).toEqual([null, false]);
    expect(await ask(database.url, 'SELECT a FROM kept')).toBe(7);
  });

  it('keeps its port where it listens on loopback', async () => {
    const { database, happened } = await watched(join(places.fresh(), 'x'.repeat(120)));
    await using _ends = database;
    expect(new URL(database.url).hostname).toBe('127.0.0.1');
    process.kill(serverOf(database), 'SIGKILL');
    await happened('running', 1);
    expect(await ask(database.url, 'SELECT 1 AS a')).toBe(1);
  });

  it('again and again is told as lost, and not started any more', async () => {
    const { database, changes, happened } = await watched(places.used());
    await using _ends = database;
    for (let times = 1; times <= policy.mostEnds; times++) {
      process.kill(serverOf(database), 'SIGKILL');
      await happened('running', times);
    }
    process.kill(serverOf(database), 'SIGKILL');
    expect(await database.lost).toMatchObject({ code: 'SERVER_ENDED', advice: expect.stringContaining('server.log') });
    expect(changes.filter(({ kind }) => kind === 'running')).toHaveLength(policy.mostEnds);
  });

  it('is not started again once it is stopped, and leaves no process', async () => {
    const { database, happened } = await watched(places.used());
    process.kill(serverOf(database), 'SIGKILL');
    await happened('ended', 1);
    await Promise.all([database.stop(), database.stop()]);
    expect(processesIn(database.dataFolder)).toEqual([]);
    expect(existsSync(join(database.dataFolder, 'PG_VERSION'))).toBe(true);
  });

  it('and whose data are gone is not replaced by an empty one', async () => {
    const { database } = await watched(places.used());
    await using _ends = database;
    const server = serverOf(database);
    renameSync(database.dataFolder, `${database.dataFolder}-away`);
    process.kill(server, 'SIGKILL');
    expect(await database.lost).toMatchObject({ code: 'DATA_MISSING' });
    expect(existsSync(database.dataFolder)).toBe(false);
  });
});
