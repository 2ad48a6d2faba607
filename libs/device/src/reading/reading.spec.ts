import { createHash } from 'node:crypto';
import { mkdir, readFile as readDisk, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Caller, LIMITS, listFiles, readFile } from '@workspace-graph/contracts';
import { locate, readContent } from '@workspace-graph/disk';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('reading files', () => {
  let device: DeviceFixture;
  let nodeId: string;
  let path: string;

  beforeAll(async () => {
    device = await startDevice();
    ({ nodeId, path } = await device.mirror('Bakery'));
  });
  afterAll(() => device.close());

  const agent = (home: string | null, session = 'one'): Caller => ({
    ...device.person('read'),
    via: 'mcp',
    session_key: session,
    home_node_id: home,
  });
  const save = async (name: string, content: string | Uint8Array, folder = path): Promise<void> => {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), content);
  };
  /** Writes a file and makes it known, as the scan does. */
  const track = async (node: { nodeId: string; path: string }, name: string, content = name): Promise<void> => {
    await save(name, content, node.path);
    const seen = await readContent(await locate(node.path, name));
    await device.parts.locks.run([node.nodeId], () =>
      device.parts.files.apply(node.nodeId, [{ kind: 'register', path: name, seen }], {
        action: 'test',
        asker: null,
        strict: true,
      }),
    );
  };

  it('lists 500 files unless asked for another number, at most 2,000 [limits.list-files]', async () => {
    const many = device.records.node({ name: 'Archive' });
    await track({ nodeId, path }, 'wip/template.md');
    const template = device.records.recordAt(nodeId, 'wip/template.md');
    if (!template) throw new Error('the file was just registered');
    for (let index = 0; index <= 2_000; index += 1) {
      const id = newId();
      device.records.records.set(id, { ...template, id, node_id: many, path: `wip/${index}.md` });
    }
    const first = await device.call(listFiles, { node_id: many });
    expect([first.items.length, first.next_cursor]).toEqual([500, expect.any(String)]);
    expect((await device.call(listFiles, { node_id: many, limit: 2_000 })).items).toHaveLength(2_000);
    await device.refusal(listFiles, { node_id: many, limit: 2_001 }, 'VALIDATION_FAILED');
    for (const { id } of device.records.recordsOf(many)) device.records.records.delete(id);
  });

  it('answers UTF-8 text as text, with the hash of what was read [files.read-tool.text-and-binary]', async () => {
    const text = 'žluťoučký kůň\r\n\u{1f3b8}';
    await save('wip/notes/plan.md', text);

    expect(await device.call(readFile, { node_id: nodeId, path: 'wip/notes/plan.md' })).toEqual({
      bytes: Buffer.byteLength(text),
      mime: 'text/markdown',
      sha256: sha256(text),
      path: null,
      content: text,
    });
  });

  it.each([
    ['bytes that are no UTF-8', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff])],
    ['text with NUL', Buffer.from('a\0b')],
    ['half a character at the end', Buffer.from('ž').subarray(0, 1)],
  ])('answers %s as base64 behind a line that says so [files.read-tool.text-and-binary]', async (_name, bytes) => {
    await save('outputs/odd.bin', bytes);
    const answer = await device.call(readFile, { node_id: nodeId, path: 'outputs/odd.bin' });

    expect(answer.content).toBe(`[binary file, ${bytes.length} bytes, base64]\n${bytes.toString('base64')}`);
    expect(answer.sha256).toBe(sha256(bytes));
  });

  it('answers an empty file, and one of exactly 1 MB when asked for it in full, inline; a byte more as a path [limits.inline-read-1mb]', async () => {
    await save('wip/empty.txt', '');
    await save('wip/full.txt', 'x'.repeat(LIMITS.inlineFileBytes));
    await save('wip/more.txt', 'x'.repeat(LIMITS.inlineFileBytes + 1));
    const read = (file: string, input: { full?: boolean } = {}) =>
      device.call(readFile, { node_id: nodeId, path: file, ...input }, agent(nodeId));

    expect(await read('wip/empty.txt')).toMatchObject({ bytes: 0, content: '', path: null });
    expect((await read('wip/full.txt', { full: true })).content).toHaveLength(LIMITS.inlineFileBytes);
    const more = await read('wip/more.txt', { full: true });
    expect(more).toMatchObject({ bytes: LIMITS.inlineFileBytes + 1, content: null, mime: 'text/plain' });
    expect(sha256(await readDisk(more.path ?? ''))).toBe(more.sha256);
  });

  it('answers what costs more than max_tokens as a path with its beginning, unless asked for all of it [files.read-tool.max-tokens]', async () => {
    const text = 'Pec je horká a těsto kyne. '.repeat(4_000);
    const bytes = Buffer.alloc(60_000, 0xff);
    await save('wip/long.md', text);
    await save('wip/photo.bin', bytes);
    const read = (file: string, input: { full?: boolean; max_tokens?: number } = {}) =>
      device.call(readFile, { node_id: nodeId, path: file, ...input }, agent(nodeId));

    const long = await read('wip/long.md');
    expect(long).toMatchObject({ content: null, sha256: sha256(text), bytes: Buffer.byteLength(text) });
    expect(text.startsWith(long.excerpt ?? 'nothing')).toBe(true);
    expect(await readDisk(long.path ?? '', 'utf8')).toBe(text);
    expect(await read('wip/long.md', { full: true })).toMatchObject({ content: text, path: null });
    expect(await read('wip/long.md', { max_tokens: 100_000 })).toMatchObject({ content: text, path: null });
    expect(await read('wip/photo.bin')).toMatchObject({ content: null, excerpt: '[binary file, 60000 bytes]' });
  });

  it('answers a path into the projection when it is asked for one [files.read-tool.as-path]', async () => {
    await save('wip/as-path.md', 'on disk');
    const answer = await device.call(
      readFile,
      { node_id: nodeId, path: 'wip/as-path.md', as_path: true },
      agent(nodeId),
    );

    expect(answer).toMatchObject({ bytes: 7, mime: 'text/markdown', sha256: sha256('on disk'), content: null });
    expect(answer.path?.startsWith(join(device.root, '.svc', 'projections'))).toBe(true);
    expect(await readDisk(answer.path ?? '', 'utf8')).toBe('on disk');
  });

  it('finds a file whatever the normal form of its name is, here and there [files.path.nfc]', async () => {
    await save(`wip/${'příloha.txt'.normalize('NFD')}`, 'x');

    for (const form of ['NFC', 'NFD'])
      expect(
        await device.call(readFile, { node_id: nodeId, path: 'wip/příloha.txt'.normalize(form) }, agent(nodeId)),
      ).toMatchObject({ content: 'x' });
  });

  it('fails with a code of its own for each thing that is missing [files.read-tool.errors, errors.file-not-found, errors.no-mirror]', async () => {
    const bare = device.records.node({ name: 'Bare' });
    await track({ nodeId, path }, 'wip/cloud.gdoc');
    const record = device.records.recordAt(nodeId, 'wip/cloud.gdoc');
    if (record) device.records.records.set(record.id, { ...record, is_native_format: true });
    await mkdir(join(path, 'wip/folder'), { recursive: true });
    const refuse = (node_id: string, file: string, code: Parameters<DeviceFixture['refusal']>[2]) =>
      device.refusal(readFile, { node_id, path: file }, code);

    await refuse('01890000-0000-7000-8000-00000000ffff', 'wip/plan.md', 'NODE_NOT_FOUND');
    await refuse(bare, 'wip/plan.md', 'NO_MIRROR');
    await refuse(nodeId, 'wip/absent.md', 'FILE_NOT_FOUND');
    await refuse(nodeId, 'wip/folder', 'FILE_NOT_FOUND');
    await refuse(nodeId, 'wip/cloud.gdoc', 'NATIVE_FORMAT');
    await refuse(nodeId, 'plan.md', 'VALIDATION_FAILED');
  });

  it('reads nothing outside of the sections, no link, no ignored name, and says no path of the host', async () => {
    await writeFile(join(device.root, 'secret.txt'), 'secret');
    await symlink(join(device.root, 'secret.txt'), join(path, 'wip/link.txt'));
    await symlink(device.root, join(path, 'wip/out'));
    await save('wip/.env', 'KEY=1');
    const hostile = [
      '../secret.txt',
      'wip/../../../secret.txt',
      'wip/link.txt',
      'wip/out/secret.txt',
      'wip/.env',
      'wip//x',
      'wip/a\\b',
      '/etc/passwd',
      'SVC_SCOPE.md',
      '.mcp.json',
    ];

    for (const name of hostile) {
      const error = await device
        .call(readFile, { node_id: nodeId, path: name })
        .then(JSON.stringify, (reason: unknown) => reason as Error & { code: string });
      expect(error).toMatchObject({ code: expect.stringMatching(/^(VALIDATION_FAILED|FILE_NOT_FOUND)$/) });
      expect((error as Error).message).not.toContain(device.root);
    }
  });

  it('keeps a hidden node hidden, whatever the path [files.read-tool.errors]', async () => {
    const hidden = device.records.node({ name: 'Hidden', seenBy: new Set() });
    const absent = '01890000-0000-7000-8000-00000000fffe';
    const told = async (node_id: string, file: string) => {
      const error = await device.refusal(readFile, { node_id, path: file }, 'NODE_NOT_FOUND', device.caller('read'));
      return error.message.replaceAll(node_id, 'ID');
    };

    for (const file of ['wip/x.md', '../x', 'x', 'wip/.env'])
      expect(await told(hidden, file)).toBe(await told(absent, file));
  });

  it('reads a large file for its path with constant memory', async () => {
    const sizeBytes = 64 * 1_048_576;
    await save('resources/large.bin', '');
    await truncate(join(path, 'resources/large.bin'), sizeBytes);
    const answer = await device.call(readFile, { node_id: nodeId, path: 'resources/large.bin' }, agent(nodeId));

    expect(answer).toMatchObject({ bytes: sizeBytes, content: null });
    expect((await stat(answer.path ?? '')).size).toBe(sizeBytes);
  });

  it('lists records with everything that a listing tells [files.record.fields, files.record.status-by-section, files.record.local-path-derived]', async () => {
    const node = await device.mirror('Fields');
    await track(node, 'wip/notes/plan.md');
    await track(node, 'outputs/report.pdf');
    await track(node, 'resources/source.csv');
    const { items } = await device.call(listFiles, { node_id: node.nodeId });

    expect(
      items.map(({ path: file, status, section, subpath, filename }) => [file, status, section, subpath, filename]),
    ).toEqual(
      expect.arrayContaining([
        ['wip/notes/plan.md', 'wip', 'wip', 'notes', 'plan.md'],
        ['outputs/report.pdf', 'output', 'outputs', null, 'report.pdf'],
        ['resources/source.csv', null, 'resources', null, 'source.csv'],
      ]),
    );
    expect(items.find(({ filename }) => filename === 'plan.md')).toMatchObject({
      node_name: 'Fields',
      node_type: 'project',
      remote_path: 'acme/projects/fields/wip/notes/plan.md',
      local_path: join(node.path, 'wip/notes/plan.md'),
      version: 1,
    });
  });

  it('answers no local path for a node without a folder here [files.record.local-path-derived]', async () => {
    const node = await device.mirror('Elsewhere');
    await track(node, 'wip/a.md');
    device.parts.store.removeMirror(node.nodeId);

    expect((await device.call(listFiles, { node_id: node.nodeId })).items).toMatchObject([{ local_path: null }]);
    expect((await device.call(listFiles, { node_id: node.nodeId }, agent(nodeId))).items).toMatchObject([
      { local_path: null },
    ]);
  });

  it('lists the real path in the home node, and a projection of every other one', async () => {
    const other = await device.mirror('Neighbour');
    await track({ nodeId, path }, 'wip/home.md');
    await track(other, 'wip/deep/er/other.md');
    const list = async (node_id: string, as: Caller) => (await device.call(listFiles, { node_id }, as)).items;

    const home = (await list(nodeId, agent(nodeId))).find(({ filename }) => filename === 'home.md');
    expect(home?.local_path).toBe(join(path, 'wip/home.md'));
    const [seen] = await list(other.nodeId, agent(nodeId));
    expect(seen?.local_path?.startsWith(join(device.root, '.svc', 'projections'))).toBe(true);
    const [shown, real] = await Promise.all([
      stat(seen?.local_path ?? ''),
      stat(join(other.path, 'wip/deep/er/other.md')),
    ]);
    expect(shown.ino).toBe(real.ino);
    expect((await list(other.nodeId, device.person('read')))[0]?.local_path).toBe(
      join(other.path, 'wip/deep/er/other.md'),
    );
  });

  it('pages, and narrows to a status [files.list.newest-first]', async () => {
    const node = await device.mirror('Paged');
    for (const name of ['wip/a.md', 'outputs/b.md', 'wip/c.md']) await track(node, name);
    const first = await device.call(listFiles, { node_id: node.nodeId, limit: 2 });
    const second = await device.call(listFiles, { node_id: node.nodeId, limit: 2, cursor: first.next_cursor ?? '' });

    expect([...first.items, ...second.items].map(({ filename }) => filename)).toEqual(['c.md', 'b.md', 'a.md']);
    expect(second.next_cursor).toBeNull();
    expect((await device.call(listFiles, { node_id: node.nodeId, status: 'output' })).items).toHaveLength(1);
  });
});
