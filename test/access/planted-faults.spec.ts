import type { ServiceHarness } from '@workspace-graph/testing';
import { Disagreement, runWorld } from './run.js';

const STEPS = 300;
const WORLDS = 3;

/** A function of the database with one thing wrong. */
interface Fault {
  readonly what: string;
  readonly in: string;
  readonly from: string;
  readonly to: string;
  /** Of the first random world that shows it. Default 1. */
  readonly seed?: number;
}

const FAULTS: readonly Fault[] = [
  {
    what: 'the list of the organization is forgotten',
    in: 'refresh_access',
    from: 'WHEN m.reached_top AND',
    to: 'WHEN false AND',
  },
  {
    what: 'the list of the organization always counts',
    in: 'refresh_access',
    from: 'WHEN m.reached_top AND',
    to: 'WHEN',
    seed: 2,
  },
  {
    what: 'an open ancestor does not end its path',
    in: 'refresh_access',
    from: 'w.at IS NOT NULL AND w.visibility IS NULL',
    to: `w.at IS NOT NULL AND coalesce(w.visibility, 'everyone') = 'everyone'`,
  },
  {
    what: 'nodes further down keep their access',
    in: 'refresh_access',
    from: 'AND n.visibility IS NULL',
    to: 'AND n.visibility IS NULL AND a.id = ANY (p_nodes)',
  },
  {
    what: 'one of several gates is enough',
    in: 'user_access_set',
    from: 'count(*) = s.gate_count',
    to: 'count(*) > 0',
  },
  { what: 'groups are not looked at', in: 'user_access_set', from: 'WHERE m.user_id = p_user', to: 'WHERE false' },
  {
    what: 'the owner does not pass',
    in: 'refresh_grants',
    from: 'a.id = n.owner_id',
    to: 'a.id = n.owner_id AND false',
  },
  { what: 'the strongest of several gates counts', in: 'access_level', from: 'min(u.access)', to: 'max(u.access)' },
  { what: 'a preview misses who leaves a group', in: 'log_members', from: 'f.user_id, true', to: 'f.user_id, false' },
];

describe('the comparison with the rules', () => {
  it.each(FAULTS)(
    'finds it when $what',
    async (fault) => {
      expect(await findsIt(fault)).toBe(true);
    },
    300_000,
  );
});

async function findsIt(fault: Fault): Promise<boolean> {
  const first = fault.seed ?? 1;
  for (let seed = first; seed < first + WORLDS; seed += 1) {
    const found = await runWorld({ seed, count: STEPS, prepare: (harness) => plant(harness, fault) }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Disagreement) return true;
        throw error;
      },
    );
    if (found) return true;
  }
  return false;
}

async function plant({ database }: ServiceHarness, fault: Fault): Promise<void> {
  const { rows } = await database.pool.query<{ text: string }>(
    `SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'graph' AND p.proname = $1`,
    [fault.in],
  );
  const text = rows[0]?.text ?? '';
  expect(text).toContain(fault.from);
  await database.pool.query(text.replaceAll(fault.from, fault.to));
}
