import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isIgnoredName, pathKey } from '@workspace-graph/domain';
import type { DeviceFixture } from '../testing/device.fixture.js';
import { Scanner } from './scanner.js';

export function scannerOf(device: DeviceFixture): Scanner {
  return device.module.get(Scanner);
}

/** Path and hash of each ordinary file in the sections of a mirror whose names nobody ignores. */
export async function filesOnDisk(root: string, folder = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of await readdir(join(root, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (isIgnoredName(name) || (folder === '' && !['wip', 'outputs', 'resources'].includes(name))) continue;
    const stat = await lstat(join(root, path));
    if (stat.isDirectory()) for (const [inner, hash] of await filesOnDisk(root, path)) found.set(inner, hash);
    if (stat.isFile())
      found.set(
        path.normalize('NFC'),
        createHash('sha256')
          .update(await readFile(join(root, path)))
          .digest('hex'),
      );
  }
  return found;
}

/** The same of the registry and of the records, by path; the registry must tell what the records tell. */
export function filesKnown(device: DeviceFixture, nodeId: string): { registry: object; records: object } {
  const registry = [...device.parts.store.filesOf(nodeId)].filter(({ isDeleted }) => !isDeleted);
  const byPath = (entries: [string, unknown][]): object =>
    Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    registry: byPath(registry.map(({ path, sha256, fileId, version }) => [path, { sha256, fileId, version }])),
    records: byPath(
      device.records
        .recordsOf(nodeId)
        .filter(({ last_pushed_at }) => last_pushed_at === null)
        .map(({ path, sha256, id, version }) => [path, { sha256, fileId: id, version }]),
    ),
  };
}

/** Fails unless disk, registry and records tell the same files. */
export async function expectAgreement(device: DeviceFixture, nodeId: string, root: string): Promise<void> {
  const { registry, records } = filesKnown(device, nodeId);
  expect(registry).toEqual(records);
  const known = Object.entries(registry).map(([path, { sha256 }]) => [path, sha256]);
  expect(known).toEqual([...(await filesOnDisk(root))].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The id of the file at a path; undefined when none is tracked there. */
export function idAt(device: DeviceFixture, nodeId: string, path: string): string | undefined {
  return device.parts.store.fileAt(nodeId, pathKey(path))?.fileId;
}
