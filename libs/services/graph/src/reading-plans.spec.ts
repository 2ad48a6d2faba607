import { type Caller, getSnapshot, HitKind, Relation } from '@workspace-graph/contracts';
import { LAST_ID, type Statement } from '@workspace-graph/database';
import {
  LARGE_GRAPH,
  type LargeGraph,
  readLargeGraph,
  type ServiceHarness,
  startServices,
} from '@workspace-graph/testing';
import { AUDIT } from './audit/audit.statements.js';
import { CONTEXT } from './context/context.statements.js';
import { EVENTS_OF_ALL, EVENTS_OF_NODE, EVENTS_OF_SESSION } from './events/event.statements.js';
import { GraphModule } from './graph.module.js';
import { OVERVIEW } from './overview/overview.statements.js';
import { searchStatement } from './search/search.statements.js';
import { UNCHANGED_SINCE } from './snapshot/snapshot.statements.js';
import type { SnapshotAnswer } from './snapshot/snapshot-content.js';
import { type PlanFacts, planOf } from './testing/plan.fixture.js';

const MOST_SNAPSHOT_BYTES = 1_500_000;

let services: ServiceHarness;
let graph: LargeGraph;
let caller: Caller;

beforeAll(async () => {
  services = await startServices([GraphModule], { largeGraph: LARGE_GRAPH });
  graph = await readLargeGraph(services.database.pool);
  caller = { user_id: graph.userIds[100] ?? '', scope: 'read', credential_id: null, via: 'rest' };
  await services.database.pool.query(`
    INSERT INTO audit.entry (id, at, user_id, via, action, target_kind, target_id, request_id)
    SELECT gen_random_uuid(), timestamptz '2026-01-01' + i * interval '1 minute', u.id, 'rest',
      CASE WHEN i % 50 = 0 THEN 'archive_node' ELSE 'log' END, 'node', n.id, 'r'
    FROM generate_series(1, 20000) i
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM identity."user") u ON u.place = 1 + i % 200
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM graph.node) n ON n.place = 1 + i % 5000`);
  await services.database.pool.query(`
    INSERT INTO file.record (id, node_id, path, path_key, size_bytes, mime_type)
    SELECT gen_random_uuid(), n.id, 'wip/Note ' || i || '.md', 'wip/note ' || i || '.md', 7, 'text/plain'
    FROM generate_series(1, 20000) i
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM graph.node) n ON n.place = 1 + i % 5000`);
  // One node has a long history, as the hub of a workspace does.
  await services.database.pool.query(
    `
    INSERT INTO audit.concern (node_id, at, entry_id, about)
    SELECT e.target_id, e.at, e.id, CASE WHEN e.action = 'archive_node' THEN 'node' ELSE 'event' END FROM audit.entry e
    UNION ALL SELECT $1, e.at, e.id, 'edge' FROM audit.entry e WHERE e.target_id <> $1`,
    [graph.hubId],
  );
  await services.database.pool.query('VACUUM ANALYZE audit.entry, audit.concern, file.record');
});
afterAll(() => services.close());

const seen = (statement: Statement | undefined, ...values: unknown[]): Promise<PlanFacts> => {
  if (!statement) throw new Error('No such statement');
  return planOf(services.database, statement, [caller.user_id, false, ...values]);
};
const FIRST_PAGE = [50, 'infinity', LAST_ID, '-infinity', 'infinity'] as const;

describe('the plan of a list of events', () => {
  const filters = [...FIRST_PAGE, ['active', 'resolved'], null];

  it('of one node runs along its timeline', async () => {
    const plan = await seen(EVENTS_OF_NODE, ...filters, graph.hubId);
    expect(plan).toMatchObject({ indexes: expect.arrayContaining(['event_node_idx']), wholeTables: [] });
    expect(plan.blocks).toBeLessThan(500);
  });

  it('of everything runs along the time and stops with the page', async () => {
    const plan = await seen(EVENTS_OF_ALL, ...filters);
    expect(plan).toMatchObject({ indexes: expect.arrayContaining(['event_recent_idx']), wholeTables: [] });
    expect(plan.blocks).toBeLessThan(1_000);
  });

  it('of a session merges the timelines of few nodes, and looks through the newest for many', async () => {
    const held = async (count: number): Promise<string | null | undefined> => {
      const { rows } = await services.database.pool.query<{ id: string }>(
        `SELECT id FROM graph.node WHERE type = 'project' AND access_set_id IS NULL ORDER BY md5(id::text) LIMIT $1`,
        [count],
      );
      return (await services.session(caller, { read: rows.map(({ id }) => id) })).session_id;
    };
    const few = await seen(EVENTS_OF_SESSION, ...filters, await held(5));
    expect(few).toMatchObject({ indexes: expect.arrayContaining(['event_node_idx']), wholeTables: [] });
    const many = await seen(EVENTS_OF_SESSION, ...filters, await held(1_000));
    expect(many).toMatchObject({ indexes: expect.arrayContaining(['event_recent_idx']), wholeTables: [] });
  });
});

