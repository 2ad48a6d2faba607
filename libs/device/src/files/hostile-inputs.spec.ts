import { link, mkdir, writeFile as put, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  adoptFiles,
  createFile,
  deleteFile,
  listTrash,
  moveFile,
  type Operation,
  renameFolder,
  restoreTrash,
  ServiceError,
  writeFile,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import fc from 'fast-check';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';

/** 1,500 in CI, more in `npm run soak`. */
const INPUTS = Number(process.env['SVC_FUZZ_INPUTS'] ?? 250);
const HASH = 'a'.repeat(64);

let device: DeviceFixture;
let nodeId: string;
let folder: string;
beforeEach(async () => {
  device = await startDevice();
  ({ nodeId, path: folder } = await device.mirror('Alpha'));
});
afterEach(() => device.close());

const name = fc.oneof(
  fc.constantFrom(
    'a.md',
    'A.md',
    'link',
    'deep',
    '..',
    '.',
    '',
    '.svcignore',
    'CON',
    'x'.repeat(300),
    'é'.normalize('NFD'),
  ),
  fc.constantFrom('a\0b', 'a\nb', '..\\x', '\ud800', 'a/b', '/etc/passwd', '../../outside/a.md', 'ends.', 'K'),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const path = fc
  .tuple(fc.constantFrom('wip', 'outputs', 'WIP', '', '..', '/'), fc.array(name, { maxLength: 4 }))
  .map(([section, names]) => [section, ...names].join('/'));

/** An operation with an input of the right shape and hostile values; ids are taken from what there is. */
const calls = (fileIds: () => string[], trashIds: () => string[]): fc.Arbitrary<[Operation, unknown]> => {
  const pick = (ids: () => string[]) => fc.nat().map((index) => ids()[index % (ids().length + 1)] ?? newId());
  const node_id = fc.constantFrom(nodeId, nodeId, nodeId, newId());
  const section = fc.constantFrom('wip', 'outputs', 'resources');
  const subpath = fc.option(path);
  const confirmed = fc.boolean();
  const record = (
    operation: Operation,
    shape: Record<string, fc.Arbitrary<unknown>>,
  ): fc.Arbitrary<[Operation, unknown]> => fc.record(shape).map((input): [Operation, unknown] => [operation, input]);
  return fc.oneof(
    record(createFile, { node_id, filename: name, section, subpath, content: fc.string({ maxLength: 4 }) }),
    record(createFile, { node_id, filename: name, content: fc.string(), encoding: fc.constant('base64') }),
    record(writeFile, {
      node_id,
      path,
      content: fc.string({ unit: 'binary', maxLength: 4 }),
      expected_sha256: fc.constant(HASH),
    }),
    record(moveFile, {
      file_id: pick(fileIds),
      new_section: section,
      new_subpath: subpath,
      new_filename: name,
      confirmed,
    }),
    record(renameFolder, { node_id, old_prefix: path, new_prefix: path, dry_run: confirmed }),
    record(deleteFile, { file_id: pick(fileIds), mode: fc.constantFrom('complete', 'unregister_only'), confirmed }),
    record(adoptFiles, {
      node_id,
      paths: fc.array(path, { minLength: 1, maxLength: 4 }),
      status: fc.constantFrom('wip', 'output'),
    }),
    record(restoreTrash, { trash_id: fc.oneof(pick(trashIds), name), path }),
  );
};

describe('hostile inputs to the operations on files', () => {
  it(
    `are each answered or refused, and nothing outside the folder of the node is touched, over ${INPUTS} inputs`,
    async () => {
      const outside = join(device.root, 'outside');
      await mkdir(outside);
      await put(join(outside, 'a.md'), 'secret');
      await mkdir(join(folder, 'wip/deep'));
      await symlink(outside, join(folder, 'wip/link'));
      await symlink(outside, join(folder, 'wip/deep/link'));
      await link(join(outside, 'a.md'), join(folder, 'wip/deep/a.md'));
      let trashIds: string[] = [];
      const codes = new Map<string, number>();
      const call = calls(
        () => [...device.records.records.keys()],
        () => trashIds,
      );
      await fc.assert(
        fc.asyncProperty(call, async ([operation, input]) => {
          const code = await device.call(operation, input as never).then(
            () => 'done',
            (error: unknown) => {
              if (error instanceof ServiceError) return error.code;
              throw new Error(`${operation.name} ended with an unexpected error`, { cause: error });
            },
          );
          codes.set(code, (codes.get(code) ?? 0) + 1);
          expect(['INTERNAL', 'SERVICE_UNAVAILABLE', 'TIMEOUT']).not.toContain(code);
          if (operation === deleteFile) trashIds = (await device.call(listTrash, {})).items.map(({ id }) => id);
        }),
        { numRuns: INPUTS },
      );
      expect(await readdir(outside)).toEqual(['a.md']);
      expect(await readFile(join(outside, 'a.md'), 'utf8')).toBe('secret');
      expect((await readdir(device.root)).toSorted()).toEqual(['.svc', 'acme', 'outside']);
      expect(device.records.intents.size).toBe(0);
      const entries = await readdir(folder, { recursive: true });
      expect(entries.filter((entry) => entry.includes('.svc-'))).toEqual([]);
      for (const { path: tracked } of device.parts.store.filesOf(nodeId))
        expect(entries.map((entry) => entry.normalize('NFC'))).toContain(tracked);
      expect([codes.has('done'), codes.has('VALIDATION_FAILED')]).toEqual([true, true]);
    },
    Math.max(30_000, INPUTS * 60),
  );
});
