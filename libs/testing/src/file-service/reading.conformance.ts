import {
  type Caller,
  findFiles,
  findPlaces,
  findRemovedFiles,
  listNodeRecords,
  queryFiles,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { FileServiceWorld } from './file-service-world.js';
import { contentOf, type NodeStage, registering, stageNode, stageOf } from './stage.js';

export function readingScenarios(world: () => FileServiceWorld): void {
  let stage: NodeStage;
  beforeEach(async () => {
    stage = await stageNode(world());
  });

  it('finds places in the order asked for, and leaves out what is not there', async () => {
    const other = await world().node({ name: 'Other' });
    const { places } = await world().call(
      findPlaces,
      { node_ids: [other, newId(), stage.nodeId] },
      await world().user('Anybody'),
    );
    expect(places.map(({ node_id }) => node_id)).toEqual([other, stage.nodeId]);
    expect(places[0]).toMatchObject({
      type: 'project',
      name: 'Other',
      organization_sync_key: 'acme',
      level: 'write',
    });
  });

  it('finds files by id and by path in any form, with their places', async () => {
    const [one, two] = [await stage.register('wip/Caf\u00e9.md'), await stage.register('outputs/b.md')];
    const { files } = await world().call(
      findFiles,
      {
        ids: [two.id, newId()],
        paths: [
          { node_id: stage.nodeId, path: 'wip/cafe\u0301.md' },
          { node_id: stage.nodeId, path: 'wip/absent' },
          { node_id: newId(), path: 'outputs/b.md' },
        ],
      },
      null,
    );
    expect(files.map(({ file }) => file)).toEqual([two, one]);
    expect(files[0]?.place).toMatchObject({ node_id: stage.nodeId, organization_sync_key: 'acme', level: 'write' });
  });

  it('tells what was deleted or moved away from what has no record for another reason', async () => {
    const other = await stageNode(world());
    const files = await Promise.all(
      ['wip/kept', 'wip/renamed', 'wip/deleted', 'wip/dropped', 'wip/away'].map((path) => stage.register(path)),
    );
    const [kept, renamed, deleted, dropped, away] = files.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
      string,
    ];
    await stage.apply([
      { kind: 'move', file_id: renamed, path: 'wip/another name' },
      { kind: 'remove', file_id: deleted, tombstone: true },
      { kind: 'remove', file_id: dropped, tombstone: false },
      { kind: 'move', file_id: away, path: 'wip/away', node_id: other.nodeId },
    ]);
    const asked = { node_id: stage.nodeId, ids: [kept, renamed, deleted, dropped, away, newId()] };
    const { ids } = await world().call(findRemovedFiles, asked, null);
    expect(ids.toSorted()).toEqual([deleted, away].toSorted());
    expect(await world().call(findRemovedFiles, { ...asked, node_id: other.nodeId }, null)).toEqual({ ids: [] });
  });

  it('lists the newest first, page by page and by status [files.list.newest-first] [files.record.status-by-section]', async () => {
    const paths = ['wip/1', 'outputs/2', 'resources/3', 'wip/4', 'outputs/5'];
    for (const path of paths) await stage.register(path);
    const pathsOf = async (more: object): Promise<string[]> => {
      const { items } = await world().call(queryFiles, { node_id: stage.nodeId, ...more }, null);
      return items.map(({ file }) => file.path);
    };
    expect(new Set(await pathsOf({}))).toEqual(new Set(paths));
    expect((await pathsOf({ status: 'wip' })).sort()).toEqual(['wip/1', 'wip/4']);
    expect((await pathsOf({ status: 'output' })).sort()).toEqual(['outputs/2', 'outputs/5']);

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world().call(queryFiles, { node_id: stage.nodeId, limit: 2, cursor }, null);
      seen.push(...page.items.map(({ file }) => `${file.updated_at} ${file.id}`));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(5);
    expect(seen).toEqual(seen.toSorted().reverse());
    await stage.apply([{ ...registering('wip/1'), ...contentOf('rewritten') }]);
    expect((await pathsOf({ limit: 1 }))[0]).toBe('wip/1');
    await world().refusal(queryFiles, { cursor: 'made up' }, 'VALIDATION_FAILED', null);
  });

  it('limits a session to what it holds and its person sees', async () => {
    const reader = await world().user('At home');
    const [near, far] = [await stageNode(world()), await stageNode(world())];
    const secret = await world().node({ name: 'Hidden', readers: [await world().user('Other')] });
    const hidden = stageOf(world(), secret);
    for (const each of [stage, near, far, hidden]) await each.register(`wip/${each.nodeId}`);
    const listed = async (caller: Caller): Promise<Set<string>> => {
      const { items } = await world().call(queryFiles, { limit: 2_000 }, caller);
      return new Set(items.map(({ file }) => file.node_id));
    };
    const held = [stage.nodeId, near.nodeId];
    expect(await listed(await world().session(reader, [...held, hidden.nodeId]))).toEqual(new Set(held));
    expect(await listed(await world().session(reader, []))).toEqual(new Set());
    expect(await listed(reader)).toEqual(expect.objectContaining({}));
    expect((await listed(reader)).has(far.nodeId)).toBe(true);
  });

  it('tells the places of all nodes that the asker sees, or of those alone that the session holds', async () => {
    const agent = await world().session(await world().user('At home'), [stage.nodeId]);
    const far = await stageNode(world());
    const node_ids = [stage.nodeId, far.nodeId];
    const placed = async (held: boolean): Promise<string[]> =>
      (await world().call(findPlaces, { node_ids, held }, agent)).places.map(({ node_id }) => node_id);
    expect(await placed(false)).toEqual(node_ids);
    expect(await placed(true)).toEqual([stage.nodeId]);
  });

  it('walks all records of a node by id', async () => {
    await stage.apply(['wip/1', 'wip/2', 'wip/3'].map((path) => registering(path)));
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1);
      const { files } = await world().call(listNodeRecords, { node_id: stage.nodeId, after, limit: 2 }, null);
      if (files.length === 0) break;
      ids.push(...files.map(({ id }) => id));
    }
    expect(ids).toHaveLength(3);
    expect(ids).toEqual(ids.toSorted());
    expect(await stageOf(world(), stage.nodeId).paths()).toEqual(['wip/1', 'wip/2', 'wip/3']);
    await world().refusal(listNodeRecords, { node_id: newId() }, 'NODE_NOT_FOUND', null);
  });
}
