import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createFile,
  deleteFile,
  listFiles,
  moveFile,
  type OutputOf,
  readFile as readFileOperation,
  renameFolder,
  restoreTrash,
  ServiceError,
  writeFile as writeFileOperation,
} from '@workspace-graph/contracts';
import { nodeFolder } from '@workspace-graph/domain';
import fc from 'fast-check';
import { expectAgreement, filesOnDisk, scannerOf } from '../scan/scanner.fixture.js';
import { deletingCentre } from '../testing/deleting-centre.fixture.js';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { MemoryFileService } from '../testing/memory-file-service.js';

const AWAY = new ServiceError('SERVICE_UNAVAILABLE', 'The centre is out of reach.');
const confirmed = true;

let device: DeviceFixture;
let nodeId: string;
let path: string;
async function start(): Promise<void> {
  device = await startDevice({ settings: { sharesRecords: true }, centre });
  ({ nodeId, path } = await device.mirror('Alpha'));
  await device.parts.service.places([nodeId], null);
  await scan();
}
beforeEach(start);
afterEach(() => device.close());

const scan = () => scannerOf(device).reconcile(nodeId, 'all');
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
function cutOff(): void {
  for (const { name } of MemoryFileService.operations) device.records.failures.set(name, AWAY);
}
/** The centre is back, and the folder was looked at until nothing was left to be told. */
async function reconnect(): Promise<void> {
  device.records.failures.clear();
  for (let looks = 0; looks < 3; looks += 1) await scan();
}
const create = (filename: string, content = filename, subpath: string | null = null) =>
  device.call(createFile, { node_id: nodeId, filename, content, subpath });
const write = (at: string, content: string, before: string) =>
  device.call(writeFileOperation, { node_id: nodeId, path: at, content, expected_sha256: sha(before) });
const list = () => device.call(listFiles, { node_id: nodeId, limit: 100 });
const listed = (page: OutputOf<typeof listFiles>) =>
  Object.fromEntries(page.items.map((item) => [item.path, item.sha256]).sort());
const onDisk = (at: string) => readFile(join(path, at), 'utf8');