describe('the plan of the audit trail', () => {
  it.each([
    ['', 'entry_at_idx', (): unknown[] => []],
    ['target', 'entry_target_idx', (): unknown[] => [graph.hubId]],
    ['user', 'entry_user_idx', (): unknown[] => [graph.userIds[3]]],
    ['action', 'entry_action_idx', (): unknown[] => ['archive_node']],
    ['node', 'concern_pkey', (): unknown[] => [graph.hubId]],
    ['node,about', 'concern_pkey', (): unknown[] => [graph.hubId, 'edge']],
    ['node,action', 'concern_pkey', (): unknown[] => [graph.hubId, 'log']],
  ])('by %j runs along %s and stops with the page', async (filters, index, values) => {
    const statement = AUDIT.get(filters);
    if (!statement) throw new Error('No such statement');
    const plan = await planOf(services.database, statement, [...FIRST_PAGE, ...values()]);
    expect(plan).toMatchObject({ indexes: expect.arrayContaining([index]), wholeTables: [] });
    expect(plan.blocks).toBeLessThan(500);
  });

  it('by what was changed and by whom reads neither from end to end', async () => {
    const statement = AUDIT.get('target,user');
    if (!statement) throw new Error('No such statement');
    const plan = await planOf(services.database, statement, [...FIRST_PAGE, graph.hubId, graph.userIds[3]]);
    expect(plan.wholeTables).toEqual([]);
    expect(plan.blocks).toBeLessThan(500);
  });
});

function statementFor(kinds: readonly HitKind[], isNarrowed: boolean): Statement {
  const statement = searchStatement(kinds, { isShort: false, isNarrowed });
  if (!statement) throw new Error('There can be no such hits');
  return statement;
}

describe('the plan of a search', () => {
  it('finds names by their trigrams, and texts by their words only when names do not fill the page', async () => {
    const asked = (query: string): unknown[] => [query, 50, 1e9, 'infinity', LAST_ID];
    const everything = statementFor(HitKind.options, false);
    const byName = await seen(everything, ...asked('portál'));
    expect(byName).toMatchObject({ indexes: expect.arrayContaining(['node_name_trgm_idx']), wholeTables: [] });
    expect(byName.indexes).not.toContain('event_search_idx');
    const byText = await seen(everything, ...asked('zápis 1234'));
    expect(byText).toMatchObject({
      indexes: expect.arrayContaining([
        'node_name_trgm_idx',
        'actor_name_trgm_idx',
        'responsibility_search_idx',
        'link_name_trgm_idx',
        'record_name_trgm_idx',
        'node_search_idx',
        'event_search_idx',
      ]),
      wholeTables: [],
    });
    expect(byText.blocks).toBeLessThan(2_000);
  });

  it('is made once for all that is asked for, as making it costs more than finding', async () => {
    const usual = [HitKind.options, ['node', 'event'] as const, ['node'] as const];
    for (const [kinds, isNarrowed] of usual.flatMap((kinds) => [[kinds, false] as const, [kinds, true] as const])) {
      const { name, text } = statementFor(kinds, isNarrowed);
      const narrow = isNarrowed ? [['project'], graph.organizationIds[0]] : [];
      const client = await services.database.pool.connect();
      try {
        for (const asked of ['portál', 'zápis', 'zápis 1234', 'nikdo', 'rozpočet', 'plán', 'dům', 'Praha', 'smlouva'])
          await client.query({
            name,
            text,
            values: [caller.user_id, false, asked, 20, 1e9, 'infinity', LAST_ID, ...narrow],
          });
        const plans =
          'SELECT generic_plans::int AS for_all, custom_plans::int AS for_one FROM pg_prepared_statements WHERE name = $1';
        const { rows } = await client.query(plans, [name]);
        // The server compares the first five with one for all.
        expect([name, ...rows]).toEqual([name, { for_all: 4, for_one: 5 }]);
      } finally {
        client.release(true);
      }
    }
  });
});

/** That a context looks at. */
const MOST_NODES = 500;

describe('the plan of a context', () => {
  it('depends on the neighbourhood and neither on the size of an organization nor on that of the graph', async () => {
    for (const id of [graph.organizationIds[0], graph.hubId]) {
      const plan = await seen(CONTEXT[1], id, 92_000, Relation.options, false, MOST_NODES, 230, 48_000, null);
      expect(plan.wholeTables).toEqual([]);
      expect(plan.blocks).toBeLessThan(20 * MOST_NODES);
    }
  });
});

describe('the plan of the overview', () => {
  it('runs along the indexes of what needs attention, of events and of new nodes', async () => {
    const plan = await seen(OVERVIEW);
    expect(plan).toMatchObject({
      indexes: expect.arrayContaining(['node_attention_idx', 'event_recent_idx', 'node_created_idx']),
      wholeTables: [],
    });
  });
});

describe('the snapshot of 10,000 nodes and 30,000 edges', () => {
  const manage = (): Caller => ({ ...caller, scope: 'manage' });

  it('takes at most 1.5 MB before compression [graph.snapshot.lean]', async () => {
    const whole = (await services.call(getSnapshot, {}, manage())) as SnapshotAnswer;
    expect(whole.nodes.id).toHaveLength(LARGE_GRAPH.nodes);
    expect(whole.edges).toHaveLength(LARGE_GRAPH.edges * 3);
    expect(whole.nodes.x.every((x) => x !== null)).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(whole))).toBeLessThanOrEqual(MOST_SNAPSHOT_BYTES);
  });

  it('is known to be unchanged by a look at the newest audit lines alone [graph.snapshot.etag]', async () => {
    const { token } = await services.call(getSnapshot, {}, manage());
    expect(await services.call(getSnapshot, { if_none_match: token }, manage())).toEqual({ token, unchanged: true });
    const now = await services.database.pool.query<{ now: string }>('SELECT pg_current_snapshot()::text AS now');
    const plan = await planOf(services.database, UNCHANGED_SINCE, [now.rows[0]?.now]);
    expect(plan).toMatchObject({ indexes: ['entry_xid_idx'], wholeTables: [] });
    expect(plan.blocks).toBeLessThan(50);
  });
});
