import { applyFileChanges, noteFileIntents, type Operation, settleFileIntents } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type pg from 'pg';
import { type FileFixture, startFiles } from '../testing/file.fixture.js';

let files: FileFixture;
let holder: pg.PoolClient;
beforeAll(async () => {
  files = await startFiles();
  holder = await files.harness.database.pool.connect();
});
afterAll(async () => {
  await holder.query('ROLLBACK');
  holder.release();
  await files[Symbol.asyncDispose]();
});

const content = {
  sha256: 'a'.repeat(64),
  size_bytes: 1,
  mime_type: 'text/plain',
  modified_at: '2026-01-01T00:00:00.000Z',
};
const applying = (node_id: string, change: object) => ({ node_id, action: 'spec', changes: [change], strict: true });

describe('a hidden node with a file that another transaction holds', () => {
  it('is answered without waiting, whichever change of files names them [access.hidden.no-lock]', async () => {
    const [owner, stranger] = [await files.user('Owner'), await files.user('Stranger')];
    const [open, hidden] = [await files.node({ name: 'Open' }), await files.node({ name: 'Hidden', writers: [owner] })];
    const { results } = await files.call(
      applyFileChanges,
      applying(hidden, { kind: 'register', path: 'wip/a.md', ...content }) as never,
      owner,
    );
    const [result] = results;
    const file_id = result && 'file' in result ? (result.file?.id ?? '') : '';
    const intent = { id: newId(), file_id, kind: 'delete', to_node_id: null, to_path: null } as const;
    await files.call(noteFileIntents, { intents: [intent] }, owner);

    await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder.query('SELECT 1 FROM graph.node WHERE id = $1 FOR UPDATE', [hidden]);
    await holder.query('SELECT 1 FROM file.record WHERE node_id = $1 FOR UPDATE', [hidden]);
    await holder.query('SELECT 1 FROM file.pending_op WHERE node_id = $1 FOR UPDATE', [hidden]);
    const refused: readonly (readonly [Operation, Readonly<Record<string, unknown>>, string])[] = [
      [applyFileChanges, applying(hidden, { kind: 'register', path: 'wip/b.md', ...content }), 'NODE_NOT_FOUND'],
      [applyFileChanges, applying(open, { kind: 'move', file_id, path: 'wip/b.md' }), 'FILE_NOT_FOUND'],
      [applyFileChanges, applying(open, { kind: 'update', file_id, ...content }), 'FILE_NOT_FOUND'],
      [noteFileIntents, { intents: [{ ...intent, id: newId() }] }, 'FILE_NOT_FOUND'],
    ];
    for (const [operation, input, code] of refused)
      await files.refusal(operation, input, code as 'NODE_NOT_FOUND', stranger);
    const removing = applying(open, { kind: 'remove', file_id, tombstone: true });
    expect(await files.call(applyFileChanges, removing as never, stranger)).toEqual({ results: [{ file: null }] });
    expect(await files.call(settleFileIntents, { outcomes: [{ id: intent.id, error: null }] }, stranger)).toEqual({
      done: true,
    });
    expect(await files.sql('SELECT file_id FROM file.pending_op')).toEqual([{ file_id }]);
  });
});
