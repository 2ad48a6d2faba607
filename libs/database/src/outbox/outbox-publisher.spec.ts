import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import pg from 'pg';
import { runCommand } from '../command.js';
import { Database } from '../database.js';
import { migrate } from '../migrate/migrator.js';
import { systemContext } from '../system-context.js';
import type { OutboxMessage } from './outbox-message.js';
import { OutboxPublisher, type OutboxPublisherOptions } from './outbox-publisher.js';

let database: TestDatabase;
let client: pg.Client;
let publishers: OutboxPublisher[];

beforeEach(async () => {
  database = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  publishers = [];
});

afterEach(async () => {
  await Promise.all(publishers.map((publisher) => publisher.stop()));
  await client.end();
  await database.drop();
});

async function add(count: number): Promise<string[]> {
  const { rows } = await client.query<{ ids: string[] }>(
    `WITH made AS (
      INSERT INTO outbox.event (id, type, payload, created_at)
      SELECT gen_random_uuid(), 'graph.changed', jsonb_build_object('node_ids', '[]'::jsonb, 'action', n::text), clock_timestamp() + n * interval '1 ms'
      FROM generate_series(1, $1::int) n RETURNING id, created_at)
    SELECT array_agg(id ORDER BY created_at) AS ids FROM made`,
    [count],
  );
  return rows[0]?.ids ?? [];
}

async function left(): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM outbox.event');
  return rows[0]?.n ?? -1;
}

async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadlineMs) throw new Error('it did not come true in time');
    await sleep(10);
  }
}

async function start(
  publish: (event: OutboxMessage) => Promise<void>,
  options: Partial<OutboxPublisherOptions> = {},
): Promise<OutboxPublisher> {
  const publisher = new OutboxPublisher({ url: database.url, publish, ...options });
  publishers.push(publisher);
  await publisher.start();
  return publisher;
}

async function open(): Promise<AsyncDisposable & { readonly database: Database }> {
  const opened = new Database({ url: database.url, poolSize: 1 });
  return { database: opened, [Symbol.asyncDispose]: () => opened.close() };
}

function collector(): { seen: string[]; publish: (event: OutboxMessage) => Promise<void> } {
  const seen: string[] = [];
  return { seen, publish: async (event) => void seen.push(event.id) };
}

describe('the outbox', () => {
  it('publishes what was committed before and after the start, in order, and removes it', async () => {
    const { seen, publish } = collector();
    const before = await add(250);
    await start(publish);
    await until(() => seen.length === 250);
    const after = await add(3);
    await until(() => seen.length === 253);
    expect(seen).toEqual([...before, ...after]);
    await until(async () => (await left()) === 0);
  });

  it('is told after the commit of a change, long before it would look by itself', async () => {
    const events: OutboxMessage[] = [];
    await start(async (event) => void events.push(event), { pollMs: 3_600_000 });
    await using writer = await open();
    const payload = { node_ids: [randomUUID()] };
    const context = systemContext('test_change');
    await runCommand(writer.database, context, async (tx) => tx.emit('access.changed', payload));
    await until(() => events.length === 1);
    expect(events).toMatchObject([{ type: 'access.changed', payload }]);
  });

  it('publishes nothing of a transaction that was rolled back [graph.outbox.after-commit]', async () => {
    const { seen, publish } = collector();
    await start(publish, { pollMs: 20 });
    await client.query('BEGIN');
    await add(2);
    await client.query('ROLLBACK');
    const [id] = await add(1);
    await until(async () => (await left()) === 0);
    const [later] = await add(1);
    await until(() => seen.at(-1) === later);
    expect(seen).toEqual([id, later]);
  });

  it('hands the payload over as it was written', async () => {
    const events: OutboxMessage[] = [];
    await start(async (event) => void events.push(event));
    const id = randomUUID();
    const payload = { node_ids: [randomUUID()] };
    await client.query('INSERT INTO outbox.event (id, type, payload) VALUES ($1, $2, $3)', [
      id,
      'access.changed',
      JSON.stringify(payload),
    ]);
    await until(() => events.length === 1);
    expect(events).toEqual([{ id, type: 'access.changed', payload }]);
  });

  it('is shared by several instances, each event going out once', async () => {
    const { seen, publish } = collector();
    const ids = await add(500);
    await Promise.all([1, 2, 3].map(() => start(publish, { batchSize: 20 })));
    await until(() => seen.length >= 500);
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });
});

