import { type Caller, listNodeRecords, queryFiles } from '@workspace-graph/contracts';
import { FIRST_ID, LAST_ID, type Statement } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { FILES_OF_CHANGES } from '../changes/change.statements.js';
import { type FileFixture, startFiles } from '../testing/file.fixture.js';
import { FIND_FILES, LIST_FILES, NODE_RECORDS } from './record.statements.js';

const NODES = 40;
const FILES = 8_000;

let files: FileFixture;
let reader: Caller;
let nodeIds: string[];
let session: string;
let largest: string;
beforeAll(async () => {
  files = await startFiles();
  reader = await files.user('Rita');
  nodeIds = await Promise.all(Array.from({ length: NODES }, (_, n) => files.node({ name: `Node ${n}` })));
  largest = nodeIds[0] ?? '';
  session = (await files.session(reader, nodeIds.slice(0, 4))).session_id ?? '';
  // Half of the files lie in the first node, and one in fifty is an output.
  await files.sql(
    `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, updated_at)
     SELECT gen_random_uuid(), ($1::uuid[])[CASE WHEN i % 2 = 0 THEN 1 ELSE 1 + i % $3 END], p.path, p.path, repeat('0a', 32), i, 'text/plain',
       timestamptz '2026-01-01' + i * interval '1 minute'
     FROM generate_series(1, $2::int) i, LATERAL (SELECT CASE WHEN i % 50 = 0 THEN 'outputs/' ELSE 'wip/' END || i AS path) p`,
    [nodeIds, FILES, NODES],
  );
  await files.sql('VACUUM ANALYZE file.record');
});
afterAll(() => files[Symbol.asyncDispose]());

interface PlanPart {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanPart[];
}
const partsOf = (part: PlanPart): PlanPart[] => [part, ...(part.Plans ?? []).flatMap(partsOf)];

/** How the plan for any values carries a statement out. */
async function planOf({ text }: Statement, values: readonly unknown[]) {
  const client = await files.harness.database.pool.connect();
  try {
    await client.query('SET plan_cache_mode = force_generic_plan');
    const explain = { name: 'explained', text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values: [...values] };
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanPart }] }>(explain);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (!plan) throw new Error('No plan was answered');
    const parts = partsOf(plan).filter((part) => part['Actual Loops'] > 0);
    return {
      indexes: parts.flatMap((part) => part['Index Name'] ?? []),
      whole: parts.filter((part) => part['Node Type'] === 'Seq Scan' && part['Relation Name'] === 'record'),
      blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    };
  } finally {
    client.release(true);
  }
}

const seen = (): unknown[] => [reader.user_id, false];
const firstPage = (): unknown[] => [...seen(), 100, 'infinity', LAST_ID];

describe('the plan of a list of files', () => {
  it.each([
    ['of everything', (): Statement => LIST_FILES.all.any, (): unknown[] => [], 'record_updated_idx'],
    ['of everything of one status', () => LIST_FILES.all.output, () => [], 'record_section_idx'],
    ['of a node', () => LIST_FILES.node.any, () => [largest], 'record_node_idx'],
    ['of a session', () => LIST_FILES.session.any, () => [session], 'record_node_idx'],
  ])('%s runs along its index and stops with the page', async (_, statement, more, index) => {
    const plan = await planOf(statement(), [...firstPage(), ...more()]);
    expect(plan).toMatchObject({ indexes: expect.arrayContaining([index]), whole: [] });
  });

  it('finds what changes name by id and by path', async () => {
    const ids = [newId()];
    const byChange = await planOf(FILES_OF_CHANGES, [ids, [largest], ['wip/1']]);
    const byAsking = await planOf(FIND_FILES, [...seen(), ids, [largest], ['wip/1']]);
    for (const plan of [byChange, byAsking]) {
      expect(plan).toMatchObject({ indexes: expect.arrayContaining(['record_path_key']), whole: [] });
      expect(plan.blocks).toBeLessThan(100);
    }
  });

  it('walks the records of a node by id', async () => {
    const plan = await planOf(NODE_RECORDS, [...seen(), largest, FIRST_ID, 100]);
    expect(plan).toMatchObject({ indexes: expect.arrayContaining(['record_node_id_idx']), whole: [] });
    expect(plan.blocks).toBeLessThan(500);
  });
});

describe('long lists', () => {
  it('of a session that holds many nodes have the files of all of them and of nothing else', async () => {
    const hub = await files.node({ name: 'Hub' });
    const spokes = await files.sql<{ id: string }>(
      `WITH made AS (
         INSERT INTO graph.node (id, type, name, lifecycle, health, organization_id, sync_key)
         SELECT gen_random_uuid(), 'project', 'Spoke ' || i, 'planned', 'on_track', h.organization_id, 'spoke-' || i
         FROM graph.node h, generate_series(1, 300) i WHERE h.id = $1 RETURNING id, organization_id
       ), joined AS (
         INSERT INTO graph.edge (id, source_id, target_id, relation)
         SELECT gen_random_uuid(), id, organization_id, 'belongs_to' FROM made UNION ALL SELECT gen_random_uuid(), id, $1, 'related_to' FROM made
       ) SELECT id FROM made`,
      [hub],
    );
    await files.sql(
      `INSERT INTO file.record (id, node_id, path, path_key, mime_type)
       SELECT gen_random_uuid(), e.source_id, 'outputs/x', 'outputs/x', 'text/plain' FROM graph.edge e WHERE e.target_id = $1 AND e.relation = 'related_to'`,
      [hub],
    );
    const agent = await files.session(
      reader,
      spokes.map(({ id }) => id),
    );
    const { items } = await files.call(queryFiles, { limit: 2_000 }, agent);
    expect(items).toHaveLength(300);
    expect(new Set(items.map(({ place }) => place.name.replace(/\d+/, '')))).toEqual(new Set(['Spoke ']));
  });

  it('are walked without a gap and without a repeated file', async () => {
    const ids = new Set<string>();
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
      const page = await files.call(queryFiles, { node_id: largest, limit: 2_000, cursor }, reader);
      for (const { file } of page.items) ids.add(file.id);
      cursor = page.next_cursor ?? undefined;
    }
    const all: string[] = [];
    for (;;) {
      const { files: some } = await files.call(listNodeRecords, { node_id: largest, after: all.at(-1) }, reader);
      if (some.length === 0) break;
      all.push(...some.map(({ id }) => id));
    }
    expect(all).toHaveLength(FILES / 2);
    expect(ids).toEqual(new Set(all));
  });
});
