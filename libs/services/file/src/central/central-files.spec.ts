import { createHash } from 'node:crypto';
import {
  type Caller,
  createFile,
  deleteFile,
  type InputOf,
  LIMITS,
  listFiles,
  moveFile,
  type OutputOf,
  readFile,
  searchFiles,
  writeFile,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { RemoteFailure } from '@workspace-graph/remotes';
import { type CentreFixture, startCentre } from './central.fixture.js';
import { Repairs } from './repairs.js';

let centre: CentreFixture;
let admin: Caller;
let writer: Caller;

beforeAll(async () => {
  centre = await startCentre();
  ({ admin } = centre);
  writer = await centre.harness.user('Wanda');
});
afterAll(() => centre[Symbol.asyncDispose]());
afterEach(() => {
  for (const storage of [centre.main, centre.north]) {
    storage.failWith(null);
    storage.before = () => undefined;
    storage.after = () => undefined;
  }
});

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const create = (node_id: string, filename: string, content: string, caller = writer) =>
  centre.harness.call(createFile, { node_id, filename, content }, caller);
const read = (node_id: string, path: string, caller = writer) =>
  centre.harness.call(readFile, { node_id, path }, caller);
const remove = (input: InputOf<typeof deleteFile>, caller = writer): Promise<OutputOf<typeof deleteFile>> =>
  centre.harness.call(deleteFile, { confirmed: true, ...input }, caller);
const move = (input: InputOf<typeof moveFile>, caller = writer): Promise<OutputOf<typeof moveFile>> =>
  centre.harness.call(moveFile, { confirmed: true, ...input }, caller);
const repair = (): Promise<number> => centre.harness.module.get(Repairs).run();
const intents = () =>
  centre.sql<{ kind: string; last_error: string | null }>('SELECT kind, last_error FROM file.pending_op');
const lost = (path: string): RemoteFailure => new RemoteFailure('unavailable', { path });
/** What lies on a remote below a node. */
const below = async (nodeId: string): Promise<Record<string, string>> => {
  const folder = `${await centre.folder(nodeId)}/`;
  const all = { ...(await centre.main.texts()), ...(await centre.north.texts()) };
  return Object.fromEntries(
    Object.entries(all).flatMap(([path, text]) => (path.startsWith(folder) ? [[path.slice(folder.length), text]] : [])),
  );
};

describe('a file of whoever has no workstation', () => {
  it('is made, listed, read, found, replaced, moved and deleted on the remote [files.central.on-the-remote, files.create.central-uploads-first]', async () => {
    const node = await centre.project();
    const made = await create(node, 'Plán prací.md', 'jedna\n');
    expect(made).toMatchObject({
      path: 'wip/Plán prací.md',
      sha256: sha('jedna\n'),
      size_bytes: 6,
      mime_type: 'text/markdown',
      remote_name: 'main',
      current_remote_hash: `sha256:${sha('jedna\n')}`,
      remote_path: `${await centre.folder(node)}/wip/Plán prací.md`,
      local_path: null,
      version: 1,
    });
    expect(await below(node)).toEqual({ 'wip/Plán prací.md': 'jedna\n' });
    expect((await centre.harness.call(listFiles, { node_id: node }, writer)).items).toEqual([made]);
    expect(await read(node, made.path)).toEqual({
      bytes: 6,
      mime: 'text/markdown',
      sha256: made.sha256,
      path: null,
      content: 'jedna\n',
    });
    const { hits, complete } = await centre.harness.call(searchFiles, { query: 'PLAN', node_id: node }, writer);
    expect([hits.map(({ file_id }) => file_id), complete]).toEqual([[made.id], true]);

    const change = { node_id: node, path: made.path, content: 'dvě\n', expected_sha256: made.sha256 ?? '' };
    const written = await centre.harness.call(writeFile, change, writer);
    expect(written).toMatchObject({ id: made.id, version: 2, sha256: sha('dvě\n') });
    const to = { file_id: made.id, new_section: 'outputs' as const, new_filename: 'plan.md' };
    expect(await move({ ...to, confirmed: false })).toMatchObject({ applied: false, to: { path: 'outputs/plan.md' } });
    expect(await move(to)).toMatchObject({ applied: true, repair_needed: false, file: { path: 'outputs/plan.md' } });
    expect(await move(to)).toMatchObject({ applied: true, already_at_target: true });
    expect(await below(node)).toEqual({ 'outputs/plan.md': 'dvě\n' });

    const preview = await remove({ file_id: made.id, confirmed: false });
    expect(preview).toMatchObject({ applied: false, removes: ['record', 'remote_object'], trash_id: null });
    expect(await remove({ file_id: made.id })).toMatchObject({ applied: true, repair_needed: false });
    expect(await below(node)).toEqual({});
    await centre.harness.refusal(readFile, { node_id: node, path: 'outputs/plan.md' }, writer, 'FILE_NOT_FOUND');
    expect(await intents()).toEqual([]);
    const audited = await centre.sql<{ action: string }>(
      `SELECT action FROM audit.entry WHERE target_id = $1 ORDER BY at, id`,
      [made.id],
    );
    expect(audited.map(({ action }) => action)).toEqual(['create_file', 'write_file', 'move_file', 'delete_file']);
  });

  it('goes to the remote that the rules give its node, and to another one with its node [remotes.routing.first-match]', async () => {
    const [acme, north] = [await centre.project(), await centre.project({ organization: 'north' })];
    const made = await create(acme, 'a.txt', 'a');
    expect((await create(north, 'b.txt', 'b')).remote_name).toBe('north');
    const moved = await move({ file_id: made.id, new_node_id: north });
    expect(moved).toMatchObject({ applied: true, file: { node_id: north, remote_name: 'north', sha256: sha('a') } });
    expect([await below(acme), await below(north)]).toEqual([{}, { 'wip/a.txt': 'a', 'wip/b.txt': 'b' }]);
    expect((await read(north, 'wip/a.txt')).content).toBe('a');
  });

  it('is refused where no rule gives the node a remote', async () => {
    const node = await centre.project();
    await centre.sql(`UPDATE file.routing_rule SET node_type = 'area' WHERE remote_name = 'main'`);
    await centre.harness.refusal(createFile, { node_id: node, filename: 'a.txt' }, writer, 'NO_REMOTE');
    await centre.sql(`UPDATE file.routing_rule SET node_type = NULL WHERE remote_name = 'main'`);
  });

  it('is never overwritten unseen: what lies there is told, whoever put it there [files.central.no-blind-overwrite, remotes.destination-checked]', async () => {
    const node = await centre.project();
    const folder = await centre.folder(node);
    centre.main.plant(`${folder}/wip/there.txt`, Buffer.from('of somebody else'));
    const refused = await centre.harness.refusal(
      createFile,
      { node_id: node, filename: 'there.txt', content: 'mine' },
      writer,
      'DESTINATION_EXISTS',
    );
    expect(JSON.stringify(refused.toBody(''))).not.toContain(folder);
    const made = await create(node, 'a.txt', 'one');
    await centre.harness.refusal(createFile, { node_id: node, filename: 'A.TXT' }, writer, 'DESTINATION_EXISTS');
    centre.main.plant(`${folder}/wip/a.txt`, Buffer.from('edited elsewhere'));
    const change = { node_id: node, path: made.path, content: 'two', expected_sha256: sha('one') };
    const { details } = await centre.harness.refusal(writeFile, change, writer, 'CONFLICT');
    expect(details).toMatchObject({ current: { sha256: sha('edited elsewhere') } });
    expect(await read(node, made.path)).toMatchObject({ content: 'edited elsewhere', sha256: sha('edited elsewhere') });
    await centre.harness.refusal(deleteFile, { file_id: made.id, confirmed: true }, writer, 'CONFLICT');
    expect(await below(node)).toEqual({ 'wip/there.txt': 'of somebody else', 'wip/a.txt': 'edited elsewhere' });
    // The refusal has told what is there: who asks again knows it.
    expect(await remove({ file_id: made.id })).toMatchObject({ applied: true });
    expect(await below(node)).toEqual({ 'wip/there.txt': 'of somebody else' });
  });

  it('is written by one at a time: of many who replace the same content one does [files.central.serialised]', async () => {
    const node = await centre.project();
    const made = await create(node, 'a.txt', 'start');
    const change = { node_id: node, path: made.path, expected_sha256: sha('start') };
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        centre.harness.call(writeFile, { ...change, content: `of ${index}` }, writer),
      ),
    );
    const done = attempts.filter(({ status }) => status === 'fulfilled');
    expect(done).toHaveLength(1);
    const [file] = (await centre.harness.call(listFiles, { node_id: node }, writer)).items;
    expect(sha((await below(node))['wip/a.txt'] ?? '')).toBe(file?.sha256);
    const makers = await Promise.allSettled(Array.from({ length: 8 }, () => create(node, 'new.txt', 'same')));
    expect(makers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is text where text is to be replaced', async () => {
    const node = await centre.project();
    const input = { node_id: node, filename: 'a.bin', content: '//79/A==', encoding: 'base64' as const };
    const made = await centre.harness.call(createFile, input, writer);
    expect((await read(node, made.path)).content).toMatch(/^\[binary file, 4 bytes, base64\]\n/);
    const change = { node_id: node, path: made.path, content: 'text', expected_sha256: made.sha256 ?? '' };
    await centre.harness.refusal(writeFile, change, writer, 'NOT_EDITABLE');
  });

  it('that is large is answered by its beginning', async () => {
    const node = await centre.project();
    const made = await create(node, 'a.txt', 'short');
    const text = 'x'.repeat(LIMITS.inlineFileBytes + 1);
    centre.main.plant(made.remote_path, Buffer.from(text));
    const told = await read(node, made.path);
    expect(told).toMatchObject({ bytes: text.length, sha256: sha(text), content: null, path: null });
    expect(text.startsWith(told.excerpt ?? '?')).toBe(true);
  });
});

