import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { RawJson, ServiceError } from '@workspace-graph/contracts';
import { startEdge } from '../../test/edge/edge-harness.js';
import { NODE, RecordedRest } from '../../test/rest/recorded-rest.js';

function decompress(encoding: string | undefined, body: Buffer): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}

describe('a REST route', () => {
  const rest = new RecordedRest();
  const { calls, send } = rest;
  beforeAll(() => rest.start());
  afterAll(() => rest.edge.close());
  beforeEach(() => rest.reset());

  describe('answers', () => {
    it.each(['text', 'bytes'])('%s from the service byte for byte', async (form) => {
      const text = '{ "id" : "ž", "version": 3, "n": 1.0,\n "x": [ ] }';
      rest.answer = () => new RawJson(form === 'text' ? text : Buffer.from(text), { version: 3 });
      const response = await send('GET', NODE);

      expect(await response.text()).toBe(text);
      expect(response.headers.get('etag')).toMatch(/^"3\.[\w-]{16}"$/);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it.each<[string, string, unknown, number]>([
      ['POST', '/nodes', { id: 'x' }, 201],
      ['PATCH', NODE, { applied: true }, 200],
      ['POST', '/edges', { applied: true, preview: null, edge: {} }, 201],
      ['POST', '/edges', { applied: false, preview: {}, edge: null }, 200],
      ['POST', '/edges', new RawJson('{"preview":{"applied":true}, "applied": false}', { applied: false }), 200],
    ])('%s %s %j with the status %#', async (method, path, result, status) => {
      rest.answer = () => result;

      expect((await send(method, path, {})).status).toBe(status);
    });

    it('errors of the service with their status, details and request id [errors.object.shape, errors.conflict]', async () => {
      rest.answer = () => {
        throw new ServiceError('CONFLICT', 'The node has changed.', { current: { version: 8 } });
      };
      const response = await send('PATCH', NODE, { name: 'x' });

      expect(response.status).toBe(409);
      expect(await response.json()).toEqual({
        code: 'CONFLICT',
        message: 'The node has changed.',
        details: { current: { version: 8 } },
        request_id: response.headers.get('x-request-id'),
      });
    });
  });

  describe('takes part in conditional requests', () => {
    it.each<{ what: string; asked?: string; result: unknown; tag: string | null }>([
      { what: 'a record', result: { id: 'x', version: 7 }, tag: '"7.HASH"' },
      {
        what: 'a record as text',
        result: new RawJson('{"recent_events":[{"version":1}],"name":"\\"version\\":2","version" : 7}', { version: 7 }),
        tag: '"7.HASH"',
      },
      {
        what: 'a changed record',
        asked: `PATCH ${NODE}`,
        result: { applied: true, preview: null, node: { version: 8 } },
        tag: '"8"',
      },
      {
        what: 'a changed record as text',
        asked: `PATCH ${NODE}`,
        result: new RawJson('{"applied":true,"preview":null,"node":{"edges":{"version":1},"version":8}}', {
          applied: true,
          version: 8,
        }),
        tag: '"8"',
      },
      { what: 'the graph', asked: 'GET /graph', result: { token: 'abc', full: true }, tag: '"abc"' },
      { what: 'a list', asked: 'GET /nodes', result: { items: [{ version: 3 }], next_cursor: null }, tag: null },
    ])('with the ETag of $what', async ({ asked = `GET ${NODE}`, result, tag }) => {
      rest.answer = () => result;
      const [method = '', path = ''] = asked.split(' ');

      const told = (await send(method, path, method === 'GET' ? undefined : {})).headers.get('etag');
      expect(told?.replace(/\.[\w-]{16}"$/, '.HASH"') ?? null).toBe(tag);
    });

    it.each([
      ['"7"', 7],
      ['W/"7"', 7],
      ['"7.0123456789-_abcd"', 7],
      ['W/"7.0123456789-_abcd"', 7],
      ['*', undefined],
    ])('as If-Match %s does', async (header, version) => {
      await send('PATCH', NODE, { name: 'x' }, { 'if-match': header });

      expect(calls[0]?.input.expected_version).toBe(version);
    });

    it('with 304 for an unchanged graph, which names its token', async () => {
      rest.answer = () => new RawJson('{"token":"abc","unchanged":true}', { token: 'abc', unchanged: true });
      const response = await send('GET', '/graph', undefined, { 'if-none-match': 'W/"abc"' });

      expect(calls[0]?.input).toEqual({ if_none_match: 'abc' });
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', 'W/"abc"']);
    });

    describe('with 304 for a record that If-None-Match names [edge.rest.not-modified]', () => {
      const record = new RawJson('{"id":"x","version":7,"edges":[1]}', { version: 7 });
      const ask = async (header: string) => {
        const response = await send('GET', NODE, undefined, { 'if-none-match': header });
        return [response.status, await response.text()];
      };
      let tag = '';
      beforeEach(async () => {
        rest.answer = () => record;
        tag = (await send('GET', NODE)).headers.get('etag') ?? '';
      });

      it.each([
        ['by its tag', (own: string) => own],
        ['weakly', (own: string) => `W/${own}`],
        ['in a list', (own: string) => `"other", W/"6.x" ,${own}`],
        ['as any', () => '*'],
      ])('%s', async (_how, header) => {
        expect(await ask(header(tag))).toEqual([304, '']);
      });

      it.each(['"7"', '"other"', 'nonsense', '"7.AAAAAAAAAAAAAAAA", "8"'])('and not by %s', async (header) => {
        expect(await ask(header)).toEqual([200, record.text]);
      });

      it('and not when something beside the record has changed, which its version does not tell', async () => {
        rest.answer = () => new RawJson('{"id":"x","version":7,"edges":[1,2]}', { version: 7 });

        expect((await ask(tag))[0]).toBe(200);
      });

      it('and to HEAD, without a length that is not that of the record', async () => {
        const { status, headers } = await send('HEAD', NODE, undefined, { 'if-none-match': tag });

        expect([status, headers.get('content-length'), headers.get('etag')]).toEqual([304, null, tag]);
      });

      it('but lets a change go on, whose If-Match alone counts', async () => {
        rest.answer = () => ({ applied: true, node: { version: 8 } });

        expect((await send('PATCH', NODE, { name: 'y' }, { 'if-match': tag, 'if-none-match': '*' })).status).toBe(200);
      });
    });

    it('with a weak ETag for what is compressed, since its bytes are others', async () => {
      rest.answer = () => new RawJson(JSON.stringify({ version: 7, text: 'x'.repeat(5_000) }), { version: 7 });
      const tagFor = async (encoding: string) =>
        (await send('GET', NODE, undefined, { 'accept-encoding': encoding })).headers.get('etag');
      const [plain, gzip, br] = [await tagFor('identity'), await tagFor('gzip'), await tagFor('br')];

      expect(plain).toMatch(/^"7\./);
      expect([gzip, br]).toEqual([`W/${plain}`, `W/${plain}`]);
    });
  });

  describe('compresses', () => {
    const long = JSON.stringify({ text: 'Příliš žluťoučký kůň. '.repeat(200) });

    function plainGet(path: string, accept: string): Promise<{ encoding: string | undefined; body: Buffer }> {
      const headers = { authorization: `Bearer ${rest.edge.tokens.manage.text}`, 'accept-encoding': accept };
      return new Promise((resolve, reject) => {
        httpRequest(rest.edge.url + path, { headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
          response.on('end', () =>
            resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(chunks) }),
          );
        })
          .on('error', reject)
          .end();
      });
    }

    it.each([
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['br;q=0.1, gzip;q=0.9', 'gzip'],
      ['gzip;q=0.5, *;q=0.6', 'br'],
      ['identity, gzip;q=0.5', undefined],
      ['identity;q=0.5, gzip;q=0.5', 'gzip'],
      ['*;q=0', undefined],
      ['gzip;q=nonsense', undefined],
      ['*', 'br'],
      ['identity', undefined],
      ['', undefined],
      ['zstd', undefined],
    ])('a long answer for Accept-Encoding "%s" with %s', async (accept, expected) => {
      for (const source of [long, Buffer.from(long)]) {
        rest.answer = () => new RawJson(source);
        const { encoding, body } = await plainGet(NODE, accept);
        const plain = decompress(encoding, body);

        expect(encoding).toBe(expected);
        expect(plain.toString()).toBe(long);
      }
    });

    it('no short answer', async () => {
      rest.answer = () => new RawJson('{"short":true}');

      expect((await plainGet(NODE, 'br')).encoding).toBeUndefined();
    });

    it.each(['br', 'gzip', 'identity'])('an answer of many megabytes on the way: %s', async (accept) => {
      const huge = JSON.stringify({
        items: Array.from({ length: 70_000 }, (_, index) => `položka ${index} 😀 ${'x'.repeat(index % 100)}`),
      });
      expect(huge.length).toBeGreaterThan(4_194_304);
      for (const source of [huge, Buffer.from(huge)]) {
        rest.answer = () => new RawJson(source);
        const { encoding, body } = await plainGet('/export', accept);

        expect(decompress(encoding, body).toString() === huge).toBe(true);
      }
    });
  });

  it('gives a read up when the client leaves, and carries a change through', async () => {
    const signals: Record<string, AbortSignal> = {};
    const [reached, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const slow = await startEdge({
      dispatch: (operation, _input, _envelope, signal) => {
        signals[operation.name] = signal;
        if (Object.keys(signals).length === 2) reached.resolve();
        return finished.promise;
      },
    });
    const leaving = new AbortController();
    const leave = { signal: leaving.signal, token: slow.tokens.manage };
    const asked = Promise.allSettled([
      slow.fetch(NODE, leave),
      slow.fetch('/actors', { ...leave, method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
    ]);
    await reached.promise;
    leaving.abort();
    await asked;
    const closed = (): number => slow.log.filter((line) => line.includes('"cut_off":true')).length;
    while (closed() < 2 || !signals.get_node?.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    const aborted = [signals.get_node?.aborted, signals.create_actor?.aborted];
    finished.resolve({});
    await slow.close();

    expect(aborted).toEqual([true, false]);
  });
});
