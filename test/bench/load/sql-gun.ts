import { newId } from '@workspace-graph/platform';
import pg from 'pg';
import { itemAt } from '../world.js';
import type { Gun } from './shots.js';
import { FRESH_ID, type ShotSet } from './shots.js';

/** As on the product's own connections: the figures are to compare what each does, not how the server is tuned. */
const PLANNER_SETTINGS = '-c jit=off -c random_page_cost=1.1';

type SqlSet = Extract<ShotSet, { via: 'sql' }>;

/** A prepared statement through the bare driver, on a pool of the product's size. */
export function sqlGun(set: SqlSet): Gun {
  const pool = new pg.Pool({
    connectionString: set.url,
    max: set.poolSize,
    idleTimeoutMillis: 0,
    options: PLANNER_SETTINGS,
  });
  const run = async (index: number): Promise<unknown[]> => {
    const { values } = itemAt(set.shots, index);
    const { rows } = await pool.query<Record<string, unknown>>({
      name: set.name,
      text: set.text,
      values: values.map((value) => (value === FRESH_ID ? newId() : value)),
    });
    return rows;
  };
  return {
    fire: async (index) => {
      if ((await run(index)).length === 0) throw new Error(`The statement ${set.name} answered nothing`);
      return true;
    },
    ask: run,
    close: () => pool.end(),
  };
}