describe('who may do what with files on the remote', () => {
  it('follows the node: a hidden one is told as none, one for reading only as that [files.central.access]', async () => {
    const [reader, stranger] = [await centre.harness.user('Rita'), await centre.harness.user('Sam')];
    const node = await centre.project({ readers: [reader] });
    const made = await create(node, 'secret.txt', 'secret', admin);
    expect((await read(node, made.path, reader)).content).toBe('secret');
    const input = { node_id: node, path: made.path };
    const write = { ...input, content: 'x', expected_sha256: made.sha256 ?? '' };
    const file = { file_id: made.id, confirmed: true };
    for (const [caller, ofNode, ofFile] of [
      [reader, 'FORBIDDEN', 'FORBIDDEN'],
      [stranger, 'NODE_NOT_FOUND', 'FILE_NOT_FOUND'],
    ] as const) {
      await centre.harness.refusal(createFile, { node_id: node, filename: 'b.txt' }, caller, ofNode);
      await centre.harness.refusal(writeFile, write, caller, ofNode);
      await centre.harness.refusal(deleteFile, file, caller, ofFile);
      await centre.harness.refusal(moveFile, { ...file, new_filename: 'c.txt' }, caller, ofFile);
    }
    await centre.harness.refusal(readFile, input, stranger, 'NODE_NOT_FOUND');
    await centre.harness.refusal(listFiles, { node_id: node }, stranger, 'NODE_NOT_FOUND');
    expect((await centre.harness.call(searchFiles, { query: 'secret' }, stranger)).hits).toEqual([]);
    const open = await centre.project();
    const own = await create(open, 'own.txt', 'own', stranger);
    const into = { file_id: own.id, new_node_id: node, confirmed: true };
    await centre.harness.refusal(moveFile, into, stranger, 'NODE_NOT_FOUND');
    await centre.harness.refusal(moveFile, into, reader, 'FORBIDDEN');
    expect(await below(node)).toEqual({ 'wip/secret.txt': 'secret' });
  });

  it('is what the session of an agent holds [files.central.session-scope]', async () => {
    const [node, other] = [await centre.project(), await centre.project()];
    await create(other, 'a.txt', 'a');
    const agent = await centre.harness.session(writer, { home: node });
    await create(node, 'b.txt', 'b', agent);
    await centre.harness.refusal(readFile, { node_id: other, path: 'wip/a.txt' }, agent, 'scope_expansion_required');
    const looking = await centre.harness.session(writer, { read: [node] });
    expect((await read(node, 'wip/b.txt', looking)).content).toBe('b');
    await centre.harness.refusal(createFile, { node_id: node, filename: 'c.txt' }, looking, 'scope_expansion_required');
  });
});

