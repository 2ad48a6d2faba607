import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { beginDownload, beginUpload, type Caller, createFile, type Transfer } from '@workspace-graph/contracts';
import { type CentreFixture, startCentre } from '../central.fixture.js';
import { ByteServer } from './byte-server.js';

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
  centre.main.before = () => undefined;
});
afterAll(() => centre[Symbol.asyncDispose]());

const sha = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const upload = async (path: string, if_match: string | null = null, text = false): Promise<Transfer> =>
  (await centre.harness.call(beginUpload, { node_id: node, path, if_match, text }, writer)).transfer;
const download = (path: string) => centre.harness.call(beginDownload, { node_id: node, path }, writer);
const authorization = ({ ticket }: Transfer): { readonly authorization: string } => ({
  authorization: `Bearer ${ticket}`,
});
const get = (transfer: Transfer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(transfer.url, { headers: { ...authorization(transfer), ...headers } });
const put = (transfer: Transfer, body: string | Buffer): Promise<Response> =>
  fetch(transfer.url, { method: 'PUT', headers: authorization(transfer), body: new Uint8Array(Buffer.from(body)) });
const file = (content: string, filename = 'a.txt') =>
  centre.harness.call(createFile, { node_id: node, filename, content }, writer);
/** What lies on the remote in the folder of the node. */
const stored = async (): Promise<Record<string, string>> => {
  const folder = `${await centre.folder(node)}/`;
  const all = Object.entries(await centre.main.texts());
  return Object.fromEntries(
    all.flatMap(([path, text]) => (path.startsWith(folder) ? [[path.slice(folder.length), text]] : [])),
  );
};

describe('a content that is sent', () => {
  it('is the one that was told, or a part of it', async () => {
    await file('0123456789');
    const told = await download('wip/a.txt');
    expect(told).toMatchObject({
      filename: 'a.txt',
      mime_type: 'text/plain',
      size_bytes: 10,
      sha256: sha('0123456789'),
    });
    const whole = await get(told.transfer);
    expect([whole.status, whole.headers.get('content-length'), await whole.text()]).toEqual([200, '10', '0123456789']);
    const part = await get((await download('wip/a.txt')).transfer, { range: 'bytes=3-5' });
    expect([part.status, await part.text()]).toEqual([206, '345']);
    for (const range of ['bytes=3-10', 'bytes=5-3', 'bytes=-3', 'bytes=a-b', 'lines=1-2']) {
      const refused = await get((await download('wip/a.txt')).transfer, { range });
      expect([range, refused.status, await refused.json()]).toMatchObject([
        range,
        416,
        { code: 'RANGE_NOT_SATISFIABLE' },
      ]);
    }
  });

  it('is none when it is another one by then [files.central.whole-or-nothing]', async () => {
    await file('what was told');
    const { transfer } = await download('wip/a.txt');
    centre.main.plant(`${await centre.folder(node)}/wip/a.txt`, Buffer.from('something else'));
    const refused = await get(transfer);
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
  });
});

describe('a content that is received', () => {
  it('is made, and replaced, as it arrives', async () => {
    const bytes = randomBytes(3_000_000);
    const made = await put(await upload('wip/big.bin'), bytes);
    expect([made.status, await made.json()]).toMatchObject([
      200,
      { path: 'wip/big.bin', sha256: sha(bytes), size_bytes: 3_000_000 },
    ]);
    const replaced = await put(await upload('wip/big.bin', sha(bytes)), 'small');
    expect([replaced.status, await replaced.json()]).toMatchObject([200, { sha256: sha('small'), version: 2 }]);
    const refused = await put(await upload('wip/big.bin', sha(bytes)), 'late');
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { code: 'CONFLICT', details: { current: { sha256: sha('small') } } },
    ]);
    const binary = await put(await upload('wip/big.bin', '*', true), randomBytes(100_000));
    expect([binary.status, await binary.json()]).toMatchObject([415, { code: 'NOT_EDITABLE' }]);
    expect(await stored()).toEqual({ 'wip/big.bin': 'small' });
  });

  it('is nothing when it breaks off [files.central.whole-or-nothing]', async () => {
    await file('as before');
    for (const transfer of [await upload('wip/new.txt'), await upload('wip/a.txt', '*')]) {
      const writes = Promise.withResolvers<void>();
      centre.main.before = () => writes.resolve();
      const sent = request(transfer.url, { method: 'PUT', headers: authorization(transfer) });
      const broken = new Promise((resolve) => sent.once('error', resolve));
      sent.write('half of');
      await writes.promise;
      sent.destroy(new Error('gone'));
      await broken;
    }
    // Whoever comes after waits until what broke off is out of the way.
    expect((await put(await upload('wip/new.txt'), 'whole')).status).toBe(200);
    expect((await put(await upload('wip/a.txt', sha('as before')), 'after')).status).toBe(200);
    expect(await stored()).toEqual({ 'wip/new.txt': 'whole', 'wip/a.txt': 'after' });
  });

  it('is nothing when the right to write ends while it arrives', async () => {
    const transfer = await upload('wip/new.txt');
    const writes = Promise.withResolvers<void>();
    centre.main.before = () => writes.resolve();
    const sent = request(transfer.url, { method: 'PUT', headers: authorization(transfer) });
    const answered = new Promise<number | undefined>((resolve) =>
      sent.once('response', ({ statusCode }) => resolve(statusCode)),
    );
    sent.write('half of');
    await writes.promise;
    await centre.sql(`UPDATE graph.node SET visibility = 'private' WHERE id = $1`, [node]);
    await centre.sql('SELECT graph.refresh_access(ARRAY[$1::uuid])', [node]);
    sent.end(' it');
    expect(await answered).toBe(404);
    expect(await stored()).toEqual({});
  });
});

