import { PrismaPg } from '@prisma/adapter-pg';
import { RawJson, type ServiceError } from '@workspace-graph/contracts';
import pg from 'pg';
import { translateDatabaseError } from './database-error.js';
import { PrismaClient } from './generated/client.js';
import { OutboxWake } from './outbox/outbox-wake.js';
import type { Statement } from './statement.js';

/** Options of a database pool. */
export interface DatabaseOptions {
  /** PostgreSQL URL with user and password. */
  readonly url: string;
  /** Maximum number of connections of this process. Default 10. */
  readonly poolSize?: number;
  /** Name of the connections in the activity of the server. Default `workspace-graph`. */
  readonly applicationName?: string;
  /**
   * The known reason why the database cannot be used now; replaces the general SERVICE_UNAVAILABLE. Null: none is
   * known.
   */
  readonly unavailable?: () => ServiceError | null;
  /** Called with errors of idle connections, which the pool replaces by itself. */
  readonly onIdleError?: (error: Error) => void;
}

type Row = Record<string, unknown>;

/** How the work of a transaction ends. */
export interface Ending<R> {
  readonly result: R;
  /** Its last statement, which goes to the server together with the commit. */
  readonly last?: () => Promise<unknown>;
}

/** A row of a statement that answers JSON. */
export interface JsonRow extends Row {
  readonly json: string | null;
  readonly version?: number | null;
}

export function rawJsonOf(row: JsonRow | null): RawJson | null {
  if (row?.json == null) return null;
  return new RawJson(row.json, row.version == null ? {} : { version: row.version });
}

/** A statement that takes longer is given up, unless its transaction says otherwise. */
export const STATEMENT_MS = 30_000;
/** Connections beside the pool that belong to one caller each. Whoever finds them all taken is refused for now. */
const OWN_CONNECTIONS = 4;
/** A transaction whose process has vanished without a word lets go of its locks after this time. */
const IDLE_IN_TRANSACTION_MS = 60_000;
/**
 * The same of an ordinary command: a process that is frozen in the middle of one lets go of its call before the time of that
 * call is over, so that another instance can carry it out.
 */
const IDLE_IN_COMMAND_MS = 5_000;

/**
 * One pool for both ways to the database: named statements, and Prisma for ordinary reads. Statements that answer JSON build it in the database and name the column `json`.
 */
export class Database {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  /** Connections that belong to one caller each: one that is closed ends its statement, which a pipelined one carries out. */
  private readonly own: pg.Pool;
  /** Wakes the publishers of the outbox. */
  readonly outbox: OutboxWake;
  /** One connection that no work waits for. */
  private readonly pulse: pg.Pool;

