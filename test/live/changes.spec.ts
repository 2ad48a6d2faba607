import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  archiveNode,
  connect,
  createNode,
  disconnect,
  LIMITS,
  logEvent,
  moveNode,
  purgeNode,
  putImportPart,
  runImport,
  setAccess,
  setPositions,
  updateNode,
} from '@workspace-graph/contracts';
import type { LiveClient } from './live-client.js';
import { LiveWorld, type Person } from './live-world.js';

let world: LiveWorld;
let reader: Person;
let organizationId: string;
let marker: string;
beforeAll(async () => {
  world = await LiveWorld.start();
  reader = await world.person('Rita', 'read');
  organizationId = (await world.node('Home')).id;
  marker = await area('Marker');
});
afterAll(() => world[Symbol.asyncDispose]());

async function area(name: string, visibility: 'private' | null = null): Promise<string> {
  const input = { type: 'area', name, organization_id: organizationId, visibility } as const;
  return (await world.call(createNode, input, world.admin.caller)).id;
}

/** Ids that a statement answers. */
async function rows(text: string): Promise<string[]> {
  return (await world.database.pool.query<{ id: string }>(text)).rows.map(({ id }) => id);
}

function setVisibility(node_id: string, visibility: 'private' | null): Promise<unknown> {
  return world.call(setAccess, { node_id, visibility, confirmed: true }, world.admin.caller);
}

function note(node_id: string): Promise<unknown> {
  return world.call(logEvent, { node_id, kind: 'note', content: 'Something' }, world.admin.caller);
}

async function watching(person: Person): Promise<LiveClient> {
  const client = await world.client(person);
  const reply = await client.ask('watch', { graph: true, files: true, sync: true });
  expect(reply).toMatchObject({ type: 'reply', payload: { graph: true, files: true, sync: true } });
  // What was changed before may still be on its way.
  await settled(client);
  client.frames.length = 0;
  return client;
}

interface Told {
  readonly node_ids: readonly string[];
  readonly everything: boolean;
}

type Type = 'graph_changed' | 'files_changed' | 'sync_changed';

function told(client: LiveClient, type: Type = 'graph_changed'): Told[] {
  return client.of(type).map(({ payload }) => payload as unknown as Told);
}

/** Ids that were told, each once; and '*' where the client is to look at everything. */
function ids(client: LiveClient, type?: Type): Set<string> {
  return new Set(told(client, type).flatMap(({ node_ids, everything }) => (everything ? ['*'] : node_ids)));
}

/** Waits until everything before has been told: a change that everybody sees comes after it. */
async function settled(...clients: readonly LiveClient[]): Promise<void> {
  const counts = clients.map((client) => told(client).length);
  await note(marker);
  for (const [index, client] of clients.entries())
    await client.until(
      () =>
        told(client)
          .slice(counts[index])
          .some(({ node_ids }) => node_ids.includes(marker)),
      'the marker',
    );
}

