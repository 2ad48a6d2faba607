import {
  applyFileChanges,
  type Caller,
  findFiles,
  findPlaces,
  listFileIntents,
  listNodeRecords,
  noteFileIntents,
  queryFiles,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { FileServiceWorld } from './file-service-world.js';
import { type NodeStage, registering, stageNode, stageOf } from './stage.js';

export function accessScenarios(world: () => FileServiceWorld): void {
  let stranger: Caller;
  let reader: Caller;
  let writer: Caller;
  let closed: NodeStage;
  beforeAll(async () => {
    stranger = await world().user('Stranger');
    reader = await world().user('Reader');
    writer = await world().user('Writer');
    closed = stageOf(world(), await world().node({ name: 'Closed', readers: [reader], writers: [writer] }));
  });

  it('hides files of a hidden node everywhere, as if there were none [errors.file-not-found]', async () => {
    const file = await closed.register('wip/secret.md');
    const asked = { ids: [file.id], paths: [{ node_id: closed.nodeId, path: file.path }] };
    expect(await world().call(findPlaces, { node_ids: [closed.nodeId] }, stranger)).toEqual({ places: [] });
    expect(await world().call(findFiles, asked, stranger)).toEqual({ files: [] });
    const { items } = await world().call(queryFiles, { limit: 2_000 }, stranger);
    expect(items.filter((item) => item.file.node_id === closed.nodeId)).toEqual([]);
    await world().refusal(queryFiles, { node_id: closed.nodeId }, 'NODE_NOT_FOUND', stranger);
    await world().refusal(listNodeRecords, { node_id: closed.nodeId }, 'NODE_NOT_FOUND', stranger);
    const change = { node_id: closed.nodeId, action: 'spec', changes: [registering('wip/x')], strict: false };
    await world().refusal(applyFileChanges, change, 'NODE_NOT_FOUND', stranger);
    const error = await world().refusal(noteFileIntents, intentOn(file.id), 'FILE_NOT_FOUND', stranger);
    const absent = await world().refusal(noteFileIntents, intentOn(newId()), 'FILE_NOT_FOUND', stranger);
    expect(error.message.replace(file.id, '')).toBe(absent.message.replace(/[0-9a-f-]{36}/, ''));
  });

  it('tells the key of an organization to those who see it [access.hidden.paths]', async () => {
    const nodeId = await world().node({ name: 'Apart', readers: [reader, writer], organizationReaders: [writer] });
    const file = await stageOf(world(), nodeId).register('wip/apart.md');
    const keys = async (caller: Caller | null) => {
      const { places } = await world().call(findPlaces, { node_ids: [nodeId] }, caller);
      const { files } = await world().call(findFiles, { ids: [file.id] }, caller);
      const { items } = await world().call(queryFiles, { node_id: nodeId }, caller);
      return [...places, ...files.map(({ place }) => place), ...items.map(({ place }) => place)].map(
        ({ organization_sync_key }) => organization_sync_key,
      );
    };
    const [key = null] = await keys(null);
    expect(key).not.toBeNull();
    expect(await keys(writer)).toEqual([key, key, key]);
    expect(await keys(reader)).toEqual([null, null, null]);
  });

  it('lets a reader read and a writer write', async () => {
    const file = await closed.register('wip/shared.md');
    for (const [caller, level] of [
      [reader, 'read'],
      [writer, 'write'],
    ] as const) {
      const { files } = await world().call(findFiles, { ids: [file.id] }, caller);
      expect(files).toEqual([{ file, place: expect.objectContaining({ node_id: closed.nodeId, level }) }]);
    }
    const change = { node_id: closed.nodeId, action: 'spec', changes: [registering('wip/by-reader')], strict: false };
    await world().refusal(applyFileChanges, change, 'FORBIDDEN', reader);
    await world().refusal(noteFileIntents, intentOn(file.id), 'FORBIDDEN', reader);
    await closed.apply([registering('wip/by-writer')], { caller: writer });
    expect(await closed.paths()).toContain('wip/by-writer');
  });

  it('moves a file to another node only for who may write on both [files.move.tool]', async () => {
    const open = await stageNode(world());
    const file = await open.register('wip/wanderer.md');
    const move = { kind: 'move' as const, file_id: file.id, node_id: closed.nodeId, path: 'wip/wanderer.md' };
    const refused = (code: string) => [{ refused: code, message: expect.any(String) }];
    expect(await open.apply([move], { caller: stranger })).toEqual(refused('NODE_NOT_FOUND'));
    expect(await open.apply([move], { caller: reader })).toEqual(refused('FORBIDDEN'));
    expect(await open.find(file.id)).toEqual(file);
    expect(await open.apply([move], { caller: writer })).toEqual([
      { file: expect.objectContaining({ id: file.id, node_id: closed.nodeId }) },
    ]);
  });

  it('shows intents only to who sees both of their ends', async () => {
    const open = await stageNode(world());
    const file = await open.register('wip/leaving.md');
    const intent = {
      ...intentOn(file.id).intents[0],
      kind: 'move' as const,
      to_node_id: closed.nodeId,
      to_path: 'wip/x',
    };
    await world().call(noteFileIntents, { intents: [{ ...intent, id: newId(), file_id: file.id }] }, writer);
    const seenBy = async (caller: Caller | null): Promise<number> =>
      (await world().call(listFileIntents, { node_ids: [open.nodeId] }, caller)).intents.length;
    expect([await seenBy(stranger), await seenBy(reader), await seenBy(null)]).toEqual([0, 1, 1]);
    await world().refusal(
      noteFileIntents,
      { intents: [{ ...intent, id: newId(), file_id: file.id }] },
      'NODE_NOT_FOUND',
      stranger,
    );
  });

  const intentOn = (fileId: string) => ({
    intents: [{ id: newId(), file_id: fileId, kind: 'delete' as const, to_node_id: null, to_path: null }],
  });
}
