import { setTimeout as sleep } from 'node:timers/promises';
import { applyFileChanges, type FileChange, findFiles, listNodeRecords } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type FileFixture, startFiles } from '../testing/file.fixture.js';

/** Large enough to tell a handful of statements from a loop; `FILE_RECORDS=50000` measures the whole. */
const RECORDS = Number(process.env['FILE_RECORDS'] ?? 4_000);
const PER_CALL = 2_000;

let files: FileFixture;
let nodeId: string;
beforeAll(async () => {
  files = await startFiles();
});
beforeEach(async () => {
  nodeId = await files.node({ name: `Node ${newId()}` });
});
afterAll(() => files[Symbol.asyncDispose]());

const registering = (path: string, digit = 'a'): FileChange => ({
  kind: 'register',
  path,
  sha256: digit.repeat(64),
  size_bytes: path.length,
  mime_type: 'text/plain',
  modified_at: '2026-05-04T10:00:00.000Z',
});
const input = (changes: readonly FileChange[], action = 'spec') => ({
  node_id: nodeId,
  action,
  changes: [...changes],
  strict: true,
});
const apply = async (...changes: readonly FileChange[]): Promise<string[]> => {
  const { results } = await files.call(applyFileChanges, input(changes), null);
  return results.map((result) => ('file' in result ? (result.file?.id ?? '') : ''));
};
const audit = (fileId: string) =>
  files.sql(
    `SELECT action, user_id, via, before, after FROM audit.entry WHERE target_kind = 'file' AND target_id = $1 ORDER BY id`,
    [fileId],
  );
const told = async (): Promise<number> =>
  (await files.sql(`SELECT 1 FROM outbox.event WHERE type = 'file.changed' AND payload ->> 'node_id' = $1`, [nodeId]))
    .length;