describe('a ticket', () => {
  it('is used up by whatever is done with it, and opens nothing else [files.central.tickets]', async () => {
    await file('a');
    const down = (await download('wip/a.txt')).transfer;
    expect((await put(down, 'instead')).status).toBe(401);
    expect((await get(down)).status).toBe(401);
    const up = await upload('wip/b.txt');
    expect((await get(up)).status).toBe(401);
    expect((await put(up, 'late')).status).toBe(401);
    const used = (await download('wip/a.txt')).transfer;
    expect((await get(used)).status).toBe(200);
    const again = await get(used);
    expect([again.status, await again.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }]);
    for (const headers of [
      {},
      { authorization: 'Bearer ' },
      { authorization: `Basic ${up.ticket}` },
      { authorization: 'Bearer x' },
    ])
      expect((await fetch(up.url, { headers })).status).toBe(401);
    expect(await stored()).toEqual({ 'wip/a.txt': 'a' });
  });

  it('is given for what the caller may do alone', async () => {
    const reader = await centre.harness.user('Rita');
    const closed = await centre.project({ readers: [reader] });
    const input = { node_id: closed, path: 'wip/a.txt', if_match: null, text: false };
    await expect(centre.harness.call(beginUpload, input, reader)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(centre.harness.call(beginUpload, input, writer)).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
    await expect(
      centre.harness.call(beginUpload, { ...input, path: '../a.txt', node_id: node }, writer),
    ).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { issues: [{ path: 'path' }] },
    });
    await expect(
      centre.harness.call(beginDownload, { node_id: node, path: 'wip/none.txt' }, writer),
    ).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
  });
});

describe('a service that leaves', () => {
  it('finishes what is under way and what is about to begin, and keeps no connection for more', async () => {
    await file('read to its end');
    const server = centre.harness.module.get(ByteServer);
    const body = 'written to its end';
    const up = await upload('wip/late.txt');
    const sent = request(up.url, { method: 'PUT', headers: { ...authorization(up), 'content-length': body.length } });
    const answered = new Promise<number | undefined>((resolve, reject) =>
      sent.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject),
    );
    const writes = Promise.withResolvers<void>();
    centre.main.before = () => writes.resolve();
    sent.write(body.slice(0, 7));
    await writes.promise;
    const down = (await download('wip/a.txt')).transfer;
    let hasLeft = false;
    const left = server.leave().then(() => {
      hasLeft = true;
    });
    const read = await get(down);
    expect([read.status, read.headers.get('connection'), await read.text()]).toEqual([200, 'close', 'read to its end']);
    expect(hasLeft).toBe(false);
    sent.end(body.slice(7));
    expect(await answered).toBe(200);
    await left;
    expect(await stored()).toEqual({ 'wip/a.txt': 'read to its end', 'wip/late.txt': body });
  });

  it('does not wait for a ticket that nobody uses', async () => {
    await file('a');
    await download('wip/a.txt');
    await centre.harness.module.get(ByteServer).leave();
  });
});
