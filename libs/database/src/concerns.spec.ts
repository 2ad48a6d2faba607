import { createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import { type AuditRecord, type CommandContext, runCommand } from './command.js';
import { Database } from './database.js';
import { migrate } from './migrate/migrator.js';

const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [ADA, NODE, OTHER, PART] = [id(1), id(2), id(3), id(4)];

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  database = new Database({ url: server.url, poolSize: 2 });
  await database.pool.query(`INSERT INTO identity."user" (id, name, max_scope) VALUES ($1, 'Ada', 'manage')`, [ADA]);
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

let calls = 0;
const context = (callId = `call ${++calls}`): CommandContext => ({
  envelope: { requestId: callId, callId, deadline: Date.now() + 60_000 } as unknown as CommandContext['envelope'],
  caller: { user_id: ADA, scope: 'manage', credential_id: null, via: 'rest' },
  operation: { name: 'do' },
  input: {},
});
const write = async (...records: AuditRecord[]): Promise<string> => {
  const asked = context();
  await runCommand(database, asked, async (tx) => {
    for (const record of records) tx.audit(record);
    return {};
  });
  return asked.envelope.callId;
};
const concernsOf = async (requestId: string): Promise<unknown[]> =>
  (
    await database.pool.query<{ row: unknown[] }>(
      `SELECT json_build_array(e.action, c.node_id, c.about) AS row FROM audit.concern c JOIN audit.entry e ON e.id = c.entry_id
       WHERE e.request_id = $1 AND c.at = e.at ORDER BY e.action, c.node_id`,
      [requestId],
    )
  ).rows.map(({ row }) => row);

describe('what concerns a node', () => {
  it.each([
    ['node', {}, [[NODE, 'node']]],
    ['node', { action: 'set_access' }, [[NODE, 'access']]],
    ['node', { action: 'approve_access_request' }, [[NODE, 'access']]],
    ['node', { action: 'reorder_responsibilities' }, [[NODE, 'responsibility']]],
    [
      'node',
      { concerns: [OTHER, NODE, OTHER] },
      [
        [NODE, 'node'],
        [OTHER, 'edge'],
      ],
    ],
    ['responsibility', { concerns: [NODE] }, [[NODE, 'responsibility']]],
    ['data_source', { concerns: [NODE] }, [[NODE, 'link']]],
    ['tool', { concerns: [NODE] }, [[NODE, 'link']]],
    [
      'edge',
      { concerns: [NODE, OTHER] },
      [
        [NODE, 'edge'],
        [OTHER, 'edge'],
      ],
    ],
    ['event', { concerns: [NODE] }, [[NODE, 'event']]],
    ['file', { concerns: [NODE, NODE] }, [[NODE, 'file']]],
    ['access_request', { concerns: [NODE] }, [[NODE, 'access']]],
    ['session', { concerns: [null, NODE] }, [[NODE, 'session']]],
    ['session', { concerns: [null] }, []],
    ['user', {}, []],
  ] as const)('is written with the line about a %s (%j)', async (targetKind, more, expected) => {
    const targetId = targetKind === 'node' ? NODE : PART;
    const line = { action: 'do', targetKind, targetId, ...more } as unknown as AuditRecord;
    const rows = await concernsOf(await write(line));
    expect(rows).toEqual(expected.map((row) => [line.action, ...row]));
  });

  it('is written for each line of a change', async () => {
    const asked = context();
    await runCommand(database, asked, async (tx) => {
      tx.audit({ action: 'a', targetKind: 'node', targetId: NODE });
      tx.audit({ action: 'b', targetKind: 'edge', targetId: PART, concerns: [NODE, OTHER] });
      return {};
    });
    expect(await concernsOf(asked.envelope.callId)).toEqual([
      ['a', NODE, 'node'],
      ['b', NODE, 'edge'],
      ['b', OTHER, 'edge'],
    ]);
  });

  it('is not written when the change fails', async () => {
    const refused = context();
    await expect(
      runCommand(database, refused, async (tx) => {
        tx.audit({ action: 'a', targetKind: 'node', targetId: NODE });
        throw new Error('thought better of it');
      }),
    ).rejects.toThrow('thought better');
    expect(await concernsOf(refused.envelope.callId)).toEqual([]);
  });

  it('cannot be changed, not even in the database', async () => {
    await write({ action: 'do', targetKind: 'node', targetId: NODE });
    await expect(database.pool.query(`UPDATE audit.concern SET about = 'edge'`)).rejects.toThrow('append-only');
    await expect(database.pool.query('DELETE FROM audit.concern')).rejects.toThrow('append-only');
  });
});