describe('while the centre is out of reach', () => {
  it('lists what it last saw, page by page, and says so', async () => {
    for (const name of ['a.md', 'b.md', 'c.md']) await create(name);
    await device.call(createFile, { node_id: nodeId, filename: 'd.md', section: 'outputs', content: 'd' });
    const before = await list();
    expect(before.stale).toBeUndefined();
    cutOff();
    expect(await list()).toEqual({ ...before, stale: true });
    const names: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await device.call(listFiles, { limit: 2, status: 'wip', ...(cursor ? { cursor } : {}) });
      names.push(...page.items.map(({ filename }) => filename));
      cursor = page.next_cursor ?? undefined;
      if (cursor === undefined) break;
    }
    expect(names).toEqual(before.items.map(({ filename }) => filename).filter((name) => name !== 'd.md'));
    // What only the centre can tell is no empty list.
    await device.refusal(listFiles, { cursor: '2' }, 'SERVICE_UNAVAILABLE');
    const elsewhere = device.records.node({ name: 'Elsewhere' });
    await device.refusal(listFiles, { node_id: elsewhere }, 'SERVICE_UNAVAILABLE');
  });

  it('knows the nodes of its folders by path, name and key, and no others', async () => {
    const places = [
      { name: 'Oven', sync_key: 'alpha-2' },
      { name: 'Second oven', sync_key: 'oven-2' },
      { name: 'second Oven', sync_key: 'oven-3' },
    ];
    const ids: string[] = [nodeId];
    for (const { name, sync_key } of places) {
      const { nodeId: id } = await device.mirror(sync_key);
      ids.push(id);
      const [place] = (await device.parts.service.places([id], null)).values();
      if (place) device.parts.store.places.remember([id], [{ ...place, name, sync_key }]);
    }
    const named = (...texts: string[]) =>
      device.parts.service.namedHere(
        AWAY,
        { references: texts.map((text) => ({ kind: 'node', text, field: 'node_id' })) },
        null,
      );
    const second = device.parts.store.places.all().find(({ sync_key }) => sync_key === 'oven-2');
    if (!second) throw new Error('it is remembered');
    expect(named('alpha', nodeFolder(second), ' OVEN ')).toEqual([ids[0], ids[2], ids[1]]);
    expect(named('oven-3', 'alpha-2')).toEqual([ids[3], ids[1]]);
    for (const text of ['Second oven', 'Ove', 'elsewhere', '']) expect([text, named(text)]).toEqual([text, null]);
    expect(named('alpha', 'elsewhere')).toBeNull();
    const references = [{ kind: 'user' as const, text: 'alpha', field: 'user_id' }];
    expect(device.parts.service.namedHere(AWAY, { references }, null)).toBeNull();
    const refused = new ServiceError('FORBIDDEN', 'No.');
    expect(device.parts.service.namedHere(refused, { references: [] }, null)).toBeNull();
  });

  it('creates, writes, moves, renames and deletes, and tells the centre all of it afterwards', async () => {
    const kept = await create('kept.md', 'kept');
    const old = await create('in.md', 'in', 'old');
    const gone = await create('gone.md', 'gone');
    cutOff();
    const made = await create('made.md', 'made');
    expect(made).toMatchObject({ path: 'wip/made.md', sha256: sha('made'), local_path: join(path, 'wip/made.md') });
    await device.refusal(createFile, { node_id: nodeId, filename: 'made.md' }, 'DESTINATION_EXISTS');
    expect(await write('wip/made.md', 'twice', 'made')).toMatchObject({ id: made.id, sha256: sha('twice') });
    expect(await write('wip/kept.md', 'changed', 'kept')).toMatchObject({ id: kept.id, sha256: sha('changed') });
    await expect(write('wip/kept.md', 'lost', 'kept')).rejects.toMatchObject({ code: 'CONFLICT' });
    for (const new_filename of ['first.md', 'second.md'])
      expect(await device.call(moveFile, { file_id: kept.id, new_filename, confirmed })).toMatchObject({
        applied: true,
        file: { id: kept.id, path: `wip/${new_filename}` },
      });
    expect(
      await device.call(renameFolder, {
        node_id: nodeId,
        old_prefix: 'wip/old',
        new_prefix: 'wip/new',
        dry_run: false,
      }),
    ).toMatchObject({ applied: true, remaining: 0, renamed: [{ file_id: old.id, to: 'wip/new/in.md' }] });
    const deleted = await device.call(deleteFile, { file_id: gone.id, confirmed });
    expect(deleted).toMatchObject({ applied: true, repair_needed: false });
    await device.refusal(deleteFile, { file_id: gone.id, confirmed }, 'SERVICE_UNAVAILABLE');
    const expected = {
      'wip/made.md': sha('twice'),
      'wip/new/in.md': sha('in'),
      'wip/second.md': sha('changed'),
    };
    expect(listed(await list())).toEqual(expected);
    // A scan that reaches nobody takes nothing back, and a restart neither.
    await scan();
    device = await device.restart();
    expect(listed(await list())).toEqual(expected);

    await reconnect();
    await expectAgreement(device, nodeId, path);
    const now = await list();
    expect(now.stale).toBeUndefined();
    expect(listed(now)).toEqual(expected);
    expect(now.items.find(({ id }) => id === kept.id)?.path).toBe('wip/second.md');
    expect(now.items.find(({ id }) => id === old.id)?.path).toBe('wip/new/in.md');
    // The id under which a file was made goes on being understood.
    const renamed = await device.call(moveFile, { file_id: made.id, new_filename: 'renamed.md', confirmed });
    expect(renamed.file?.path).toBe('wip/renamed.md');
    const restored = await device.call(restoreTrash, { trash_id: deleted.trash_id ?? '' });
    expect(restored).toMatchObject({ path: 'wip/gone.md' });
  });

  it('does nothing by halves of what needs the centre', async () => {
    const other = await device.mirror('Beta');
    await device.parts.service.places([other.nodeId], null);
    const here = await create('here.md');
    const pushed = await create('pushed.md');
    const record = device.records.records.get(pushed.id);
    if (!record) throw new Error('it was just made');
    device.records.records.set(pushed.id, { ...record, remote_name: 'pushed.md', last_pushed_at: record.updated_at });
    await list();
    cutOff();
    await device.refusal(deleteFile, { file_id: here.id, mode: 'unregister_only', confirmed }, 'SERVICE_UNAVAILABLE');
    const elsewhere = { file_id: here.id, new_node_id: other.nodeId, confirmed };
    await device.refusal(moveFile, elsewhere, 'SERVICE_UNAVAILABLE');
    expect([await onDisk('wip/here.md'), await onDisk('wip/pushed.md')]).toEqual(['here.md', 'pushed.md']);
  });

  it('forgets a file that was made and removed by hand, and one that is gone at the centre', async () => {
    const there = await create('there.md');
    cutOff();
    await create('made.md');
    await rm(join(path, 'wip/made.md'));
    expect(listed(await list())).toEqual({ 'wip/there.md': sha('there.md') });
    device.records.failures.clear();
    device.records.records.delete(there.id);
    await device.refusal(moveFile, { file_id: there.id, new_filename: 'x.md' }, 'FILE_NOT_FOUND');
    cutOff();
    expect(listed(await list())).toEqual({});
  });

  it('keeps what arrived although its reply was lost', async () => {
    const file = await create('a.md', 'a');
    for (const { name } of MemoryFileService.operations)
      if (name.startsWith('find')) device.records.failures.set(name, AWAY);
    device.records.unanswered.add('apply_file_changes');
    expect(await write('wip/a.md', 'b', 'a')).toMatchObject({ id: file.id, sha256: sha('b') });
    await device.call(moveFile, { file_id: file.id, new_filename: 'b.md', confirmed });
    const made = await create('made.md');
    expect(made.path).toBe('wip/made.md');
    device.records.unanswered.clear();
    await reconnect();
    await expectAgreement(device, nodeId, path);
    expect(listed(await list())).toEqual({ 'wip/b.md': sha('b'), 'wip/made.md': sha('made.md') });
    expect(await device.call(moveFile, { file_id: made.id, new_filename: 'c.md', confirmed })).toMatchObject({
      file: { path: 'wip/c.md' },
    });
  });

  it('reads what lies in the folder, tracked or not', async () => {
    await create('a.md', 'text');
    await writeFile(join(path, 'wip/new.md'), 'new');
    cutOff();
    const read = async (at: string) => (await device.call(readFileOperation, { node_id: nodeId, path: at })).content;
    expect([await read('wip/a.md'), await read('wip/new.md')]).toEqual(['text', 'new']);
    expect(await write('wip/new.md', 'newer', 'new')).toMatchObject({ path: 'wip/new.md', sha256: sha('newer') });
  });
});

