import { randomUUID } from 'node:crypto';
import { SessionWorld } from '../testing/session.fixture.js';
import { APPEND, APPEND_AT_ONCE } from './event.statements.js';

const EVENTS = 100_000;
const REPORTED = 100;
const SHORT_LOGS = 20_000;

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Explained {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

/** What each statement is given besides the events, in its order. */
const STATEMENTS = {
  'with a second look': { text: APPEND.text, given: (id: string) => [`'${id}', NULL`, 'NULL'] },
  'at once': {
    text: APPEND_AT_ONCE.text,
    given: (id: string, run: string) => [`'${world.owner.user_id}', false, '${id}', '${run}'`, `'${randomUUID()}'`],
  },
} as const;

it.each(Object.entries(STATEMENTS))(
  'an append %s reads no more of a long log than of a short one, by a plan that was made for a short one',
  async (_how, { text, given }) => {
    const { session, run_id } = await world.connect();
    const client = await world.harness.database.pool.connect();
    try {
      const ids = Array.from({ length: REPORTED }, () => randomUUID());
      const list = (text: () => string): string => `ARRAY[${ids.map(() => `'${text()}'`).join(', ')}]`;
      const values = (): string => {
        const [first, last] = given(session.id, run_id);
        const events = [
          `${list(randomUUID)}::uuid[], ${list(() => '2026-01-01')}::timestamptz[]`,
          `${list(() => 'reasoning')}, ${list(() => '{"text":"x"}')}`,
        ];
        return [first, ...events, last].join(', ');
      };
      const blocks = async (): Promise<number> => {
        const { rows } = await client.query<{ 'QUERY PLAN': readonly [Explained] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE append (${values()})`,
        );
        const plan = rows[0]?.['QUERY PLAN'][0].Plan;
        return (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN);
      };
      // Of many logs with one event each, whose sessions nobody needs.
      await client.query(`SET session_replication_role = replica; INSERT INTO session.event (session_id, seq, id, kind, payload)
       SELECT gen_random_uuid(), 1, gen_random_uuid(), 'reasoning', '{"text":"x"}' FROM generate_series(1, ${SHORT_LOGS});
       SET session_replication_role = origin; ANALYZE session.event`);
      await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE append AS ${text}`);
      const few = await blocks();
      await client.query(
        `INSERT INTO session.event (session_id, seq, id, kind, payload)
       SELECT $1, n + 1000, gen_random_uuid(), 'reasoning', '{"text":"x"}' FROM generate_series(1, ${EVENTS}) n`,
        [session.id],
      );
      await client.query(`UPDATE session.session SET last_seq = ${EVENTS + 1_000} WHERE id = $1`, [session.id]);
      const many = await blocks();
      expect(many).toBeLessThan(few + 8 * REPORTED);
    } finally {
      client.release(true);
    }
  },
);
