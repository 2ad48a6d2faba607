import { createHash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  applyFileChanges,
  beginPush,
  type Caller,
  deleteFile,
  type FileChange,
  type Push,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { RemoteFailure } from '@workspace-graph/remotes';
import { type CentreFixture, startCentre } from '../central.fixture.js';
import { LargeUploads } from './large-uploads.js';
import { KeptUploadHashes } from './upload-hashes.js';

/** Of the remote in memory. */
const PART = 1_048_576;
/** Instead of 64 MB. */
const MOST_AT_ONCE = 9 * PART;
const SIZE = MOST_AT_ONCE + 3 * PART + 1_000;
const NOW = '2026-11-26T10:00:00.000Z';

let centre: CentreFixture;
let writer: Caller;
let node: string;
let fileId: string;
const content = Buffer.alloc(SIZE);
for (let at = 0; at + 4 <= SIZE; at += 4) content.writeUInt32LE(at, at);
const other = Buffer.concat([content.subarray(0, SIZE - 1), Buffer.from('x')]);

beforeAll(async () => {
  centre = await startCentre();
  Object.assign(centre.harness.module.get(LargeUploads), { mostAtOnce: MOST_AT_ONCE });
  writer = { ...(await centre.harness.user('Wanda')), device_id: newId() };
});
beforeEach(async () => {
  node = await centre.project();
  const change: FileChange = { kind: 'register', path: 'wip/large.bin', mime_type: 'text/plain', ...told(content) };
  const input = { node_id: node, action: 'scan_mirror', changes: [change], strict: true };
  const { results } = await centre.harness.call(applyFileChanges, input, writer);
  const [result] = results;
  fileId = result && 'file' in result && result.file ? result.file.id : '';
});
afterEach(() => {
  centre.main.failWith(null);
  givesBack(true);
  Reflect.deleteProperty(centre.main.uploads, 'append');
});
afterAll(() => centre[Symbol.asyncDispose]());

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function told(bytes: Uint8Array): Pick<Push, 'sha256' | 'size_bytes' | 'modified_at'> {
  return { sha256: sha(bytes), size_bytes: bytes.byteLength, modified_at: NOW };
}

function begin(bytes: Uint8Array = content, more: Partial<Push> & { readonly from?: number } = {}) {
  return centre.harness.call(beginPush, { file_id: fileId, builds_on: null, ...told(bytes), ...more }, writer);
}

/** Sends what comes after `from`, or the part of it up to `until`: then the sender is gone. Answers the status, and the code of a refusal. */
async function send(
  bytes: Uint8Array,
  { from = 0, until, ...more }: Partial<Push> & { readonly from?: number; readonly until?: number } = {},
): Promise<{ readonly status: number; readonly code?: string } | null> {
  const { transfer } = await begin(bytes, { ...more, from });
  if (!transfer) throw new Error('The content is there');
  const headers = { authorization: `Bearer ${transfer.ticket}` };
  if (until === undefined) {
    const { status, body } = await put(transfer.url, headers, bytes.subarray(from));
    const { code } = JSON.parse(body) as { readonly code?: string };
    return code === undefined ? { status } : { status, code };
  }
  const sent = request(transfer.url, { method: 'PUT', headers });
  const broken = new Promise((resolve) => sent.once('error', resolve));
  await new Promise<void>((resolve) => sent.write(bytes.subarray(from, until), () => resolve()));
  await arrived(Math.floor(until / PART) * PART);
  sent.destroy(new Error('gone'));
  await broken;
  return null;
}

/** As gateways send: a refusal that comes while the rest is on its way is heard, and nothing more is sent. */
async function put(url: string, headers: { readonly authorization: string }, bytes: Uint8Array) {
  const sent = request(url, { method: 'PUT', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).on('error', reject),
  );
  let isAnswered = false;
  const heard = answered.then(
    () => {
      isAnswered = true;
    },
    () => {
      isAnswered = true;
    },
  );
  for (let at = 0; at < bytes.length && !isAnswered; at += PART)
    if (!sent.write(bytes.subarray(at, at + PART)))
      await Promise.race([heard, new Promise((resolve) => sent.once('drain', resolve))]);
  if (!isAnswered) sent.end();
  try {
    const answer = await answered;
    return { status: answer.statusCode ?? 0, body: await text(answer) };
  } finally {
    sent.destroy();
  }
}

/** Waits until so much of the content is there. */
async function arrived(bytes: number): Promise<void> {
  while ((await begin()).received < bytes) await new Promise((resolve) => setImmediate(resolve));
}

const path = async (): Promise<string> => `${await centre.folder(node)}/wip/large.bin`;
const stored = async (): Promise<string | null> => {
  const at = await path();
  if ((await centre.main.stat(at)) === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of (await centre.main.read(at)).bytes) hash.update(chunk);
  return hash.digest('hex');
};
const kept = (): Promise<{ handle: string }[]> =>
  centre.sql('SELECT handle FROM file.upload WHERE file_id = $1', [fileId]);

/** Whether the storage gives back what is there of a content that is not whole. */
function givesBack(does: boolean): void {
  if (does) Reflect.deleteProperty(centre.main.uploads, 'read');
  else Object.assign(centre.main.uploads, { read: undefined });
}

/** Has the storage do something at its next append. */
function atNextAppend(act: (append: () => Promise<number>) => Promise<number>): void {
  const { uploads } = centre.main;
  const append = uploads.append.bind(uploads);
  uploads.append = (...given) => {
    Reflect.deleteProperty(uploads, 'append');
    return act(() => append(...given));
  };
}

const storages = [
  { storage: 'that gives back what is there', gives: true },
  { storage: 'that gives nothing back', gives: false },
];

describe.each(storages)('a large content that breaks off on a storage $storage', ({ gives }) => {
  beforeEach(() => givesBack(gives));

  it('goes on where whole parts end, and nobody sees it before it is whole [files.central.whole-or-nothing]', async () => {
    await send(content, { until: 5 * PART + 10 });
    expect(await begin()).toMatchObject({ pushed: null, received: 5 * PART });
    await send(content, { from: 5 * PART, until: 9 * PART + 10 });
    expect([(await begin()).received, await stored()]).toEqual([9 * PART, null]);
    expect(await send(content, { from: 9 * PART })).toEqual({ status: 200 });
    expect([await stored(), await kept()]).toEqual([sha(content), []]);
    expect(await begin()).toMatchObject({
      pushed: { file: { id: fileId, current_remote_hash: `sha256:${sha(content)}` } },
    });
  });

  it('goes on from a part whose arrival was never heard of', async () => {
    await send(content, { until: 2 * PART });
    atNextAppend(async (append) => {
      await append();
      throw new Error('the process dies');
    });
    expect((await send(content, { from: 2 * PART }))?.status).toBe(500);
    expect((await begin()).received).toBe(3 * PART);
    expect(await send(content, { from: 3 * PART })).toEqual({ status: 200 });
    expect(await stored()).toBe(sha(content));
  });

  it('goes on from before a part that was announced and never came', async () => {
    await send(content, { until: 2 * PART });
    atNextAppend(() => Promise.reject(new Error('the process dies')));
    expect((await send(content, { from: 2 * PART }))?.status).toBe(500);
    expect((await begin()).received).toBe(2 * PART);
    expect(await send(content, { from: 2 * PART })).toEqual({ status: 200 });
    expect(await stored()).toBe(sha(content));
  });

  it('begins anew for whoever sends all of it, and for a storage that forgot it', async () => {
    await send(content, { until: 2 * PART });
    const [first] = await kept();
    await centre.main.uploads.abandon(first?.handle ?? '');
    expect((await begin()).received).toBe(0);
    await send(content, { until: 2 * PART });
    const [second] = await kept();
    expect(second?.handle).not.toBe(first?.handle);
    expect(await send(content)).toEqual({ status: 200 });
    await expect(centre.main.uploads.received(second?.handle ?? '')).rejects.toMatchObject({ reason: 'not_found' });
    expect(await stored()).toBe(sha(content));
  });

  it('is not gone on with from elsewhere, nor with another content', async () => {
    await send(content, { until: 2 * PART });
    expect((await begin(other)).received).toBe(0);
    const refused = { status: 503, code: 'SERVICE_UNAVAILABLE' };
    expect(await send(content, { from: PART })).toEqual(refused);
    expect(await send(content, { from: 3 * PART })).toEqual(refused);
    expect(await send(other, { from: 2 * PART })).toEqual(refused);
    expect((await begin()).received).toBe(2 * PART);
  });

  it('gives back the room that it took of a storage that cannot hold all of it', async () => {
    await send(content, { until: 2 * PART });
    const [upload] = await kept();
    atNextAppend(() => Promise.reject(new RemoteFailure('full', { path: 'wip/large.bin' })));
    expect(await send(content, { from: 2 * PART })).toEqual({ status: 507, code: 'STORAGE_FULL' });
    await expect(centre.main.uploads.received(upload?.handle ?? '')).rejects.toMatchObject({ reason: 'not_found' });
    expect([await stored(), await kept(), (await begin()).received]).toEqual([null, [], 0]);
    expect(await send(content)).toEqual({ status: 200 });
  });

  it('ends with its file', async () => {
    await send(content, { until: PART });
    await centre.harness.call(deleteFile, { file_id: fileId, confirmed: true, mode: 'unregister_only' }, writer);
    expect(await kept()).toEqual([]);
  });
});

describe('the hash of a large content that breaks off', () => {
  /** As in a process that did not see the upload begin. */
  const forget = async (): Promise<void> => {
    const [upload] = await kept();
    centre.harness.module.get(KeptUploadHashes).forget(upload?.handle ?? '');
  };

  it('begins anew where the state of its hash cannot be read', async () => {
    givesBack(false);
    await send(content, { until: 2 * PART });
    await centre.sql(`UPDATE file.upload SET done_hash = '\\x00', next_hash = '\\x00' WHERE file_id = $1`, [fileId]);
    expect((await begin()).received).toBe(0);
  });

  it('is made of what is there, in a process that did not see it come', async () => {
    await send(content, { until: 2 * PART });
    await forget();
    expect(await send(content, { from: 2 * PART })).toEqual({ status: 200 });
    expect(await stored()).toBe(sha(content));
  });

  it('shows what is damaged of what was there: it begins anew', async () => {
    const damaged = Buffer.concat([Buffer.alloc(PART), content.subarray(PART)]);
    await send(damaged, { ...told(content), until: 2 * PART });
    await forget();
    const refused = { status: 503, code: 'SERVICE_UNAVAILABLE' };
    expect(await send(content, { from: 2 * PART })).toEqual(refused);
    expect([await stored(), await kept(), (await begin()).received]).toEqual([null, [], 0]);
    expect(await send(content)).toEqual({ status: 200 });
  });
});

describe('a large content that is whole', () => {
  it('is nothing when it is another one than was told', async () => {
    await send(content, { until: 2 * PART });
    const mixed = { ...told(content), from: 2 * PART };
    expect(await send(other, mixed)).toEqual({ status: 409, code: 'CONFLICT' });
    expect([await stored(), await kept(), (await begin()).received]).toEqual([null, [], 0]);
    const longer = Buffer.concat([content, Buffer.from('x')]);
    expect(await send(longer, told(content))).toEqual({ status: 409, code: 'CONFLICT' });
    expect([await stored(), await kept()]).toEqual([null, []]);
  });

  it('replaces nothing that its device has not seen, and is not sent again for that', async () => {
    await send(content, { until: 2 * PART });
    const theirs = Buffer.from('of somebody else');
    atNextAppend((append) => {
      void path().then((at) => centre.main.plant(at, theirs));
      return append();
    });
    expect(await send(content, { from: 2 * PART })).toMatchObject({ status: 409 });
    expect(await stored()).toBe(sha(theirs));
    await expect(begin()).rejects.toMatchObject({ code: 'CONFLICT', details: { current: { sha256: sha(theirs) } } });
    const seen = { builds_on: sha(theirs) };
    expect((await begin(content, seen)).received).toBe(SIZE);
    expect(await send(content, { ...seen, from: SIZE })).toEqual({ status: 200 });
    expect(await stored()).toBe(sha(content));
  });

  it('is seen by nobody when the right to write ended while it arrived', async () => {
    await send(content, { until: 2 * PART });
    atNextAppend(async (append) => {
      await centre.sql(`UPDATE graph.node SET visibility = 'private' WHERE id = $1`, [node]);
      await centre.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [node]);
      return append();
    });
    expect(await send(content, { from: 2 * PART })).toMatchObject({ status: 404 });
    expect(await stored()).toBeNull();
  });
});

describe('a content that is not large', () => {
  it('leaves nothing when it breaks off, and goes on from nowhere', async () => {
    const small = content.subarray(0, MOST_AT_ONCE);
    const { transfer } = await begin(small);
    const sent = request(transfer?.url ?? '', {
      method: 'PUT',
      headers: { authorization: `Bearer ${transfer?.ticket}` },
    });
    const broken = new Promise((resolve) => sent.once('error', resolve));
    await new Promise<void>((resolve) => sent.write(small.subarray(0, PART), () => resolve()));
    sent.destroy(new Error('gone'));
    await broken;
    expect([(await begin(small)).received, await kept()]).toEqual([0, []]);
    expect(await send(small, { from: PART })).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(await send(small)).toEqual({ status: 200 });
    expect(await stored()).toBe(sha(small));
  });
});