describe('what breaks off between the remote and the record', () => {
  it('a call that is repeated answers as the first time, also when it was not heard that the content was stored [files.central.repeatable]', async () => {
    const node = await centre.project();
    const callId = newId();
    const createOnce = () =>
      centre.harness.call(createFile, { node_id: node, filename: 'a.txt', content: 'once' }, writer, callId);
    centre.main.after = (what, path) => {
      if (what === 'write') throw lost(path);
    };
    await expect(createOnce()).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    centre.main.after = () => undefined;
    expect(await below(node)).toEqual({ 'wip/a.txt': 'once' });
    const made = await createOnce();
    expect(await createOnce()).toEqual(made);
    const file_id = made.id;
    const again = newId();
    const input = { file_id, new_filename: 'b.txt', confirmed: true };
    const moved = await centre.harness.call(moveFile, input, writer, again);
    expect(await centre.harness.call(moveFile, input, writer, again)).toEqual(moved);
  });

  it('a content whose record is refused is taken back', async () => {
    const node = await centre.project();
    const leaving = await centre.harness.user('Lea');
    centre.main.after = async () => {
      await centre.sql(`UPDATE graph.node SET visibility = 'group' WHERE id = $1`, [node]);
      await centre.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [node]);
    };
    await centre.harness.refusal(
      createFile,
      { node_id: node, filename: 'a.txt', content: 'late' },
      leaving,
      'NODE_NOT_FOUND',
    );
    expect(await below(node)).toEqual({});
  });

  it.each(['remove', 'move'] as const)(
    'a %s of which nothing was heard is told as to be repaired, and is finished [files.central.repair, sync.pending-ops.intent]',
    async (what) => {
      const node = await centre.project();
      const made = await create(node, 'a.txt', 'content');
      const run = () =>
        what === 'remove' ? remove({ file_id: made.id }) : move({ file_id: made.id, new_filename: 'b.txt' });
      centre.main.before = (_what, path) => {
        throw lost(path);
      };
      expect(await run()).toMatchObject({
        applied: false,
        repair_needed: true,
        hint: expect.stringContaining('recorded'),
      });
      expect(await intents()).toEqual([
        { kind: what === 'remove' ? 'delete' : 'move', last_error: expect.any(String) },
      ]);
      expect(await below(node)).toEqual({ 'wip/a.txt': 'content' });
      // A deletion was confirmed and is carried out as soon as it can be; a move that never began is none.
      expect(await repair()).toBe(what === 'remove' ? 0 : 1);
      centre.main.before = () => undefined;
      expect(await repair()).toBe(what === 'remove' ? 1 : 0);
      expect(await intents()).toEqual([]);
      expect(await below(node)).toEqual(what === 'remove' ? {} : { 'wip/a.txt': 'content' });
      expect((await centre.harness.call(listFiles, { node_id: node }, writer)).items.map(({ path }) => path)).toEqual(
        what === 'remove' ? [] : ['wip/a.txt'],
      );
    },
  );

  it.each(['remove', 'move'] as const)(
    'a %s that was done on the remote alone is finished in the record',
    async (what) => {
      const node = await centre.project();
      const made = await create(node, 'a.txt', 'content');
      centre.main.after = (_what, path) => {
        throw lost(path);
      };
      const run = () =>
        what === 'remove' ? remove({ file_id: made.id }) : move({ file_id: made.id, new_filename: 'b.txt' });
      expect(await run()).toMatchObject({ applied: false, repair_needed: true });
      centre.main.after = () => undefined;
      expect(await repair()).toBe(1);
      const { items } = await centre.harness.call(listFiles, { node_id: node }, writer);
      expect(items.map(({ path }) => path)).toEqual(what === 'remove' ? [] : ['wip/b.txt']);
      expect(await below(node)).toEqual(what === 'remove' ? {} : { 'wip/b.txt': 'content' });
      if (what === 'move') expect((await read(node, 'wip/b.txt')).content).toBe('content');
    },
  );

  it('a content that was stored without its record is recorded by the call that is repeated, and is a conflict to others [files.central.repeatable]', async () => {
    const node = await centre.project();
    const { path } = await create(node, 'a.txt', 'old');
    const change = { node_id: node, path, content: 'new', expected_sha256: sha('old') };
    const callId = newId();
    const writeOnce = () => centre.harness.call(writeFile, change, writer, callId);
    centre.main.after = (_what, object) => {
      throw lost(object);
    };
    await expect(writeOnce()).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    centre.main.after = () => undefined;
    await centre.harness.refusal(writeFile, { ...change, content: 'other' }, writer, 'CONFLICT');
    const written = await writeOnce();
    expect(written).toMatchObject({ path, sha256: sha('new') });
    expect(await writeOnce()).toEqual(written);
    await centre.harness.refusal(writeFile, change, writer, 'CONFLICT');
    expect(await below(node)).toEqual({ 'wip/a.txt': 'new' });
  });

  it('a move that was done on the remote alone is finished by the call that is repeated [files.central.repeatable]', async () => {
    const node = await centre.project();
    const { id } = await create(node, 'a.txt', 'content');
    const callId = newId();
    const moveOnce = () =>
      centre.harness.call(moveFile, { file_id: id, new_filename: 'b.txt', confirmed: true }, writer, callId);
    centre.main.after = (_what, path) => {
      throw lost(path);
    };
    expect(await moveOnce()).toMatchObject({ applied: false, repair_needed: true });
    centre.main.after = () => undefined;
    const moved = await moveOnce();
    expect(moved).toMatchObject({ applied: true, repair_needed: false, file: { path: 'wip/b.txt' } });
    expect(await moveOnce()).toEqual(moved);
    expect([await intents(), await below(node)]).toEqual([[], { 'wip/b.txt': 'content' }]);
  });

  it('a deletion of a file of which a move was done on the remote alone takes its object along', async () => {
    const node = await centre.project();
    const { id } = await create(node, 'a.txt', 'content');
    centre.main.after = (_what, path) => {
      throw lost(path);
    };
    expect(await move({ file_id: id, new_filename: 'b.txt' })).toMatchObject({ repair_needed: true });
    centre.main.after = () => undefined;
    expect(await remove({ file_id: id })).toMatchObject({ applied: true, removes: ['record', 'remote_object'] });
    expect([await intents(), await below(node)]).toEqual([[], {}]);
  });

  it('a move to another remote leaves one copy, whichever step is lost [files.move.two-remotes]', async () => {
    const [acme, north] = [await centre.project(), await centre.project({ organization: 'north' })];
    const made = await create(acme, 'a.txt', 'content');
    const across = { file_id: made.id, new_node_id: north };
    centre.north.after = (_what, path) => {
      throw lost(path);
    };
    expect(await move(across)).toMatchObject({ applied: false, repair_needed: true });
    expect([await below(acme), await below(north)]).toEqual([{ 'wip/a.txt': 'content' }, { 'wip/a.txt': 'content' }]);
    centre.north.after = () => undefined;
    expect(await repair()).toBe(1);
    expect([await below(acme), await below(north)]).toEqual([{ 'wip/a.txt': 'content' }, {}]);
    centre.main.before = (what, path) => {
      if (what === 'remove') throw lost(path);
    };
    expect(await move(across)).toMatchObject({ applied: true, file: { node_id: north } });
    expect(await intents()).toHaveLength(1);
    centre.main.before = () => undefined;
    expect(await repair()).toBe(1);
    expect([await below(acme), await below(north)]).toEqual([{}, { 'wip/a.txt': 'content' }]);
  });

  it('a deletion is not carried out later on what somebody has put there meanwhile', async () => {
    const node = await centre.project();
    const made = await create(node, 'a.txt', 'old');
    centre.main.before = (_what, path) => {
      throw lost(path);
    };
    await remove({ file_id: made.id });
    centre.main.before = () => undefined;
    const change = { node_id: node, path: made.path, content: 'new', expected_sha256: sha('old') };
    await centre.harness.call(writeFile, change, writer);
    expect(await repair()).toBe(1);
    expect(await below(node)).toEqual({ 'wip/a.txt': 'new' });
  });

  it('a remote that cannot be reached is told as that, and what is not changed is as before', async () => {
    const node = await centre.project();
    const made = await create(node, 'a.txt', 'a');
    centre.main.failWith('unavailable', 7);
    const input = { node_id: node, path: made.path };
    const { details } = await centre.harness.refusal(readFile, input, writer, 'REMOTE_UNAVAILABLE');
    expect(details).toMatchObject({ retry_after_seconds: 7 });
    await centre.harness.refusal(createFile, { node_id: node, filename: 'b.txt' }, writer, 'REMOTE_UNAVAILABLE');
    expect((await centre.harness.call(listFiles, { node_id: node }, writer)).items).toHaveLength(1);
    expect((await centre.harness.call(searchFiles, { query: 'a', node_id: node }, writer)).hits).toHaveLength(1);
  });

  it('an emptied root is no empty remote: nothing is told as gone and nothing is written [remotes.root-marker.absence]', async () => {
    const node = await centre.project({ organization: 'north' });
    const made = await create(node, 'a.txt', 'a');
    const { revision } = (await centre.north.stat('.workspace-graph.json')) as { revision: string };
    const marker = await centre.north.text('.workspace-graph.json');
    const object = (await centre.north.stat(made.remote_path)) as { revision: string };
    await centre.north.remove('.workspace-graph.json', { expected: revision });
    await centre.north.remove(made.remote_path, { expected: object.revision });
    for (const [operation, input] of [
      [readFile, { node_id: node, path: made.path }],
      [createFile, { node_id: node, filename: 'b.txt' }],
      [deleteFile, { file_id: made.id, confirmed: true }],
    ] as const) {
      const { details } = await centre.harness.refusal(operation, input, writer, 'REMOTE_REFUSED');
      expect(details).toMatchObject({ reason: 'wrong_root' });
    }
    centre.north.plant('.workspace-graph.json', Buffer.from(marker));
    await centre.harness.refusal(readFile, { node_id: node, path: made.path }, writer, 'FILE_NOT_FOUND');
    expect(await remove({ file_id: made.id })).toMatchObject({ applied: true });
  });
});
