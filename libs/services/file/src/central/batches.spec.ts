import { createHash, randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import {
  applyFileChanges,
  beginPulls,
  beginPushes,
  type Caller,
  deleteFile,
  type FileChange,
  type Framed,
  framed,
  LIMITS,
  type Pull,
  type Push,
  type PushOutcome,
  type SentContent,
  unframed,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type CentreFixture, startCentre } from './central.fixture.js';

let centre: CentreFixture;
let writer: Caller;
let node: string;

beforeAll(async () => {
  centre = await startCentre();
  writer = await centre.harness.user('Wanda');
});
beforeEach(async () => {
  node = await centre.project();
});
afterEach(() => {
  centre.main.failWith(null);
  centre.main.before = () => undefined;
});
afterAll(() => centre[Symbol.asyncDispose]());

const sha = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const NOW = '2026-11-26T10:00:00.000Z';
const told = (bytes: string | Uint8Array) => ({
  sha256: sha(bytes),
  size_bytes: Buffer.byteLength(bytes),
  mime_type: 'text/plain',
  modified_at: NOW,
});

/** Records of files that a workstation has tracked. Answers their ids, in the order of the names. */
async function tracked(contents: Readonly<Record<string, string>>, nodeId = node): Promise<string[]> {
  const changes = Object.entries(contents).map(
    ([name, content]): FileChange => ({ kind: 'register', path: `wip/${name}`, ...told(content) }),
  );
  const input = { node_id: nodeId, action: 'scan_mirror', changes, strict: true };
  const { results } = await centre.harness.call(applyFileChanges, input, { ...writer, device_id: newId() });
  return results.flatMap((result) => ('file' in result && result.file ? result.file.id : []));
}

interface Sending {
  readonly id: string;
  readonly content: string | Uint8Array;
  readonly buildsOn?: string | null;
  readonly told?: Partial<Push>;
}

const contentOf = ({ id, content, buildsOn = null, told: other = {} }: Sending): Framed<Push> => {
  const { mime_type: _type, ...facts } = told(content);
  return { header: { file_id: id, ...facts, builds_on: buildsOn, ...other }, bytes: Buffer.from(content as string) };
};

async function* all<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

async function put(sendings: readonly Sending[], caller = writer): Promise<Response> {
  const { transfer } = await centre.harness.call(beginPushes, { node_id: node }, caller);
  const parts: Uint8Array[] = [];
  for await (const part of framed(all(sendings.map(contentOf)))) parts.push(part);
  const headers = { authorization: `Bearer ${transfer.ticket}` };
  return fetch(transfer.url, { method: 'PUT', headers, body: new Uint8Array(Buffer.concat(parts)) });
}

/** Codes of what was refused, by id; null for what was stored. */
async function push(...sendings: readonly Sending[]): Promise<Record<string, string | null>> {
  const response = await put(sendings);
  const { outcomes } = (await response.json()) as { outcomes: PushOutcome[] };
  expect(outcomes.map(({ file_id }) => file_id)).toEqual(sendings.map(({ id }) => id));
  return Object.fromEntries(
    outcomes.map(({ file_id, pushed, refused }) => [file_id, pushed ? null : (refused?.code ?? 'nothing')]),
  );
}

async function pull(pulls: readonly Pull[], nodeId = node): Promise<Framed<SentContent>[]> {
  const { transfer } = await centre.harness.call(beginPulls, { node_id: nodeId, pulls: [...pulls] }, writer);
  const response = await fetch(transfer.url, { headers: { authorization: `Bearer ${transfer.ticket}` } });
  const found: Framed<SentContent>[] = [];
  if (response.body)
    for await (const { header, bytes } of unframed(response.body, LIMITS.batchedFileBytes))
      found.push({ header: header as SentContent, bytes });
  return found;
}

const stored = async (nodeId = node): Promise<Record<string, string>> => {
  const folder = `${await centre.folder(nodeId)}/wip/`;
  const texts = Object.entries(await centre.main.texts());
  return Object.fromEntries(
    texts.flatMap(([path, text]) => (path.startsWith(folder) ? [[path.slice(folder.length), text]] : [])),
  );
};
const remoteHash = async (id: string): Promise<string | null> => {
  const rows = await centre.sql<{ hash: string | null }>(
    'SELECT current_remote_hash AS hash FROM file.record WHERE id = $1',
    [id],
  );
  return rows[0]?.hash ?? null;
};

describe('contents that a workstation sends together', () => {
  it('are stored and recorded, each where its record tells, and each is told in the audit trail', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 60 }, (_none, index) => [`${index}.txt`, `text ${index}`]),
    );
    const ids = await tracked(contents);
    const texts = Object.values(contents);
    const codes = await push(...ids.map((id, index) => ({ id, content: texts[index] ?? '' })));
    expect(new Set(Object.values(codes))).toEqual(new Set([null]));
    expect(await stored()).toEqual(contents);
    expect(await remoteHash(ids[7] ?? '')).toBe(`sha256:${sha('text 7')}`);
    const [lines] = await centre.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM audit.entry WHERE action = 'store_file' AND target_id = ANY ($1::uuid[])`,
      [ids],
    );
    expect(lines?.count).toBe(60);
  });

  it('replace what they build on, and are there already when they are sent again', async () => {
    const [one = '', two = ''] = await tracked({ 'a.txt': 'a', 'b.txt': 'b' });
    await push({ id: one, content: 'a' }, { id: two, content: 'b' });
    const again = [
      { id: one, content: 'a, edited', buildsOn: sha('a') },
      { id: two, content: 'b', buildsOn: sha('b') },
    ];
    expect(await push(...again)).toEqual({ [one]: null, [two]: null });
    expect(await push(...again)).toEqual({ [one]: null, [two]: null });
    expect(await stored()).toEqual({ 'a.txt': 'a, edited', 'b.txt': 'b' });
  });

  it('replace nothing that their device has not seen, and keep nobody else from being stored', async () => {
    const ids = await tracked({ 'new.txt': 'new', 'edited.txt': 'mine', 'taken.txt': 'mine', 'same.txt': 'same' });
    const [fresh = '', edited = '', taken = '', same = ''] = ids;
    await push({ id: edited, content: 'first' });
    const folder = `${await centre.folder(node)}/wip`;
    centre.main.plant(`${folder}/edited.txt`, Buffer.from('edited by somebody'));
    centre.main.plant(`${folder}/taken.txt`, Buffer.from('put there by somebody'));
    centre.main.plant(`${folder}/same.txt`, Buffer.from('same'));
    const codes = await push(
      { id: edited, content: 'mine', buildsOn: sha('first') },
      { id: taken, content: 'mine' },
      { id: fresh, content: 'new' },
      { id: same, content: 'same' },
    );
    expect(codes).toEqual({ [edited]: 'CONFLICT', [taken]: 'CONFLICT', [fresh]: null, [same]: null });
    expect(await stored()).toEqual({
      'new.txt': 'new',
      'edited.txt': 'edited by somebody',
      'taken.txt': 'put there by somebody',
      'same.txt': 'same',
    });
    expect(await remoteHash(same)).toBe(`sha256:${sha('same')}`);
  });

  it('say the way out of something in their place that no file knows: their other name', async () => {
    const [first = ''] = await tracked({ 'plan.txt': 'mine' });
    centre.main.plant(`${await centre.folder(node)}/wip/plan.txt`, Buffer.from('put there by somebody'));
    const { outcomes } = (await (await put([{ id: first, content: 'mine' }])).json()) as { outcomes: PushOutcome[] };
    expect(outcomes[0]?.refused).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('another name') });
    expect(outcomes[0]?.refused?.message).not.toContain('Pull it');
    const [other = ''] = await tracked({ 'my-plan.txt': 'mine' });
    expect(await push({ id: other, content: 'mine' })).toEqual({ [other]: null });
  });

  it('take up nothing that a purged node has left, be it the same content', async () => {
    const [id = ''] = await tracked({ 'left.txt': 'same' });
    const path = `${await centre.folder(node)}/wip/left.txt`;
    centre.main.plant(path, Buffer.from('same'));
    await centre.sql(
      `INSERT INTO file.tombstone (id, file_id, node_id, path, remote_name, remote_path, reason)
       VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'wip/left.txt', 'main', $1, 'purged')`,
      [path],
    );
    expect(await push({ id, content: 'same' })).toEqual({ [id]: 'DESTINATION_EXISTS' });
    expect(await push({ id, content: 'other' })).toEqual({ [id]: 'DESTINATION_EXISTS' });
    expect(await remoteHash(id)).toBeNull();
  });

  it('are nothing where they differ from what was told of them', async () => {
    const [one = '', two = '', three = ''] = await tracked({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
    const codes = await push(
      { id: one, content: 'a', told: { sha256: sha('another') } },
      { id: two, content: 'b', told: { size_bytes: 5 } },
      { id: three, content: 'c' },
    );
    expect(codes).toEqual({ [one]: 'CONFLICT', [two]: 'CONFLICT', [three]: null });
    expect(await stored()).toEqual({ 'c.txt': 'c' });
  });

  it('are refused of files that the caller does not see, may not write on, or that belong to another node', async () => {
    const elsewhere = await centre.project();
    const hidden = await centre.project({ readers: [await centre.harness.user('Rita')] });
    const [here = ''] = await tracked({ 'a.txt': 'a' });
    const [there = ''] = await tracked({ 'b.txt': 'b' }, elsewhere);
    const unseen = newId();
    await centre.sql(
      `INSERT INTO file.record (id, node_id, path, path_key, sha256, size_bytes, mime_type, modified_at)
       VALUES ($1, $2, 'wip/c.txt', 'wip/c.txt', $3, 1, 'text/plain', now())`,
      [unseen, hidden, sha('c')],
    );
    const codes = await push({ id: here, content: 'a' }, { id: unseen, content: 'c' }, { id: newId(), content: 'd' });
    expect(Object.values(codes)).toEqual([null, 'FILE_NOT_FOUND', 'FILE_NOT_FOUND']);
    expect(await stored(hidden)).toEqual({});
    // A file of another node is stored where it belongs, as if it had been sent by itself.
    expect(await push({ id: there, content: 'b' })).toEqual({ [there]: null });
    expect(await stored(elsewhere)).toEqual({ 'b.txt': 'b' });
    await expect(centre.harness.call(beginPushes, { node_id: hidden }, writer)).rejects.toMatchObject({
      code: 'NODE_NOT_FOUND',
    });
  });

  it('leave nothing behind when the right to write ends while they are written [files.central.whole-or-nothing]', async () => {
    const [one = '', two = ''] = await tracked({ 'a.txt': 'a', 'b.txt': 'b' });
    let hiding: Promise<unknown> | null = null;
    centre.main.before = async (what) => {
      if (what !== 'write') return;
      hiding ??= (async () => {
        await centre.sql(`UPDATE graph.node SET visibility = 'private' WHERE id = $1`, [node]);
        await centre.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [node]);
      })();
      await hiding;
    };
    expect(await push({ id: one, content: 'a' }, { id: two, content: 'b' })).toEqual({
      [one]: 'FILE_NOT_FOUND',
      [two]: 'FILE_NOT_FOUND',
    });
    expect(await stored()).toEqual({});
  });

  it('leave nothing of a file that is deleted meanwhile', async () => {
    const [one = '', two = ''] = await tracked({ 'a.txt': 'a', 'b.txt': 'b' });
    let deleting: Promise<unknown> | null = null;
    centre.main.before = async (what) => {
      if (what !== 'write') return;
      deleting ??= centre.harness.call(deleteFile, { file_id: one, mode: 'unregister_only', confirmed: true }, writer);
      await deleting;
    };
    expect(await push({ id: one, content: 'a' }, { id: two, content: 'b' })).toEqual({
      [one]: 'FILE_NOT_FOUND',
      [two]: null,
    });
    expect(await stored()).toEqual({ 'b.txt': 'b' });
  });

  it('are all refused at once while the remote is away, and can be sent again', async () => {
    const ids = await tracked({ 'a.txt': 'a', 'b.txt': 'b' });
    const sendings = ids.map((id, index) => ({ id, content: 'ab'[index] ?? '' }));
    centre.main.failWith('unavailable');
    expect(new Set(Object.values(await push(...sendings)))).toEqual(new Set(['REMOTE_UNAVAILABLE']));
    centre.main.failWith(null);
    expect(new Set(Object.values(await push(...sendings)))).toEqual(new Set([null]));
    expect(await stored()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
  });

  it('are sent by two at once without either being lost', async () => {
    const contents = Object.fromEntries(Array.from({ length: 20 }, (_none, index) => [`${index}.txt`, `${index}`]));
    const ids = await tracked(contents);
    const sendings = ids.map((id, index) => ({ id, content: `${index}` }));
    const codes = await Promise.all([push(...sendings), push(...sendings.toReversed()), push(...sendings)]);
    for (const each of codes) expect(new Set(Object.values(each))).toEqual(new Set([null]));
    expect(await stored()).toEqual(contents);
  });

  it('are no batch where one file comes twice, one is too large, or the body is something else', async () => {
    const [one = ''] = await tracked({ 'a.txt': 'a' });
    const large = randomBytes(LIMITS.batchedFileBytes + 1);
    for (const sendings of [
      [
        { id: one, content: 'a' },
        { id: one, content: 'b' },
      ],
      [{ id: one, content: large }],
      [{ id: 'no id', content: 'a' }],
    ]) {
      const response = await put(sendings);
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
    }
    expect(await stored()).toEqual({});
  });
});

describe('contents that a workstation fetches together', () => {
  it('come in the order in which they were asked for, without those that it has', async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 30 }, (_none, index) => [`${index}.txt`, `text ${index}`]),
    );
    const ids = await tracked(contents);
    await push(...ids.map((id, index) => ({ id, content: `text ${index}` })));
    const pulls = ids.toReversed().map((file_id, index) => ({ file_id, has: index === 3 ? sha('text 26') : null }));
    const found = await pull(pulls);
    expect(found.map(({ header }) => header.file_id)).toEqual(ids.toReversed());
    expect(found.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(
      Object.values(contents)
        .toReversed()
        .map((text, index) => (index === 3 ? '' : text)),
    );
    expect(found.map(({ header }) => header.state)).toEqual(ids.map((_id, index) => (index === 3 ? 'same' : 'sent')));
  });

  it('are what lies there now, whoever put it there', async () => {
    const [one = ''] = await tracked({ 'a.txt': 'a' });
    await push({ id: one, content: 'a' });
    centre.main.plant(`${await centre.folder(node)}/wip/a.txt`, Buffer.from('edited by somebody'));
    const [found] = await pull([{ file_id: one, has: sha('a') }]);
    expect([found?.header, Buffer.from(found?.bytes ?? []).toString()]).toEqual([
      { file_id: one, state: 'sent', sha256: sha('edited by somebody') },
      'edited by somebody',
    ]);
  });

  it('are what lies there after a moment in which it is replaced', async () => {
    const [one = ''] = await tracked({ 'a.txt': 'a' });
    await push({ id: one, content: 'a' });
    const at = `${await centre.folder(node)}/wip/a.txt`;
    const { main } = centre;
    const read = jest.spyOn(main, 'read').mockImplementationOnce((...given) => {
      main.plant(at, Buffer.from('saved just now'));
      return main.read(...given);
    });
    const [found] = await pull([{ file_id: one, has: sha('older') }]);
    read.mockRestore();
    expect([found?.header.state, Buffer.from(found?.bytes ?? []).toString()]).toEqual(['sent', 'saved just now']);
  });

  it('are told as large, or as refused, in their place', async () => {
    const [large = '', missing = '', never = '', fine = ''] = await tracked({
      'large.txt': 'x'.repeat(LIMITS.batchedFileBytes + 1),
      'missing.txt': 'm',
      'never.txt': 'n',
      'fine.txt': 'f',
    });
    await push({ id: missing, content: 'm' }, { id: fine, content: 'f' }, { id: large, content: 'small at first' });
    centre.main.plant(`${await centre.folder(node)}/wip/large.txt`, Buffer.alloc(LIMITS.batchedFileBytes + 1, 'x'));
    await centre.main.remove(`${await centre.folder(node)}/wip/missing.txt`, {
      expected: (await revisionOf('missing.txt')) ?? '',
    });
    const stranger = newId();
    const found = await pull([large, missing, never, stranger, fine].map((file_id) => ({ file_id, has: null })));
    expect(found.map(({ header: { state, refused } }) => refused?.code ?? state)).toEqual([
      'too_large',
      'FILE_NOT_FOUND',
      'FILE_NOT_FOUND',
      'FILE_NOT_FOUND',
      'sent',
    ]);
  });
});

async function revisionOf(name: string): Promise<string | null> {
  const entry = await centre.main.stat(`${await centre.folder(node)}/wip/${name}`);
  return entry && 'revision' in entry ? entry.revision : null;
}
