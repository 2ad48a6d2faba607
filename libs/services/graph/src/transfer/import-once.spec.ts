import { gzipSync } from 'node:zlib';
import { listImports, putImportPart, type RawJson, runImport, ServiceError } from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import type pg from 'pg';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';
import { ImportHandlers } from './import.handlers.js';

const DOCUMENT = JSON.stringify({
  format: 'workspace-graph/1',
  nodes: [{ key: 'once', type: 'organization', name: 'Once' }],
});

let graph: GraphFixture;
/** Holds what every import needs before it writes. */
let holder: pg.PoolClient;
let instances: readonly Database[];
beforeEach(async () => {
  graph = await startGraph();
  const url = graph.database.pool.options.connectionString ?? '';
  instances = [new Database({ url }), new Database({ url })];
  holder = await graph.database.pool.connect();
  // However long a busy machine lets it wait.
  await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT graph.lock_access()');
});
afterEach(async () => {
  holder.release(true);
  for (const database of instances) await database.close();
  await graph.close();
});

/** Starts an import of the document at one of two instances of the service. */
async function start(
  instance: 0 | 1,
  callId: string,
  signal = new AbortController().signal,
): Promise<Promise<unknown>[]> {
  const upload_id = newId();
  await graph.call(putImportPart, { upload_id, index: 0, data: gzipSync(DOCUMENT).toString('base64') }, graph.admin);
  const input = { upload_id, parts: 1, dry_run: false, confirmed: false };
  const envelope = { callId, requestId: callId, caller: graph.admin };
  const database = instances[instance];
  if (!database) throw new Error('There are two instances');
  const context = { operation: runImport, input, envelope, caller: graph.admin, signal };
  const running = Promise.resolve(new ImportHandlers(database).run(input, context));
  running.catch(() => undefined);
  return [running];
}

const count = async (query: string): Promise<number> =>
  (await graph.sql<{ n: number }>(`SELECT count(*)::int AS n FROM ${query}`))[0]?.n ?? 0;
const waitingForWrites = () => count('pg_locks WHERE NOT granted AND classid = 7301');
const waitingForTheCall = () => count('pg_locks WHERE NOT granted AND classid = 7302');
/** Imports that hold a document. */
const working = () => count(`pg_class WHERE relname = 'import_nodes'`);
const audited = () => count(`audit.entry WHERE action = 'run_import'`);
const imported = () => count(`graph.node WHERE name = 'Once'`);

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const written = async (reply: Promise<unknown> | undefined): Promise<unknown> => ((await reply) as RawJson).parse();

describe('the same call of an import at two instances', () => {
  it('is carried out by the first alone; the second waits without work and answers the same [graph.import.runs-once, graph.import.progress]', async () => {
    const callId = newId();
    const [first] = await start(0, callId);
    await until(async () => (await waitingForWrites()) === 1);
    const [second] = await start(1, callId);
    await until(async () => (await waitingForTheCall()) === 1);
    expect(await working()).toBe(1);
    const running = { stage: 'reading', percent: 100, started_at: expect.any(String) };
    expect(await graph.call(listImports, {}, graph.admin)).toEqual({ items: [running] });
    await holder.query('COMMIT');
    expect(await first).toMatchObject({ applied: true, created: { nodes: 1 } });
    expect(await written(second)).toEqual(await first);
    expect([await audited(), await imported()]).toEqual([1, 1]);
    expect(await graph.call(listImports, {}, graph.admin)).toEqual({ items: [] });
  });

  it('is carried out by the second when the first dies [graph.import.runs-once, graph.import.one-transaction]', async () => {
    const callId = newId();
    const [first] = await start(0, callId);
    await until(async () => (await waitingForWrites()) === 1);
    const [second] = await start(1, callId);
    await until(async () => (await waitingForTheCall()) === 1);
    await graph.sql('SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND classid = 7301');
    await expect(first).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await until(async () => (await waitingForWrites()) === 1);
    await holder.query('COMMIT');
    expect(await second).toMatchObject({ applied: true, created: { nodes: 1 } });
    expect([await audited(), await imported()]).toEqual([1, 1]);
  });

  it('ends and leaves nothing behind when its caller gives up [graph.import.one-transaction]', async () => {
    const caller = new AbortController();
    const [running] = await start(0, newId(), caller.signal);
    await until(async () => (await waitingForWrites()) === 1);
    caller.abort(new ServiceError('REQUEST_CANCELLED', 'The caller has left.'));
    await expect(running).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    await until(async () => (await working()) === 0 && (await waitingForWrites()) === 0);
    await holder.query('COMMIT');
    expect([await audited(), await imported()]).toEqual([0, 0]);
  });
});
