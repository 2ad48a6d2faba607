import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as later } from 'node:timers/promises';
import { type FileRoutes, startFileRoutes, temporariesIn, until } from './file-routes.fixture.js';

const STREAMED_MS = 1_200;
const PACE_MS = 20;
/** Of an upload that makes progress: it takes longer than a trickle may. */
const PIECES = 80;
const PIECE_BYTES = 16_384;
const FORM_HEAD = '--B\r\nContent-Disposition: form-data; name="file"; filename="form.bin"\r\n\r\n';
const FORM_END = '\r\n--B--\r\n';

interface Way {
  readonly what: string;
  readonly name: string;
  readonly method: 'PUT' | 'POST';
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly head: string;
  readonly end: string;
}

const WAYS: readonly Way[] = [
  {
    what: 'the bytes of a file',
    name: 'put.bin',
    method: 'PUT',
    target: 'file?path=wip/put.bin',
    headers: { 'if-none-match': '*' },
    head: '',
    end: '',
  },
  {
    what: 'a form',
    name: 'form.bin',
    method: 'POST',
    target: 'files',
    headers: { 'content-type': 'multipart/form-data; boundary=B' },
    head: FORM_HEAD,
    end: FORM_END,
  },
];

interface Answer {
  readonly status: number;
  readonly code?: string;
  /** Whether the connection is left open for the next request. */
  readonly connection: string | undefined;
}

describe.each(WAYS)('a slow upload of $what', ({ name, method, target, headers, head, end }) => {
  let routes: FileRoutes;

  beforeAll(async () => {
    routes = await startFileRoutes({ bodyTimes: { streamedMs: STREAMED_MS } });
  });
  afterAll(() => routes[Symbol.asyncDispose]());

  /** Sends pieces until it is answered, or all of them. */
  async function upload(pieceBytes: number, pieces = Number.POSITIVE_INFINITY): Promise<Answer> {
    const sent = request({
      port: routes.edge.port,
      host: '127.0.0.1',
      method,
      path: `/nodes/${routes.nodeId}/${target}`,
      headers: { ...headers, authorization: `Bearer ${routes.edge.tokens.write.text}` },
      agent: false,
    });
    const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
    let isAnswered = false;
    sent.on('error', reject).on('response', (response) => {
      isAnswered = true;
      sent.on('error', () => undefined);
      const { statusCode: status = 0, headers: answered } = response;
      json(response).then((body) => {
        const { code } = body as { readonly code?: string };
        resolve({ status, connection: answered.connection, ...(code ? { code } : {}) });
      }, reject);
    });
    sent.write(head);
    for (let index = 0; index < pieces && !isAnswered; index += 1) {
      sent.write('x'.repeat(pieceBytes));
      await later(PACE_MS);
    }
    if (!isAnswered) sent.end(end);
    return answer;
  }

  it('is refused when it trickles, and leaves nothing, while others are stored [edge.body-time] [files.write.atomic]', async () => {
    const answer = upload(1);
    const other = await routes.edge.fetch(`/nodes/${routes.nodeId}/file?path=wip/other-${name}`, {
      method: 'PUT',
      body: 'other',
      headers: { 'if-none-match': '*' },
      token: routes.edge.tokens.write,
    });

    expect(other.status).toBe(201);
    expect(await answer).toEqual({ status: 408, code: 'REQUEST_TIMEOUT', connection: 'close' });
    await until(async () => (await temporariesIn(routes.path)).length === 0);
    expect(await readdir(join(routes.path, 'wip'))).toEqual([`other-${name}`]);
    expect(routes.device.parts.store.fileAt(routes.nodeId, `wip/${name}`)).toBeNull();
    expect(routes.edge.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  });

  it('may take longer when it makes progress [edge.body-time]', async () => {
    const startMs = performance.now();
    const { status } = await upload(PIECE_BYTES, PIECES);

    expect(status).toBe(201);
    expect(performance.now() - startMs).toBeGreaterThan(STREAMED_MS);
    expect(routes.device.parts.store.fileAt(routes.nodeId, `wip/${name}`)?.sizeBytes).toBe(PIECES * PIECE_BYTES);
  });
});