  constructor(private readonly options: DatabaseOptions) {
    const connection: pg.PoolConfig = {
      connectionString: options.url,
      max: options.poolSize ?? 10,
      application_name: options.applicationName ?? 'workspace-graph',
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: 60_000,
      // Pages are on SSDs or in memory, and no statement here is worth compiling.
      options: `-c jit=off -c random_page_cost=1.1 -c statement_timeout=${STATEMENT_MS} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
    };
    // What is asked at once is sent at once: a transaction saves two of its ways to the server and back.
    this.pool = new pg.Pool({ ...connection, pipeline: true });
    this.own = new pg.Pool({ ...connection, max: OWN_CONNECTIONS });
    for (const pool of this.pools)
      pool.on('error', (error) => {
        // The pool hangs the whole connection on it, with the text of every statement.
        Reflect.deleteProperty(error, 'client');
        options.onIdleError?.(error);
      });
    this.pulse = new pg.Pool({
      connectionString: options.url,
      max: 1,
      application_name: `${options.applicationName ?? 'workspace-graph'} health`,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      // It changes nothing that is to last.
      options: '-c synchronous_commit=off',
    });
    // The next look makes a new connection.
    this.pulse.on('error', () => undefined);
    this.outbox = new OutboxWake(() => this.pulse.query('NOTIFY outbox'));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });
  }

  /**
   * Rows of a statement, on any connection.
   * @throws ServiceError SERVICE_UNAVAILABLE when the database is away for a moment; the driver's error otherwise
   */
  async rows<T extends Row>(statement: Statement, values: readonly unknown[] = []): Promise<T[]> {
    try {
      const result = await this.pool.query<T>({ name: statement.name, text: statement.text, values: [...values] });
      return result.rows;
    } catch (error) {
      throw translateDatabaseError(error);
    }
  }

  /** The first row, or null. */
  async row<T extends Row>(statement: Statement, values: readonly unknown[] = []): Promise<T | null> {
    return (await this.rows<T>(statement, values))[0] ?? null;
  }

  /**
   * The text of column `json` of the first row, passed on unparsed; null without a row or value. Cast it to text. A
   * record's version stands beside it, in the column `version`.
   */
  async json(statement: Statement, values: readonly unknown[] = []): Promise<RawJson | null> {
    return rawJsonOf(await this.row<JsonRow>(statement, values));
  }

  /**
   * Runs work in a transaction on one connection: committed when it ends, rolled back when it throws. A single
   * statement is given up after `timeoutMs`.
   */
  async transaction<R>(work: (client: pg.PoolClient) => Promise<Ending<R>>, timeoutMs = STATEMENT_MS): Promise<R> {
    const client = await this.pool.connect();
    let lost: Error | undefined;
    // The statement under way fails with it too; unheard it would end the process.
    const remember = (error: Error): void => {
      lost = error;
    };
    client.on('error', remember);
    try {
      return await inTransaction(client, work, timeoutMs);
    } catch (error) {
      // What broke the connection tells more than the statement that found it broken.
      const reason = lost ?? error;
      await client.query('ROLLBACK').catch(remember);
      throw reason;
    } finally {
      client.off('error', remember);
      // A connection that broke or could not roll back is not used again.
      client.release(lost);
    }
  }

  /**
   * Runs work on a connection of its own, which is closed afterwards with all that it holds: temporary tables, locks,
   * settings. An abort of `signal` closes it at once and ends what runs there. @throws the signal's reason
   */
  async session<R>(work: (client: pg.PoolClient) => Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    const client = await this.own.connect();
    let isOpen = true;
    const close = (): void => {
      if (isOpen) client.release(true);
      isOpen = false;
    };
    // The statement under way fails with it too; unheard it would end the process.
    client.on('error', close);
    signal?.addEventListener('abort', close, { once: true });
    try {
      return await work(client);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      signal?.removeEventListener('abort', close);
      // Locks are let go of before anybody hears of the end.
      if (isOpen) await client.query('ROLLBACK').catch(() => undefined);
      close();
    }
  }

  private get pools(): readonly pg.Pool[] {
    return [this.pool, this.own];
  }

  /** What is known of a database that cannot be used right now; null when nothing is. */
  unavailable(): ServiceError | null {
    return this.options.unavailable?.() ?? null;
  }

  /** Resolves when the database answers, however busy the pool is. @throws the driver's error */
  async ping(): Promise<void> {
    await this.pulse.query('SELECT 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await Promise.all([...this.pools, this.pulse].map((pool) => (pool.ended ? Promise.resolve() : pool.end())));
  }
}

/** Commits when the work ends. What it throws leaves the transaction open: the caller rolls back or closes the connection. */
export async function inTransaction<R>(
  client: pg.PoolClient,
  work: (client: pg.PoolClient) => Promise<Ending<R>>,
  timeoutMs: number,
): Promise<R> {
  const idleMs = timeoutMs > STATEMENT_MS ? IDLE_IN_TRANSACTION_MS : IDLE_IN_COMMAND_MS;
  const begun = client.query(
    `BEGIN; SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
  );
  // Sent together with the first statement. Whatever becomes of it, the work is over before anybody else has the connection.
  const [start, worked] = await Promise.allSettled([begun, work(client)]);
  if (start.status === 'rejected') throw start.reason;
  if (worked.status === 'rejected') throw worked.reason;
  const { result, last } = worked.value;
  const [, { command }] = await Promise.all([last?.(), client.query('COMMIT')]);
  // A transaction in which a statement failed ends so, without an error.
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back instead of committed');
  return result;
}