describe('when something fails', () => {
  it('the events come again after the connection was cut in the middle of a batch [graph.outbox.after-commit]', async () => {
    const seen: string[] = [];
    let cut = false;
    const ids = await add(20);
    await start(async (event) => {
      seen.push(event.id);
      if (seen.length !== 10 || cut) return;
      cut = true;
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'workspace-graph outbox' AND datname = current_database()`,
      );
    });
    await until(async () => (await left()) === 0);
    expect(cut).toBe(true);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen.length).toBeGreaterThan(20);
    const [later] = await add(1);
    await until(() => seen.at(-1) === later);
  });

  it('the events wait while the bus is away, and come when it is back', async () => {
    let [away, refused] = [true, 0];
    const { seen, publish } = collector();
    const ids = await add(5);
    const refuse = () => Promise.reject(new Error(`away, for the ${++refused}th time`));
    await start((event) => (away ? refuse() : publish(event)), { pollMs: 50 });
    await until(() => refused > ids.length);
    expect(await left()).toBe(5);
    away = false;
    await until(() => seen.length === 5);
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  it('an event that the bus refuses does not hold up the others', async () => {
    const { seen, publish } = collector();
    const [bad, ...good] = await add(10);
    await start((event) => (event.id === bad ? Promise.reject(new Error('too large')) : publish(event)), {
      pollMs: 50,
    });
    await until(() => seen.length === 9);
    expect(seen).toEqual(good);
    // They are forgotten after they were told.
    await until(async () => (await left()) < 10);
    expect(await left()).toBe(1);
  });

  it('the start does not fail while the database is away', async () => {
    const url = new URL(database.url);
    url.port = '1';
    const warnings: string[] = [];
    const logger = { info: () => undefined, warn: (_details: object, message: string) => void warnings.push(message) };
    const publisher = new OutboxPublisher({ url: url.href, publish: async () => undefined, logger });
    await publisher.start();
    expect(warnings).toEqual(['the outbox lost its database connection and reconnects']);
    await publisher.stop();
  });
});

describe('the end', () => {
  it('comes after what was committed has been published', async () => {
    const { seen, publish } = collector();
    const publisher = await start(
      async (event) => {
        await sleep(1);
        await publish(event);
      },
      { batchSize: 10 },
    );
    const ids = await add(100);
    await publisher.stop();
    expect(seen).toEqual(ids);
    expect(await left()).toBe(0);
  });

  it('does not wait longer than it was given, and leaves the rest', async () => {
    const { seen, publish } = collector();
    const publisher = await start(
      async (event) => {
        await sleep(20);
        await publish(event);
      },
      { drainMs: 200 },
    );
    await add(100);
    await publisher.stop();
    expect(seen.length).toBeGreaterThan(0);
    expect(await left()).toBe(100 - seen.length);
  });
});

it('removes old replies and abandoned uploads, batch by batch, and nothing younger', async () => {
  const user = randomUUID();
  await client.query(`INSERT INTO identity."user" (id, name, max_scope) VALUES ($1, 'U', 'read')`, [user]);
  await client.query(`INSERT INTO outbox.applied_call (call_id, operation, request_sha256, applied_at)
    SELECT n::text, 'x', ''::bytea, now() - interval '25 hours' FROM generate_series(1, 2500) n UNION ALL SELECT 'young', 'x', ''::bytea, now() - interval '23 hours'`);
  await client.query(
    `INSERT INTO graph.import_part (upload_id, index, user_id, data, created_at)
    SELECT gen_random_uuid(), n, $1::uuid, '\\x00'::bytea, now() - interval '61 minutes' FROM generate_series(1, 250) n
    UNION ALL SELECT gen_random_uuid(), 0, $1::uuid, '\\x00'::bytea, now() - interval '59 minutes'`,
    [user],
  );
  await start(async () => undefined);
  const count = async (table: string): Promise<unknown> =>
    (await client.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0];
  await until(async () => JSON.stringify(await count('outbox.applied_call')) === '{"n":1}');
  await until(async () => JSON.stringify(await count('graph.import_part')) === '{"n":1}');
});
