import { type FileIntent, listFileIntents, noteFileIntents, settleFileIntents } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { FileServiceWorld } from './file-service-world.js';
import { type NodeStage, stageNode } from './stage.js';

export function intentScenarios(world: () => FileServiceWorld): void {
  let stage: NodeStage;
  beforeEach(async () => {
    stage = await stageNode(world());
  });
  const list = async (...nodeIds: string[]): Promise<FileIntent[]> =>
    (await world().call(listFileIntents, { node_ids: nodeIds }, null)).intents;
  const settle = (id: string, error: string | null): Promise<unknown> =>
    world().call(settleFileIntents, { outcomes: [{ id, error }] }, null);

  it('are kept with what the file was, until they are settled [files.move.repair-needed]', async () => {
    const other = await stageNode(world());
    const file = await stage.register('wip/a.md');
    const [move, removal] = [newId(), newId()];
    const intents = [
      { id: move, file_id: file.id, kind: 'move' as const, to_node_id: other.nodeId, to_path: 'wip/e\u0301' },
      { id: removal, file_id: file.id, kind: 'delete' as const, to_node_id: null, to_path: null },
    ];
    await world().call(noteFileIntents, { intents }, null);
    await world().call(noteFileIntents, { intents }, null);
    expect(await list(stage.nodeId)).toHaveLength(2);
    expect(await list(other.nodeId)).toEqual([
      {
        id: move,
        file_id: file.id,
        node_id: stage.nodeId,
        kind: 'move',
        from_path: 'wip/a.md',
        to_node_id: other.nodeId,
        to_path: 'wip/\u00e9',
        sha256: file.sha256,
        last_error: null,
        attempts: 0,
        created_at: expect.any(String),
      },
    ]);
    await settle(move, 'The disk is full.');
    await settle(move, 'The disk is still full.');
    await settle(removal, null);
    expect(await list(stage.nodeId, other.nodeId)).toMatchObject([
      { id: move, last_error: 'The disk is still full.', attempts: 2 },
    ]);
    await settle(move, null);
    await settle(move, null);
    expect(await list(stage.nodeId)).toEqual([]);
  });

  it('are listed and settled by the device that noted them, whoever works there [files.intents.own-device]', async () => {
    const other = await world().device();
    const file = await stage.register('wip/a.md');
    const intent = { id: newId(), file_id: file.id, kind: 'delete' as const, to_node_id: null, to_path: null };
    await world().call(noteFileIntents, { intents: [intent] }, await world().user('Will'));
    expect((await world().call(listFileIntents, { node_ids: [stage.nodeId] }, other)).intents).toEqual([]);
    await world().call(settleFileIntents, { outcomes: [{ id: intent.id, error: null }] }, other);
    await world().call(settleFileIntents, { outcomes: [{ id: intent.id, error: 'Not mine.' }] }, other);
    expect(await list(stage.nodeId)).toMatchObject([{ id: intent.id, last_error: null }]);
    await settle(intent.id, null);
    expect(await list(stage.nodeId)).toEqual([]);
  });

  it('go with their file', async () => {
    const file = await stage.register('wip/a.md');
    const intent = { id: newId(), file_id: file.id, kind: 'delete' as const, to_node_id: null, to_path: null };
    await world().call(noteFileIntents, { intents: [intent] }, null);
    await stage.apply([{ kind: 'remove', file_id: file.id, tombstone: true }]);
    expect(await list(stage.nodeId)).toEqual([]);
  });

  it('are noted all or none, and only with a target that fits', async () => {
    const file = await stage.register('wip/a.md');
    const good = { id: newId(), file_id: file.id, kind: 'delete' as const, to_node_id: null, to_path: null };
    const absent = { ...good, id: newId(), file_id: newId() };
    await world().refusal(noteFileIntents, { intents: [good, absent] }, 'FILE_NOT_FOUND', null);
    for (const bad of [
      { ...good, to_path: 'wip/b' },
      { ...good, kind: 'move' as const },
      { ...good, kind: 'move' as const, to_path: 'wip/../b' },
    ])
      await world().refusal(noteFileIntents, { intents: [bad] }, 'VALIDATION_FAILED', null);
    expect(await list(stage.nodeId)).toEqual([]);
  });
}
