import { createEmptyDatabase, type TestDatabase } from '@workspace-graph/testing';
import type pg from 'pg';
import { Database } from './database.js';
import { translateDatabaseError } from './database-error.js';

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createEmptyDatabase();
  database = new Database({ url: server.url, poolSize: 2 });
  await database.pool.query('CREATE TABLE entry (id integer PRIMARY KEY)');
});
afterAll(async () => {
  await database.close();
  await server.drop();
});
beforeEach(() => database.pool.query('TRUNCATE entry'));

const NOTHING = { result: null };
const insert = (client: pg.PoolClient, id: number) => client.query('INSERT INTO entry VALUES ($1)', [id]);
const sleep = (seconds: number) => async (client: pg.PoolClient) => ({
  result: await client.query('SELECT pg_sleep($1)', [seconds]),
});
const stored = async (): Promise<number[]> =>
  (await database.pool.query<{ id: number }>('SELECT id FROM entry ORDER BY id')).rows.map(({ id }) => id);

describe('a transaction', () => {
  it('stores all of its work when that ends, and answers its result', async () => {
    const result = await database.transaction(async (client) => {
      await insert(client, 1);
      await insert(client, 2);
      return { result: 'done' };
    });
    expect([result, await stored()]).toEqual(['done', [1, 2]]);
  });

  it('stores nothing when its work throws, and gives the connection back', async () => {
    for (let round = 0; round < 5; round += 1) {
      const work = database.transaction(async (client) => {
        await insert(client, 1);
        throw new Error('thought better of it');
      });
      await expect(work).rejects.toThrow('thought better of it');
    }
    expect(await stored()).toEqual([]);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  it('is not taken for stored when its work hid that a statement failed', async () => {
    const work = database.transaction(async (client) => {
      await insert(client, 1);
      await insert(client, 1).catch(() => 'hidden');
      return NOTHING;
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await stored()).toEqual([]);
  });

  it('ends with its last statement, which goes out with the commit; when that fails nothing is stored and it says why', async () => {
    const both = (last: number) =>
      database.transaction(async (client) => {
        await insert(client, 1);
        return { result: 'done', last: () => insert(client, last) };
      });
    for (let round = 0; round < 3; round += 1) await expect(both(1)).rejects.toMatchObject({ code: '23505' });
    expect(await stored()).toEqual([]);
    expect(await both(2)).toBe('done');
    expect(await stored()).toEqual([1, 2]);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  it('whose connection breaks is refused as unavailable, and the next one gets a new connection', async () => {
    const work = database.transaction(async (client) => {
      await insert(client, 1);
      await client.query('SELECT pg_terminate_backend(pg_backend_pid())');
      return NOTHING;
    });
    const error = await work.catch((reason: unknown) => translateDatabaseError(reason));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await database.transaction(async (client) => ({ result: await insert(client, 2) }));
    expect(await stored()).toEqual([2]);
  });

  it('whose connection breaks between two statements ends no process', async () => {
    const work = database.transaction(async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const broken = new Promise((resolve) => client.once('error', resolve));
      await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await broken;
      await insert(client, 1);
      return NOTHING;
    });
    const error = await work.catch((reason: unknown) => translateDatabaseError(reason));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await stored()).toEqual([]);
  });

  it('may give its statements more time than others have, and ends when its process falls silent', async () => {
    const settings = `SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`;
    const read = async (client: pg.PoolClient) => ({ result: (await client.query(settings)).rows });
    const inside = await database.transaction(read, 590_000);
    expect(inside).toEqual([{ statement: '590s', idle: '1min' }]);
    const ordinary = await database.transaction(read);
    expect(ordinary).toEqual([{ statement: '30s', idle: '5s' }]);
    expect((await database.pool.query(settings)).rows).toEqual([{ statement: '30s', idle: '1min' }]);
  });

  it('and others that take the whole pool do not make the database look away; those who wait are answered', async () => {
    const slow = [1, 2, 3, 4].map(() => database.transaction(sleep(3)));
    let hasEnded = false;
    void Promise.race(slow).then(() => (hasEnded = true));
    await database.ping();
    expect(hasEnded).toBe(false);
    await Promise.all(slow);
  });

  it('gives a statement up that takes too long', async () => {
    const work = database.transaction(sleep(10), 50);
    const error = await work.catch((reason: unknown) => translateDatabaseError(reason));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await database.transaction(sleep(0.1));
  });
});

it('the loss of an idle connection is told without the connection itself', async () => {
  const { promise, resolve } = Promise.withResolvers<Error>();
  const other = new Database({ url: server.url, poolSize: 1, onIdleError: resolve });
  const { rows } = await other.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  expect(await promise).toMatchObject({ code: '57P01' });
  expect(Object.hasOwn(await promise, 'client')).toBe(false);
  await other.close();
});