/** The remote has this file as it is here now. */
function stored(at: string): void {
  const record = device.records.recordAt(nodeId, at);
  const state = record && device.parts.store.file(record.id);
  if (!record || !state || state.path !== record.path) return;
  device.records.records.set(record.id, { ...record, remote_name: 'team', last_pushed_at: record.updated_at });
  device.parts.store.changeFiles({ put: [{ ...state, wasPushed: true, lastSyncedHash: state.sha256 }] });
}

/** Where stored files are deleted. */
const centre = deletingCentre((fileId) => {
  if (device.records.failures.size > 0) throw AWAY;
  if (!device.records.records.delete(fileId)) throw new ServiceError('FILE_NOT_FOUND', 'There is no such file.');
});

/** Few names, so that much happens to each. */
const NAME = fc.constantFrom('a.md', 'b.md', 'c.md');
/** What a person does to files by calls. */
const STEP = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('create', 'write', 'move', 'store', 'delete') },
    { weight: 1, arbitrary: fc.constantFrom('cut', 'cut', 'back', 'restart') },
  ),
  name: NAME,
  to: NAME,
});
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

interface ModelFile {
  readonly id: string;
  readonly text: string;
}

/** The files as they have to be, by name, and the calls that make them so. */
class Model {
  readonly files = new Map<string, ModelFile>();
  private count = 0;

  async run({ kind, name, to }: Step): Promise<void> {
    const file = this.files.get(name);
    if (kind === 'cut') cutOff();
    if (kind === 'back') await reconnect();
    if (kind === 'restart') device = await device.restart();
    if (kind === 'create' && !file) await this.create(name);
    if (kind === 'write' && file) await this.write(name, file);
    if (kind === 'move' && file && !this.files.has(to)) await this.move(name, to, file);
    if (kind === 'delete' && file) await this.delete(name, file);
    if (kind === 'store' && device.records.failures.size === 0) stored(`wip/${name}`);
  }

  get shas(): Record<string, string> {
    return Object.fromEntries([...this.files].map(([name, { text }]) => [`wip/${name}`, sha(text)]).sort());
  }

  private async create(name: string): Promise<void> {
    const text = this.next();
    this.files.set(name, { id: (await create(name, text)).id, text });
  }

  private async write(name: string, { id, text: before }: ModelFile): Promise<void> {
    const text = this.next();
    await write(`wip/${name}`, text, before);
    this.files.set(name, { id, text });
  }

  private async move(name: string, to: string, file: ModelFile): Promise<void> {
    await device.call(moveFile, { file_id: file.id, new_filename: to, confirmed });
    this.files.set(to, file).delete(name);
  }

  private async delete(name: string, { id }: ModelFile): Promise<void> {
    await device.call(deleteFile, { file_id: id, confirmed });
    this.files.delete(name);
  }

  private next(): string {
    this.count += 1;
    return String(this.count);
  }
}

const STEPS = Number(process.env['SVC_SCAN_STEPS'] ?? 300);
const STEPS_AT_ONCE = 30;
/** Each run starts a device, and some start it again. */
const RUNS = Math.ceil(STEPS / STEPS_AT_ONCE);

it('ends as a plain model does, whatever is done in and out of reach', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: STEPS_AT_ONCE, maxLength: STEPS_AT_ONCE }), async (steps) => {
      await device.close();
      await start();
      const model = new Model();
      for (const step of steps) {
        await model.run(step);
        expect(listed(await list())).toEqual(model.shas);
      }
      await reconnect();
      expect(listed(await list())).toEqual(model.shas);
      expect(Object.fromEntries([...(await filesOnDisk(path))].sort())).toEqual(model.shas);
      const registry = [...device.parts.store.filesOf(nodeId)].map((file) => [file.path, file.sha256]);
      expect(Object.fromEntries(registry)).toEqual(model.shas);
      // Each is still known by the id under which it was made.
      for (const [name, { id }] of model.files)
        await device.call(moveFile, { file_id: id, new_filename: `still-${name}`, confirmed });
    }),
    { numRuns: RUNS },
  );
});