describe('changes of files', () => {
  it('each leave a line in the audit trail with what changed, and one event tells of all of a call', async () => {
    const writer = await files.user('Will');
    const [id = ''] = await apply(registering('wip/a'), registering('wip/b'));
    expect(await told()).toBe(1);
    await files.call(applyFileChanges, input([registering('wip/a', 'b')], 'write_file'), writer);
    await apply({ kind: 'move', file_id: id, path: 'outputs/a' });
    await apply({ kind: 'remove', file_id: id, tombstone: true });
    expect(await told()).toBe(4);
    const content = { size_bytes: 5, mime_type: 'text/plain', modified_at: '2026-05-04T10:00:00.000Z' };
    const ofDevice = { action: 'spec', user_id: files.ownDevice.user_id, via: 'sync' };
    expect(await audit(id)).toEqual([
      { ...ofDevice, before: null, after: { node_id: nodeId, path: 'wip/a', sha256: 'a'.repeat(64), ...content } },
      {
        action: 'write_file',
        user_id: writer.user_id,
        via: 'rest',
        before: { sha256: 'a'.repeat(64) },
        after: { sha256: 'b'.repeat(64) },
      },
      { ...ofDevice, before: { path: 'wip/a' }, after: { path: 'outputs/a' } },
      {
        ...ofDevice,
        before: { node_id: nodeId, path: 'outputs/a', sha256: 'b'.repeat(64), ...content, version: 3 },
        after: null,
      },
    ]);
  });

  it('stand in the histories of the nodes that the file was in and is in [graph.audit.node-history]', async () => {
    const target = await files.node({ name: 'Another' });
    const [id = ''] = await apply(registering('wip/a'));
    await apply(registering('wip/a', 'b'), { kind: 'move', file_id: id, node_id: target, path: 'wip/a' });
    const rows = await files.sql(
      `SELECT c.node_id, count(*)::int AS lines, min(c.about) AS about FROM audit.concern c JOIN audit.entry e ON e.id = c.entry_id
       WHERE e.target_id = $1 GROUP BY c.node_id`,
      [id],
    );
    const expected = [
      { node_id: nodeId, lines: 3, about: 'file' },
      { node_id: target, lines: 1, about: 'file' },
    ];
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(expect.arrayContaining(expected));
  });

  it('leave documents of cloud services as they are, but for their records [files.record.native-flag]', async () => {
    const [id = ''] = await files
      .sql<{ id: string }>(
        `INSERT INTO file.record (id, node_id, path, path_key, mime_type, is_native_format)
       VALUES (gen_random_uuid(), $1, $2, lower($2), $3, true) RETURNING id::text AS id`,
        [nodeId, 'wip/Plan', 'application/x'],
      )
      .then((rows) => rows.map((row) => row.id));
    const refusals = [
      registering('wip/Plan'),
      registering('wip/plan'),
      { kind: 'move' as const, file_id: id, path: 'wip/b' },
    ];
    for (const [index, code] of ['DESTINATION_EXISTS', 'DESTINATION_EXISTS', 'NATIVE_FORMAT'].entries())
      await expect(apply(refusals[index] as FileChange)).rejects.toMatchObject({ code });
    const { path: _path, ...content } = registering('wip/x') as FileChange & { kind: 'register' };
    await expect(apply({ ...content, kind: 'update', file_id: id })).rejects.toMatchObject({ code: 'NATIVE_FORMAT' });
    await apply({ kind: 'remove', file_id: id, tombstone: false });
  });

  it('drop no record of a file that somebody has uploaded meanwhile, for who has never had it', async () => {
    const ids = await apply(registering('wip/a'), registering('wip/b'));
    await files.sql(`UPDATE file.record SET remote_name = 'team', last_pushed_at = now() WHERE id = $1`, [ids[0]]);
    const removal = { kind: 'remove' as const, tombstone: false, unless_pushed: true };
    await apply(...ids.map((file_id = '') => ({ ...removal, file_id })));
    const left = await files.sql<{ path: string }>('SELECT path FROM file.record WHERE node_id = $1', [nodeId]);
    expect(left).toEqual([{ path: 'wip/a' }]);
    await apply({ ...removal, file_id: ids[0] ?? '', unless_pushed: false });
  });

  it('that change nothing leave no line and tell nobody', async () => {
    const [id = ''] = await apply(registering('wip/a'));
    await apply(registering('wip/a'), { kind: 'move', file_id: id, path: 'wip/a' });
    expect(await audit(id)).toHaveLength(1);
    expect(await told()).toBe(1);
  });

  it('are carried out once however often a call comes', async () => {
    const callId = newId();
    const changes = input([registering('wip/a'), registering('wip/b')]);
    const first = await files.callAs(applyFileChanges, changes, null, callId);
    await apply(registering('wip/a', 'b'));
    expect(await files.callAs(applyFileChanges, changes, null, callId)).toEqual(first);
    expect(await told()).toBe(2);
  });

  it('that somebody asked for are answered to a repeated call also when one that is refused keeps no other back', async () => {
    const writer = await files.user('Wes');
    const callId = newId();
    const gone: FileChange = {
      kind: 'update',
      file_id: newId(),
      sha256: 'b'.repeat(64),
      size_bytes: 1,
      mime_type: 'text/plain',
      modified_at: '2026-05-04T10:00:00.000Z',
    };
    const changes = { ...input([registering('wip/a'), gone], 'store_file'), strict: false };
    const first = await files.callAs(applyFileChanges, changes, writer, callId);
    expect(first).toMatchObject({ results: [{ file: { path: 'wip/a' } }, { refused: 'FILE_NOT_FOUND' }] });
    expect(await files.callAs(applyFileChanges, changes, writer, callId)).toEqual(first);
    // A scan looks for itself.
    const scanned = { ...input([registering('wip/b')], 'scan'), strict: false };
    const scan = newId();
    await files.callAs(applyFileChanges, scanned, null, scan);
    await expect(files.callAs(applyFileChanges, scanned, null, scan)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('are answered to a repeated call while its caller sees both nodes, and then as a fresh one [access.hidden.no-kept-reply]', async () => {
    const writer = await files.user('Wanda');
    const target = await files.node({ name: 'Target', writers: [writer] });
    const [file_id = ''] = await apply(registering('wip/moved.md'));
    const moving = input([{ kind: 'move', file_id, node_id: target, path: 'wip/moved.md' }]);
    const repeated = (callId: string) =>
      files.callAs(applyFileChanges, moving, writer, callId).catch((error: unknown) => error);
    const callId = newId();
    const first = await repeated(callId);
    expect(first).toMatchObject({ results: [{ file: { id: file_id, node_id: target } }] });
    expect(await repeated(callId)).toEqual(first);
    await files.sql('DELETE FROM graph.share WHERE node_id = $1', [target]);
    await files.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [target]);
    expect(await repeated(callId)).toMatchObject({ code: 'NODE_NOT_FOUND' });
    expect(await repeated(callId)).toEqual(await repeated(newId()));
  });

  it('of many callers at once on one path make one file, and crossing moves between two nodes end', async () => {
    const other = await files.node({ name: 'Other' });
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) => apply(registering('wip/same', 'abcdef01'.charAt(n)))),
    );
    expect(new Set(made.flat()).size).toBe(1);
    const here = await apply(...Array.from({ length: 8 }, (_, n) => registering(`wip/${n}`)));
    await Promise.all(
      here.map(async (file_id, n) => {
        const there = { kind: 'move' as const, file_id, node_id: other, path: `wip/${n}` };
        const back = { ...there, node_id: nodeId };
        await files.call(applyFileChanges, input([there]), null);
        await files.call(applyFileChanges, { ...input([back]), node_id: other }, null);
      }),
    );
    const { files: left } = await files.call(listNodeRecords, { node_id: nodeId }, null);
    expect(left).toHaveLength(9);
  });

  it.each([
    ['shares the node with the writer succeed', 'write'],
    ['hides the node are refused as of one that never was', null],
  ] as const)('that wait for a change that %s', async (_, access) => {
    const writer = await files.user('Wilma');
    const change = await files.harness.database.pool.connect();
    try {
      await change.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`);
      await change.query(`UPDATE graph.node SET visibility = 'group' WHERE id = $1`, [nodeId]);
      if (access) {
        const share = 'INSERT INTO graph.share (node_id, user_id, access) VALUES ($1, $2, $3)';
        await change.query(share, [nodeId, writer.user_id, access]);
      }
      await change.query('SELECT graph.refresh_access(ARRAY[$1::uuid])', [nodeId]);
      const writing = access
        ? files.call(applyFileChanges, input([registering('wip/a')]), writer)
        : files.refusal(applyFileChanges, input([registering('wip/a')]), 'NODE_NOT_FOUND', writer);
      const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      while ((await files.sql(waits)).length === 0) await sleep(5);
      await change.query('COMMIT');
      await writing;
    } finally {
      await change.query('ROLLBACK');
      change.release();
    }
  });

  it('come by the thousand in a few statements, and are answered in their order', async () => {
    const startedMs = performance.now();
    for (let start = 0; start < RECORDS; start += PER_CALL)
      await apply(
        ...Array.from({ length: PER_CALL }, (_, n) => registering(`wip/${(start + n) % 97}/file-${start + n}.md`)),
      );
    const tookMs = performance.now() - startedMs;
    if (process.env['FILE_RECORDS']) process.stdout.write(`${RECORDS} files registered in ${Math.round(tookMs)} ms\n`);
    const { files: records } = await files.call(listNodeRecords, { node_id: nodeId, limit: 10_000 }, null);
    expect(records).toHaveLength(Math.min(RECORDS, 10_000));

    const moved = records.slice(0, PER_CALL);
    const moves = moved.map(({ id, path }) => ({
      kind: 'move' as const,
      file_id: id,
      path: path.replace('wip', 'outputs'),
    }));
    const { results } = await files.call(applyFileChanges, input(moves), null);
    expect(results.map((result) => 'file' in result && result.file?.path)).toEqual(moves.map(({ path }) => path));
    await apply(...moved.map(({ id }) => ({ kind: 'remove' as const, file_id: id, tombstone: false })));
    expect((await files.call(findFiles, { ids: moved.map(({ id }) => id) }, null)).files).toEqual([]);
  });
});
