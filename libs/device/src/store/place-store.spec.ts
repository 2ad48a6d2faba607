import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodePlace } from '@workspace-graph/contracts';
import { DeviceStore, type MirrorRow } from './device-store.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-places-'));
let store: DeviceStore;
beforeEach(() => {
  store = DeviceStore.open(join(folder, 'sync.db'));
});
afterEach(() => store.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mirror = (nodeId: string): MirrorRow => ({
  nodeId,
  path: `/mirrors/${nodeId}`,
  identity: '1:1',
  scannedAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
});
const place = (node_id: string, name = 'Oven'): NodePlace => ({
  node_id,
  type: 'project',
  name,
  sync_key: 'oven',
  organization_sync_key: 'acme',
  level: 'write',
});

it('knows the nodes of folders as they were last seen, also after a restart', () => {
  store.putMirror(mirror('a'));
  store.putMirror(mirror('b'));
  store.places.remember(['a', 'b'], [place('a'), place('b')]);
  store.places.remember(['b'], [place('b', 'Second oven')]);
  store.close();
  store = DeviceStore.open(join(folder, 'sync.db'));
  expect(store.places.recall(['a', 'b'])).toEqual([place('a'), place('b', 'Second oven')]);
  expect(store.places.all()).toEqual(expect.arrayContaining([place('a'), place('b', 'Second oven')]));
});

it('tells nothing of several unless it knows all of them', () => {
  expect(store.places.recall(['a', 'elsewhere'])).toBeNull();
  // A node without a folder is not remembered.
  store.places.remember(['elsewhere'], [place('elsewhere')]);
  expect(store.places.recall(['elsewhere'])).toBeNull();
});

it('forgets what is not seen any more, and what has no folder; a folder that comes back is remembered anew', () => {
  store.places.remember(['a'], []);
  expect([store.places.recall(['a']), store.places.recall(['b'])?.length]).toEqual([null, 1]);
  store.removeMirror('b');
  expect(store.places.recall(['b'])).toBeNull();
  store.putMirror(mirror('b'));
  store.places.remember(['b'], [place('b', 'Second oven')]);
  expect(store.places.recall(['b'])).toEqual([place('b', 'Second oven')]);
});
