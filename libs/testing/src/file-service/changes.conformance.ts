import { applyFileChanges, type FileChange } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { FileServiceWorld } from './file-service-world.js';
import { contentOf, type NodeStage, registering, stageNode, taken } from './stage.js';

export function changeScenarios(world: () => FileServiceWorld): void {
  let stage: NodeStage;
  beforeEach(async () => {
    stage = await stageNode(world());
  });
  const moving = (id: string, path: string, more: object = {}): FileChange => ({
    kind: 'move',
    file_id: id,
    path,
    ...more,
  });
  const removing = (id: string, tombstone = true): FileChange => ({ kind: 'remove', file_id: id, tombstone });
  const returning = (file_id: string, path: string): FileChange => ({
    kind: 'register',
    path,
    ...contentOf('new'),
    file_id,
  });
  const refusalOf = (code: string) => ({ refused: code, message: expect.any(String) });

  it('register a path once, and the same path again as new content of the same file [files.record.fields] [files.hash.sha256]', async () => {
    const first = await stage.register('wip/notes/plan.md', 'one');
    expect(first).toMatchObject({
      node_id: stage.nodeId,
      path: 'wip/notes/plan.md',
      ...contentOf('one'),
      remote_name: null,
      last_pushed_at: null,
      is_native_format: false,
      version: 1,
    });
    const second = await stage.register('wip/notes/plan.md', 'two');
    expect(second).toMatchObject({ id: first.id, version: 2, ...contentOf('two'), created_at: first.created_at });
    expect(await stage.paths()).toEqual(['wip/notes/plan.md']);
    expect(await stage.find(first.id)).toEqual(second);
  });

  it('bring a removed file back under its id, at any path of its node, once, and its version goes on', async () => {
    const file = await stage.register('wip/a.md', 'one');
    await stage.register('wip/a.md', 'two');
    expect(taken((await stage.apply([returning(file.id, 'wip/b.md')]))[0])).toMatchObject({ version: 1 });
    await stage.apply([removing(file.id)]);
    const [back, again] = await stage.apply([returning(file.id, 'outputs/a.md'), returning(file.id, 'wip/c.md')]);
    expect(back).toMatchObject({ file: { id: file.id, path: 'outputs/a.md', version: 3, ...contentOf('new') } });
    expect(taken(again)).toMatchObject({ version: 1 });
    expect(taken((await stage.apply([returning(file.id, 'outputs/a.md')]))[0])).toEqual(taken(back));
    const ids = await Promise.all(['wip/b.md', 'wip/c.md', 'outputs/a.md'].map((path) => stage.register(path, 'new')));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(3);
    await stage.apply([removing(file.id)]);
    expect(taken((await stage.apply([returning(file.id, 'wip/a.md')]))[0])).toMatchObject({ id: file.id, version: 4 });
  });

  it('give no id that is not free for the node: of a file elsewhere, removed elsewhere, or never there', async () => {
    const other = await stageNode(world());
    const [there, removed] = [await other.register('wip/a.md'), await other.register('wip/b.md')];
    await other.apply([removing(removed.id)]);
    for (const [index, file_id] of [there.id, removed.id, stage.nodeId, newId()].entries()) {
      const [result] = await stage.apply([returning(file_id, `wip/${index}.md`)]);
      expect(taken(result).id).not.toBe(file_id);
      expect(taken(result).version).toBe(1);
    }
    const moved = await stage.register('wip/moved.md');
    await stage.apply([moving(moved.id, 'wip/moved.md', { node_id: other.nodeId })]);
    await other.apply([removing(moved.id)]);
    const back = returning(moved.id, 'wip/moved.md');
    expect(taken((await stage.apply([back]))[0]).id).not.toBe(moved.id);
    expect(taken((await other.apply([back]))[0]).id).toBe(moved.id);
  });

  it('leave a file as it is that has the content already', async () => {
    const file = await stage.register('wip/a.md', 'same');
    expect(await stage.register('wip/a.md', 'same')).toEqual(file);
    expect(await stage.apply([{ kind: 'update', file_id: file.id, ...contentOf('same') }])).toEqual([{ file }]);
  });

  it('keep paths in NFC, and report what differs by case or form alone [files.path.nfc] [files.path.case-collision-reported]', async () => {
    const file = await stage.register('wip/Cafe\u0301.md', 'one');
    expect(file.path).toBe('wip/Caf\u00e9.md');
    expect((await stage.register('wip/Caf\u00e9.md', 'two')).id).toBe(file.id);
    expect(await stage.apply([registering('wip/CAFÉ.md'), registering('wip/café.MD')])).toEqual([
      refusalOf('DESTINATION_EXISTS'),
      refusalOf('DESTINATION_EXISTS'),
    ]);
    expect(taken((await stage.apply([moving(file.id, 'wip/CAFÉ.md')]))[0]).path).toBe('wip/CAFÉ.md');
    expect(await stage.paths()).toEqual(['wip/CAFÉ.md']);
  });

  it('refuse a path that leads elsewhere, naming it [files.path.segments-refused] [files.sections]', async () => {
    const paths = ['notes.md', 'wip', 'wip/', 'wip//a', 'wip/../a', 'wip/.', 'wip/a\\b', 'wip/a\tb', '/wip/a', 'src/a'];
    expect(await stage.apply(paths.map((path) => registering(path)))).toEqual(
      paths.map(() => refusalOf('VALIDATION_FAILED')),
    );
    const changes = [registering('wip/good'), registering('wip/../bad')];
    const input = { node_id: stage.nodeId, action: 'spec', changes, strict: true };
    const error = await world().refusal(applyFileChanges, input, 'VALIDATION_FAILED', null);
    expect(error.details).toMatchObject({ issues: [{ path: 'changes.1.path' }] });
    expect(await stage.paths()).toEqual([]);
  });

  it('move a file within its node, bury where it was, and answer a move that is done already', async () => {
    const file = await stage.register('wip/a.md');
    const moved = taken((await stage.apply([moving(file.id, 'outputs/b.md', { expected_version: 1 })]))[0]);
    expect(moved).toMatchObject({ id: file.id, path: 'outputs/b.md', version: 2, sha256: file.sha256 });
    expect(await stage.apply([moving(file.id, 'outputs/b.md', { expected_version: 1 })])).toEqual([{ file: moved }]);
    expect(await world().tombstones(stage.nodeId)).toEqual([{ file_id: file.id, path: 'wip/a.md' }]);
  });

  it('move a file to another node, and find it there when the move is repeated', async () => {
    const other = await stageNode(world());
    const file = await stage.register('wip/a.md');
    const move = moving(file.id, 'wip/b.md', { node_id: other.nodeId });
    const moved = taken((await stage.apply([move]))[0]);
    expect(moved).toMatchObject({ id: file.id, node_id: other.nodeId, path: 'wip/b.md' });
    expect(await stage.apply([move])).toEqual([{ file: moved }]);
    expect([await stage.paths(), await other.paths()]).toEqual([[], ['wip/b.md']]);
    expect(await stage.apply([moving(file.id, 'wip/c.md')])).toEqual([refusalOf('FILE_NOT_FOUND')]);
  });

  it('refuse a path that is taken, and leave both files where they are [errors.destination-exists] [files.move.destination-refused]', async () => {
    const [one, two] = [await stage.register('wip/1'), await stage.register('wip/2')];
    expect(await stage.apply([moving(one.id, 'wip/2')])).toEqual([refusalOf('DESTINATION_EXISTS')]);
    expect([await stage.find(one.id), await stage.find(two.id)]).toEqual([one, two]);
    const other = await stageNode(world());
    await other.register('wip/2');
    expect(await stage.apply([moving(two.id, 'wip/2', { node_id: other.nodeId })])).toEqual([
      refusalOf('DESTINATION_EXISTS'),
    ]);
  });

  it('are carried out one after the other, so that files exchange their paths by way of a third', async () => {
    const [one, two] = [await stage.register('wip/1'), await stage.register('wip/2')];
    const results = await stage.apply(
      [moving(one.id, 'wip/swap'), moving(two.id, 'wip/1'), moving(one.id, 'wip/2'), registering('wip/swap', 'new')],
      { strict: true },
    );
    expect(results.map((result) => taken(result).path)).toEqual(['wip/swap', 'wip/1', 'wip/2', 'wip/swap']);
    expect((await stage.find(one.id))?.path).toBe('wip/2');
    expect((await stage.find(two.id))?.path).toBe('wip/1');
    expect(await stage.paths()).toEqual(['wip/1', 'wip/2', 'wip/swap']);
  });

  it('remove a file, with a tombstone or without, and know no second removal', async () => {
    const [one, two] = [await stage.register('wip/1'), await stage.register('wip/2')];
    expect(await stage.apply([removing(one.id), removing(two.id, false), removing(one.id)])).toEqual([
      { file: null },
      { file: null },
      { file: null },
    ]);
    expect(await stage.paths()).toEqual([]);
    expect(await world().tombstones(stage.nodeId)).toEqual([{ file_id: one.id, path: 'wip/1' }]);
    expect((await stage.register('wip/1')).id).not.toBe(one.id);
  });

  it('take a path in the call that frees it', async () => {
    const old = await stage.register('wip/1');
    const [, made, again] = await stage.apply([removing(old.id), registering('wip/1'), registering('wip/1', 'more')]);
    expect(taken(made).id).not.toBe(old.id);
    expect(taken(again)).toMatchObject({ id: taken(made).id, version: 2 });
    expect(await stage.find(taken(made).id)).toEqual(taken(again));
  });

  it('that build on an older version are refused with the current record [files.record.version]', async () => {
    const old = await stage.register('wip/1', 'one');
    const current = await stage.register('wip/1', 'two');
    const changes: FileChange[] = [
      { kind: 'update', file_id: old.id, ...contentOf('three'), expected_version: 1 },
      moving(old.id, 'wip/2', { expected_version: 1 }),
      { kind: 'remove', file_id: old.id, tombstone: true, expected_version: 1 },
    ];
    for (const change of changes) {
      const input = { node_id: stage.nodeId, action: 'spec', changes: [change], strict: true };
      const error = await world().refusal(applyFileChanges, input, 'CONFLICT', null);
      expect(error.details).toEqual({ current });
    }
    expect(await stage.apply(changes)).toEqual(changes.map(() => refusalOf('CONFLICT')));
    expect(await stage.find(old.id)).toEqual(current);
  });

  it('that are strict are carried out all or none; otherwise each refusal is told at its place', async () => {
    const file = await stage.register('wip/1');
    const changes = [removing(file.id), registering('wip/new'), moving(newId(), 'wip/x'), registering('outputs/new')];
    const input = { node_id: stage.nodeId, action: 'spec', changes, strict: true };
    await world().refusal(applyFileChanges, input, 'FILE_NOT_FOUND', null);
    expect(await stage.paths()).toEqual(['wip/1']);
    expect(await world().tombstones(stage.nodeId)).toEqual([]);
    expect(await stage.apply(changes)).toEqual([
      { file: null },
      { file: expect.objectContaining({ path: 'wip/new' }) },
      refusalOf('FILE_NOT_FOUND'),
      { file: expect.objectContaining({ path: 'outputs/new' }) },
    ]);
    expect(await stage.paths()).toEqual(['outputs/new', 'wip/new']);
  });

  it('of a file of another node find none [errors.file-not-found]', async () => {
    const other = await stageNode(world());
    const foreign = await other.register('wip/1');
    expect(
      await stage.apply([
        { kind: 'update', file_id: foreign.id, ...contentOf('x') },
        moving(foreign.id, 'wip/2'),
        removing(foreign.id),
      ]),
    ).toEqual([refusalOf('FILE_NOT_FOUND'), refusalOf('FILE_NOT_FOUND'), { file: null }]);
    expect(await other.find(foreign.id)).toEqual(foreign);
  });
}
