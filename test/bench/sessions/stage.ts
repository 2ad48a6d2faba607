import { LIMITS } from '@workspace-graph/contracts';
import { migrate } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { startPostgres } from '@workspace-graph/testing';
import pg from 'pg';
import { untilOutboxIsEmpty } from '../quiet.js';
import type { BareCalls } from './bare.js';
import type { ClientCalls } from './client.js';
import { textOf } from './event-texts.js';
import { Helper } from './helper.js';
import { IDLE_GROWTH, type SessionBenchOptions } from './options.js';
import type { Person, ProductCalls } from './product.js';

const POOL_SIZE = 10;
/** Sockets that one person may have. */
const SOCKETS_PER_PERSON = 90;
/** Different ones, of which a long log is made. */
const TEXTS = 40;

/** Where measuring takes place: a database, the product, the bare side and the clients, each in a process of its own. */
export interface Stage extends AsyncDisposable {
  readonly options: SessionBenchOptions;
  readonly databaseUrl: string;
  readonly pool: pg.Pool;
  readonly product: Helper<ProductCalls>;
  readonly bare: Helper<BareCalls>;
  readonly client: Helper<ClientCalls>;
  readonly productAt: Addresses;
  readonly bareAt: Addresses;
  /** A node that everybody sees. */
  readonly nodeId: string;
  readonly durability: string;
  readonly progress: (line: string) => void;
  /** Database connections of the product; the bare driver gets as many. */
  readonly poolSize: number;
  readonly administratorToken: string;
  person(index: number): Person;
  /** A token for the socket with this number, so that nobody has too many. */
  tokenFor(socket: number): string;
  /** Sessions with an empty log, for the bare driver. */
  emptySessions(count: number): Promise<string[]>;
  /** How many states a new socket of anybody is told. */
  openStates(): Promise<number>;
  /** A session with a long log, the same at each call. */
  longLog(): Promise<string>;
  /** Waits until everybody has been told what was written. */
  settle(): Promise<void>;
}

export interface Addresses {
  readonly url: string;
  readonly controlUrl: string;
}

export async function openStage(options: SessionBenchOptions, progress: (line: string) => void): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  try {
    const postgres = await startPostgres({ own: true, durable: true });
    stack.defer(() => postgres.stop());
    const { url: databaseUrl } = postgres;
    await migrate({ url: databaseUrl });
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    // Connections that end while the server stops are nothing to tell of.
    pool.on('error', () => undefined);
    stack.defer(() => pool.end());
    const product = stack.use(new Helper<ProductCalls>(new URL('./product.ts', import.meta.url)));
    const bare = stack.use(new Helper<BareCalls>(new URL('./bare.ts', import.meta.url)));
    const client = stack.use(new Helper<ClientCalls>(new URL('./client.ts', import.meta.url)));
    const started = { databaseUrl, poolSize: POOL_SIZE };
    const productAt = await product.call('start', { ...started, recordsSessions: false });
    const bareAt = await bare.call('start', started);
    const administrator = await product.call('administrator', null);
    const most = Math.max(options.sockets, IDLE_GROWTH * options.idleSockets);
    const people = await product.call('people', {
      count: Math.ceil(most / SOCKETS_PER_PERSON) + 1,
      administrator: administrator.caller,
    });
    const nodeId = await addNode(pool);
    const person = (index: number): Person => {
      const found = people[index % people.length];
      if (!found) throw new Error('There is nobody');
      return found;
    };
    let longLog: Promise<string> | undefined;
    const owner = { nodeId, ownerId: person(0).caller.user_id };
    return {
      options,
      databaseUrl,
      pool,
      product,
      bare,
      client,
      productAt,
      bareAt,
      nodeId,
      durability: await durabilityOf(pool),
      progress,
      poolSize: POOL_SIZE,
      administratorToken: administrator.token,
      person,
      tokenFor: (socket) => person(socket).token,
      emptySessions: (count) => emptySessions(pool, { count, ...owner }),
      openStates: () => openStates(pool),
      longLog: () => (longLog ??= writeLongLog(pool, { ...owner, events: options.events })),
      settle: () => untilOutboxIsEmpty(pool),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function addNode(pool: pg.Pool): Promise<string> {
  const id = newId();
  await pool.query(
    `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1::uuid, 'organization', 'Acme', 'active', 'acme')`,
    [id],
  );
  return id;
}

async function emptySessions(
  pool: pg.Pool,
  { count, nodeId, ownerId }: { readonly count: number; readonly nodeId: string; readonly ownerId: string },
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await pool.query(
    `INSERT INTO session.session (id, node_id, owner_id, origin, name, state, closed_at)
     SELECT id, $2, $3, 'connection', 'Bare', 'closed', now() FROM unnest($1::uuid[]) AS s(id)`,
    [ids, nodeId, ownerId],
  );
  return ids;
}

async function openStates(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM session.session WHERE state IN ('running', 'suspended')`,
  );
  return Math.min(rows[0]?.count ?? 0, LIMITS.statesOnConnect);
}

/** @returns the id of a session whose log is that of a long piece of work */
async function writeLongLog(
  pool: pg.Pool,
  { events, ...owner }: { readonly events: number; readonly nodeId: string; readonly ownerId: string },
): Promise<string> {
  const [id] = await emptySessions(pool, { count: 1, ...owner });
  const texts = Array.from({ length: TEXTS }, (_none, index) => JSON.stringify({ text: textOf(index) }));
  await pool.query(
    `INSERT INTO session.event (session_id, seq, id, run_id, kind, payload)
     SELECT $1::uuid, n, gen_random_uuid(), $1::uuid, 'assistant_message', ($3::text[])[1 + n % cardinality($3::text[])]::json
     FROM generate_series(1, $2::int) AS n`,
    [id, events, texts],
  );
  await pool.query('UPDATE session.session SET last_seq = $2 WHERE id = $1', [id, events]);
  await pool.query('VACUUM ANALYZE session.event');
  if (id === undefined) throw new Error('No session was made');
  return id;
}

async function durabilityOf(pool: pg.Pool): Promise<string> {
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes'];
  const { rows } = await pool.query<{ text: string }>(
    `SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) AS text FROM pg_settings WHERE name = ANY ($1)`,
    [settings],
  );
  return `both sides with ${rows[0]?.text ?? 'unknown settings'}`;
}
