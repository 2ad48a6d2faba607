import type { Database, Statement } from '@workspace-graph/database';
import type pg from 'pg';

interface PlanPart {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanPart[];
}

/** How a statement was carried out. */
export interface PlanFacts {
  /** Indexes that were read. */
  readonly indexes: readonly string[];
  /** Large tables that were read from end to end. */
  readonly wholeTables: readonly string[];
  /** Pages that were looked at. */
  readonly blocks: number;
}

const LARGE_TABLES = ['node', 'edge', 'event', 'entry', 'concern', 'responsibility', 'link', 'actor'];

/** The plan that serves any values, as prepared statements come to use it, carried out with these. */
export async function planOf(database: Database, { text }: Statement, values: readonly unknown[]): Promise<PlanFacts> {
  const client = await database.pool.connect();
  try {
    await client.query('SET plan_cache_mode = force_generic_plan');
    // An EXPLAIN with parameters would plan for their values.
    await client.query(`PREPARE explained AS ${text}`);
    const given = values.length > 0 ? `(${values.map((value) => literalOf(client, value)).join(', ')})` : '';
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanPart }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained ${given}`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (!plan) throw new Error('No plan was answered');
    const parts = partsOf(plan).filter((part) => part['Actual Loops'] > 0);
    return {
      indexes: parts.map((part) => part['Index Name']).filter((name) => name !== undefined),
      wholeTables: parts
        .filter((part) => part['Node Type'] === 'Seq Scan')
        .map((part) => part['Relation Name'] ?? '')
        .filter((name) => LARGE_TABLES.includes(name)),
      blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    };
  } finally {
    client.release(true);
  }
}

function literalOf(client: pg.PoolClient, value: unknown): string {
  if (value === null) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join(',')}}` : String(value);
  return client.escapeLiteral(text);
}

function partsOf(plan: PlanPart): PlanPart[] {
  return [plan, ...(plan.Plans ?? []).flatMap(partsOf)];
}