describe('a client that watches the graph', () => {
  it('is told the nodes that it sees when they change, and nothing of others [ws.watch.visible-only]', async () => {
    const [open, hidden] = [await area('Open'), await area('Hidden', 'private')];
    const [asReader, asAdmin] = [await watching(reader), await watching(world.admin)];
    await world.call(updateNode, { node_id: hidden, goal: 'Secret' }, world.admin.caller);
    await note(hidden);
    await world.bus.publish({ type: 'file.changed', id: 'one', payload: { node_id: hidden } });
    await world.bus.publish({ type: 'sync.changed', id: 'folder', payload: { node_id: hidden } });
    await world.call(setPositions, { positions: [{ node_id: hidden, x: 1, y: 1 }] }, world.admin.caller);
    await settled(asReader, asAdmin);
    expect([ids(asReader), ids(asReader, 'files_changed')]).toEqual([new Set([marker]), new Set()]);
    expect([ids(asReader, 'sync_changed'), ids(asAdmin, 'sync_changed')]).toEqual([new Set(), new Set([hidden])]);
    expect([ids(asAdmin), ids(asAdmin, 'files_changed')]).toEqual([new Set([marker, hidden]), new Set([hidden])]);
    await world.call(updateNode, { node_id: open, goal: 'Known' }, world.admin.caller);
    await world.bus.publish({ type: 'file.changed', id: 'two', payload: { node_id: open } });
    await world.bus.publish({ type: 'sync.changed', id: 'its-folder', payload: { node_id: open } });
    await asReader.until(() => ids(asReader).has(open) && ids(asReader, 'files_changed').has(open), 'the open one');
    await asReader.until(() => ids(asReader, 'sync_changed').has(open), 'the folder of the open one');
  });

  it('is not told of a node that it sees when a hidden one joins it, moves or goes [ws.watch.visible-only]', async () => {
    const [open, hidden] = [await area('Joined'), await area('Joining', 'private')];
    const client = await watching(reader);
    const input = { source_id: hidden, target_id: open, relation: 'related_to' } as const;
    const { edge } = await world.call(connect, input, world.admin.caller);
    await world.call(disconnect, { edge_id: edge?.id ?? '', confirmed: true }, world.admin.caller);
    await world.call(connect, input, world.admin.caller);
    const other = await world.node('Other');
    await settled(client);
    expect(ids(client)).toEqual(new Set([marker, other.id]));
    await world.call(moveNode, { node_id: hidden, organization_id: other.id, confirmed: true }, world.admin.caller);
    await area('Born hidden', 'private');
    await world.call(archiveNode, { node_id: hidden }, world.admin.caller);
    await world.call(purgeNode, { node_id: hidden, confirmed: true }, world.admin.caller);
    await settled(client);
    expect(ids(client)).toEqual(new Set([marker, other.id]));
  });

  it('is told of both ends of an edge that it sees, and of a node that is gone and its neighbours', async () => {
    const [one, two] = [await area('One'), await area('Two')];
    const client = await watching(reader);
    await world.call(connect, { source_id: one, target_id: two, relation: 'related_to' }, world.admin.caller);
    await settled(client);
    expect(ids(client)).toEqual(new Set([marker, one, two]));
    const again = await watching(reader);
    await world.call(archiveNode, { node_id: one }, world.admin.caller);
    await world.call(purgeNode, { node_id: one, confirmed: true }, world.admin.caller);
    await settled(again);
    expect(ids(again)).toEqual(new Set([marker, one, two, organizationId]));
  });

  it('is told to look at everything when it gains or loses sight of something, and nobody else is [ws.watch.access, access.revoke.open-sockets]', async () => {
    const node = await area('Coming and going', 'private');
    const other = await world.person('Olaf', 'read');
    const [asReader, asOther] = [await watching(reader), await watching(other)];
    const recipients = [{ kind: 'user' as const, id: reader.id }];
    const share = { node_id: node, visibility: 'group', recipients, confirmed: true } as const;
    await world.call(setAccess, share, world.admin.caller);
    await asReader.until(() => ids(asReader).has('*'), 'the gain');
    await settled(asReader, asOther);
    expect(ids(asOther)).toEqual(new Set([marker]));
    const [again, otherAgain] = [await watching(reader), await watching(other)];
    await setVisibility(node, 'private');
    await note(node);
    await again.until(() => ids(again).has('*') && ids(again, 'files_changed').has('*'), 'the loss');
    await note(node);
    await settled(again, otherAgain);
    expect(ids(otherAgain)).toEqual(new Set([marker]));
    expect(ids(again)).toEqual(new Set(['*', marker]));
  });

  it('is told of an import what it sees of it', async () => {
    const client = await watching(reader);
    const named = (key: string, sharing: object): object => ({
      key,
      type: 'organization',
      name: key,
      ...sharing,
    });
    const nodes = [named('shown-import', {}), named('secret-import', { sharing: { visibility: 'private' } })];
    const data = gzipSync(JSON.stringify({ format: 'workspace-graph/1', nodes })).toString('base64');
    const upload_id = randomUUID();
    await world.call(putImportPart, { upload_id, index: 0, data }, world.admin.caller);
    await world.call(runImport, { upload_id, parts: 1, confirmed: true }, world.admin.caller);
    await settled(client);
    const [shown] = await rows(`SELECT id FROM graph.node WHERE name = 'shown-import'`);
    expect(ids(client)).toEqual(new Set([marker, shown]));
  });

  it('gets hundreds of changes in a few frames, and a mass of them as one that says so [ws.watch.coalesced]', async () => {
    const client = await watching(reader);
    const some = [];
    for (let count = 0; count < 20; count++) some.push(await area(`Some ${count}`));
    await settled(client);
    const before = told(client).length;
    const startMs = performance.now();
    for (let count = 0; count < 300; count++) await note(some[count % some.length] ?? '');
    await settled(client);
    const slots = Math.ceil((performance.now() - startMs) / 250) + 1;
    const frames = told(client).slice(before);
    expect(frames.length).toBeLessThanOrEqual(slots);
    expect(new Set(frames.flatMap(({ node_ids }) => node_ids))).toEqual(new Set([...some, marker]));

    const mass = await rows(
      `WITH made AS (INSERT INTO graph.node (id, type, name, lifecycle, organization_id, sync_key)
        SELECT gen_random_uuid(), 'area', 'One of many', 'active', '${organizationId}', 'many-' || n FROM generate_series(0, ${LIMITS.nodesPerFrame}) n RETURNING id),
      joined AS (INSERT INTO graph.edge (id, source_id, target_id, relation)
        SELECT gen_random_uuid(), m.id, '${organizationId}', 'belongs_to' FROM made m)
      SELECT id FROM made`,
    );
    const payload = { node_ids: mass, action: 'test' };
    await world.bus.publish({ type: 'graph.changed', id: 'mass', payload });
    await client.until(() => ids(client).has('*'), 'the mass');
    expect(told(client).at(-1)).toEqual({ node_ids: [], everything: true });
  });
});

describe('a client that does not watch', () => {
  it('is told nothing, and one that has ceased nothing more [ws.watch.opt-in]', async () => {
    const [silent, former, files] = [await world.client(reader), await watching(reader), await watching(reader)];
    await former.ask('watch', {});
    expect(await files.ask('watch', { files: true })).toMatchObject({
      payload: { graph: false, files: true, sync: false },
    });
    for (const client of [former, files]) client.frames.length = 0;
    const heard = await watching(reader);
    await settled(heard);
    await world.bus.publish({ type: 'file.changed', id: 'three', payload: { node_id: marker } });
    await world.bus.publish({ type: 'sync.changed', id: 'unasked', payload: { node_id: marker } });
    await heard.until(() => ids(heard, 'sync_changed').has(marker), 'the folder');
    await files.until(() => ids(files, 'files_changed').has(marker), 'the file');
    expect(told(files, 'sync_changed')).toEqual([]);
    expect([silent, former, files].flatMap((client) => told(client))).toEqual([]);
    expect([silent, former].flatMap((client) => told(client, 'files_changed'))).toEqual([]);
  });

  it('is refused what is no wish', async () => {
    const client = await world.client(reader);
    expect((await client.ask('watch', { graph: 'yes' })).payload.code).toBe('VALIDATION_FAILED');
    expect((await client.ask('watch', { sessions: true })).payload.code).toBe('VALIDATION_FAILED');
  });
});
