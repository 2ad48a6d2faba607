import { createHash, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  type Envelope,
  LIMITS,
  type Operation,
  RawJson,
  resolveReferences,
  ServiceError,
} from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';

const NODE_ID = '0190a000-0000-7000-8000-000000000001';
const NODE = `/nodes/${NODE_ID}`;

interface Call {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  readonly envelope: Envelope;
}

describe('a REST route', () => {
  const calls: Call[] = [];
  let answer: (operation: Operation) => unknown = () => ({});
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startEdge({
      dispatch: (operation, input, envelope) => {
        calls.push({ operation: operation.name, input: input as Record<string, unknown>, envelope });
        return answer(operation);
      },
    });
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    calls.length = 0;
    answer = () => ({});
  });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    edge.fetch(path, {
      method,
      token: edge.tokens.manage,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  describe('finds what is named instead of being given by its id, before the operation is called', () => {
    const [FIRST, SECOND] = ['0190a000-0000-7000-8000-0000000000a1', '0190a000-0000-7000-8000-0000000000a2'];
    const resolving = (ids: readonly string[]) => (operation: Operation) =>
      operation === resolveReferences ? { ids } : {};

    it.each<{ asked: string; body?: unknown; named: readonly string[]; input: Record<string, unknown> }>([
      {
        asked: 'GET /nodes/kubernetes%2Fareas%2Fsig-network',
        named: ['node node_id kubernetes/areas/sig-network'],
        input: { node_id: FIRST },
      },
      {
        asked: `GET /nodes/${encodeURIComponent('漢'.repeat(1_000))}/edges?limit=2`,
        named: [`node node_id ${'漢'.repeat(1_000)}`],
        input: { node_id: FIRST, limit: 2 },
      },
      {
        asked: 'GET /nodes?parent_id=SIG%20Network&owner_id=bowei',
        named: ['node parent_id SIG Network', 'actor owner_id bowei'],
        input: { parent_id: FIRST, owner_id: SECOND },
      },
      {
        asked: `POST ${NODE}/responsibilities`,
        body: { title: 'x', assignee_ids: ['bowei', NODE_ID, 'thockin'] },
        named: ['actor assignee_ids.0 bowei', 'actor assignee_ids.2 thockin'],
        input: { node_id: NODE_ID, title: 'x', assignee_ids: [FIRST, NODE_ID, SECOND] },
      },
      {
        asked: `PUT ${NODE}/access`,
        body: {
          recipients: [
            { kind: 'group', id: 'Leads' },
            { kind: 'user', id: 'Eve' },
            { kind: 'other', id: 'x' },
          ],
        },
        named: ['group recipients.0.id Leads', 'user recipients.1.id Eve'],
        input: {
          node_id: NODE_ID,
          recipients: [
            { kind: 'group', id: FIRST },
            { kind: 'user', id: SECOND },
            { kind: 'other', id: 'x' },
          ],
        },
      },
      {
        asked: 'POST /groups/Leads/members',
        body: { add: ['Eve'] },
        named: ['user add.0 Eve', 'group group_id Leads'],
        input: { add: [FIRST], group_id: SECOND },
      },
    ])('in $asked [graph.node.named-by-reference]', async ({ asked, body, named, input }) => {
      answer = resolving([FIRST, SECOND]);
      const [method = '', path = ''] = asked.split(' ');
      expect((await send(method, path, body)).ok).toBe(true);
      const [question, call] = calls;
      const references = question?.input['references'] as { kind: string; field: string; text: string }[];
      expect(references.map(({ kind, field, text }) => `${kind} ${field} ${text}`)).toEqual(named);
      expect(call?.input).toEqual(input);
      expect(calls).toHaveLength(2);
    });

    it('asks nothing for ids and for what can be no name, and passes a refusal on', async () => {
      for (const [path, body] of [
        [NODE],
        ['/nodes', { type: 'area', name: 'x', owner_id: null, parent_ids: [''] }],
      ] as const)
        await send(body ? 'POST' : 'GET', path, body);
      expect(calls.map(({ operation }) => operation)).toEqual(['get_node', 'create_node']);
      answer = () => {
        throw new ServiceError('NODE_NOT_FOUND', 'There is no node nowhere.');
      };
      const refused = await send('DELETE', '/nodes/nowhere');
      expect([refused.status, calls.at(-1)?.operation]).toEqual([404, 'resolve_references']);
    });
  });

  describe('passes as input', () => {
    it.each<{ asked: string; body?: unknown; operation: string; input: Record<string, unknown> }>([
      { asked: `GET ${NODE}`, operation: 'get_node', input: { node_id: NODE_ID } },
      { asked: 'GET /nodes', operation: 'list_nodes', input: {} },
      {
        asked: 'GET /nodes?limit=5&type=project&type=area&query=10',
        operation: 'list_nodes',
        input: { limit: 5, type: ['project', 'area'], query: '10' },
      },
      {
        asked: 'GET /nodes?type=project,area&health=',
        operation: 'list_nodes',
        input: { type: ['project', 'area'], health: [] },
      },
      { asked: 'GET /nodes?limit=many&nope=1', operation: 'list_nodes', input: { limit: 'many', nope: '1' } },
      { asked: 'GET /nodes?limit=1&limit=2', operation: 'list_nodes', input: { limit: ['1', '2'] } },
      { asked: 'GET /nodes:suggest?text=a%20b&limit=3', operation: 'suggest_nodes', input: { text: 'a b', limit: 3 } },
      {
        asked: 'GET /context?include_archived=true&depth=2',
        operation: 'get_context',
        input: { include_archived: true, depth: 2 },
      },
      { asked: 'GET /context?include_archived=yes', operation: 'get_context', input: { include_archived: 'yes' } },
      {
        asked: `DELETE ${NODE}?confirmed=true&expected_version=3`,
        operation: 'purge_node',
        input: { node_id: NODE_ID, confirmed: true, expected_version: 3 },
      },
      {
        asked: 'POST /nodes',
        body: { type: 'project', name: 'A' },
        operation: 'create_node',
        input: { type: 'project', name: 'A' },
      },
      { asked: `POST ${NODE}/archive`, operation: 'archive_node', input: { node_id: NODE_ID } },
      { asked: `PATCH ${NODE}`, body: { name: 'B' }, operation: 'update_node', input: { node_id: NODE_ID, name: 'B' } },
    ])('what $asked says', async ({ asked, body, operation, input }) => {
      const [method = '', path = ''] = asked.split(' ');
      await send(method, path, body);

      expect(calls).toMatchObject([{ operation }]);
      expect(calls[0]?.input).toEqual(input);
    });

    const named = { name: 'x' };
    it.each<{ what: string; path?: string; body?: unknown; headers?: Record<string, string>; field: string }>([
      { what: 'a path parameter repeated in the body', body: { node_id: NODE_ID, name: 'x' }, field: 'node_id' },
      { what: 'a query beside a body', path: `${NODE}?confirmed=true`, field: 'confirmed' },
      { what: 'an If-Match that is no version', headers: { 'if-match': '"seven"' }, field: 'If-Match' },
      { what: 'several If-Match', headers: { 'if-match': '"1", "2"' }, field: 'If-Match' },
      {
        what: 'an If-Match that contradicts the body',
        body: { name: 'x', expected_version: 4 },
        headers: { 'if-match': '"3"' },
        field: 'expected_version',
      },
      { what: 'a long Idempotency-Key', headers: { 'idempotency-key': 'k'.repeat(256) }, field: 'Idempotency-Key' },
    ])(
      'nothing, for $what [errors.message.names-field]',
      async ({ path = NODE, body = named, headers = {}, field }) => {
        const response = await send('PATCH', path, body, headers);

        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          code: 'VALIDATION_FAILED',
          details: { issues: [{ path: field }] },
        });
        expect(calls).toEqual([]);
      },
    );

    it('nothing, for a body where the input is the query, and for If-Match where there are no versions', async () => {
      const body = await send('DELETE', NODE, { confirmed: true });
      const version = await send('PUT', '/graph/positions', { positions: [] }, { 'if-match': '"1"' });

      expect([body.status, version.status, calls.length]).toEqual([400, 400, 0]);
    });
  });

  it('puts the caller, the request id and the trace into the envelope, whatever the client claims [identity.envelope.gateway-only]', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await send('GET', NODE, undefined, {
      'x-request-id': 'r-17',
      traceparent,
      'x-user-id': 'root',
      caller: '{"scope":"manage"}',
    });

    expect(calls[0]?.envelope).toEqual({
      callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      requestId: 'r-17',
      traceparent,
      caller: { ...edge.tokens.manage.caller, via: 'rest' },
    });
  });

  describe('with an Idempotency-Key', () => {
    const callIds = async (sends: (() => Promise<Response>)[]): Promise<(string | undefined)[]> => {
      for (const one of sends) await one();
      return calls.map(({ envelope }) => envelope.callId);
    };

    it('gives each repetition the same call id, apart from other keys, operations and credentials', async () => {
      const key = { 'idempotency-key': 'order-1' };
      const other = edge.identity.createToken('manage');
      const ids = await callIds([
        () => send('POST', '/actors', {}, key),
        () => send('POST', '/actors', {}, key),
        () => send('POST', '/actors', {}, { 'idempotency-key': 'order-2' }),
        () => send('POST', '/nodes', {}, key),
        () => send('POST', '/actors', {}, { ...key, authorization: `Bearer ${other.text}` }),
      ]);

      expect(ids[0]).toBe(ids[1]);
      expect(new Set(ids).size).toBe(4);
      expect(
        ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id ?? '')),
      ).toBe(true);
    });

    it('and without one gives each its own', async () => {
      const ids = await callIds([() => send('POST', '/actors', {}), () => send('POST', '/actors', {})]);

      expect(new Set(ids).size).toBe(2);
    });
  });

  describe('answers', () => {
    it.each(['text', 'bytes'])('%s from the service byte for byte', async (form) => {
      const text = '{ "id" : "ž", "version": 3, "n": 1.0,\n "x": [ ] }';
      answer = () => new RawJson(form === 'text' ? text : Buffer.from(text));
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
      ['POST', '/edges', new RawJson('{"preview":{"applied":true}, "applied": false}'), 200],
    ])('%s %s %j with the status %#', async (method, path, result, status) => {
      answer = () => result;

      expect((await send(method, path, {})).status).toBe(status);
    });

    it('errors of the service with their status, details and request id [errors.object.shape, errors.conflict]', async () => {
      answer = () => {
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
        result: new RawJson('{"recent_events":[{"version":1}],"name":"\\"version\\":2","version" : 7}'),
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
        result: new RawJson('{"applied":true,"preview":null,"node":{"edges":{"version":1},"version":8}}'),
        tag: '"8"',
      },
      { what: 'the graph', asked: 'GET /graph', result: { token: 'abc', full: true }, tag: '"abc"' },
      { what: 'a list', asked: 'GET /nodes', result: { items: [{ version: 3 }], next_cursor: null }, tag: null },
    ])('with the ETag of $what', async ({ asked = `GET ${NODE}`, result, tag }) => {
      answer = () => result;
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
      answer = () => new RawJson('{"token":"abc","unchanged":true}');
      const response = await send('GET', '/graph', undefined, { 'if-none-match': 'W/"abc"' });

      expect(calls[0]?.input).toEqual({ if_none_match: 'abc' });
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', 'W/"abc"']);
    });

    describe('with 304 for a record that If-None-Match names [edge.rest.not-modified]', () => {
      const record = new RawJson('{"id":"x","version":7,"edges":[1]}');
      const ask = async (header: string) => {
        const response = await send('GET', NODE, undefined, { 'if-none-match': header });
        return [response.status, await response.text()];
      };
      let tag = '';
      beforeEach(async () => {
        answer = () => record;
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
        answer = () => new RawJson('{"id":"x","version":7,"edges":[1,2]}');

        expect((await ask(tag))[0]).toBe(200);
      });

      it('but lets a change go on, whose If-Match alone counts', async () => {
        answer = () => ({ applied: true, node: { version: 8 } });

        expect((await send('PATCH', NODE, { name: 'y' }, { 'if-match': tag, 'if-none-match': '*' })).status).toBe(200);
      });
    });

    it('with a weak ETag for what is compressed, since its bytes are others', async () => {
      answer = () => new RawJson(JSON.stringify({ version: 7, text: 'x'.repeat(5_000) }));
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
      const headers = { authorization: `Bearer ${edge.tokens.manage.text}`, 'accept-encoding': accept };
      return new Promise((resolve, reject) => {
        httpRequest(edge.url + path, { headers }, (response) => {
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
        answer = () => new RawJson(source);
        const { encoding, body } = await plainGet(NODE, accept);
        const plain = decompress(encoding, body);

        expect(encoding).toBe(expected);
        expect(plain.toString()).toBe(long);
      }
    });

    it('no short answer', async () => {
      answer = () => new RawJson('{"short":true}');

      expect((await plainGet(NODE, 'br')).encoding).toBeUndefined();
    });

    it.each(['br', 'gzip', 'identity'])('an answer of many megabytes on the way: %s', async (accept) => {
      const huge = JSON.stringify({
        items: Array.from({ length: 70_000 }, (_, index) => `položka ${index} 😀 ${'x'.repeat(index % 100)}`),
      });
      expect(huge.length).toBeGreaterThan(4_194_304);
      for (const source of [huge, Buffer.from(huge)]) {
        answer = () => new RawJson(source);
        const { encoding, body } = await plainGet('/export', accept);

        expect(decompress(encoding, body).toString() === huge).toBe(true);
      }
    });
  });

  it('gives a read up when the client leaves, and carries a change through', async () => {
    const signals: Record<string, AbortSignal> = {};
    const slow = await startEdge({
      dispatch: async (operation, _input, _envelope, signal) => {
        signals[operation.name] = signal;
        await new Promise((resolve) => setTimeout(resolve, 150));
        return {};
      },
    });
    const token = slow.tokens.manage;
    const leave = { signal: AbortSignal.timeout(60), token };
    await Promise.allSettled([
      slow.fetch(NODE, leave),
      slow.fetch('/actors', { ...leave, method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
    ]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const aborted = [signals.get_node?.aborted, signals.create_actor?.aborted];
    await slow.close();

    expect(aborted).toEqual([true, false]);
  });
});

describe('POST /import', () => {
  const parts: { index: number; plain: Buffer; sizeBytes: number }[] = [];
  const runs: Record<string, unknown>[] = [];
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startEdge({
      dispatch: (operation, input) => {
        if (operation.name === 'put_import_part') {
          const { data, index } = input as { data: string; index: number };
          const gzip = Buffer.from(data, 'base64');
          parts.push({ index, plain: gunzipSync(gzip), sizeBytes: gzip.length });
          return { done: true };
        }
        runs.push(input as Record<string, unknown>);
        return { applied: true, preview: null, created: {}, updated: {}, unchanged: {} };
      },
    });
  });
  afterAll(() => edge.close());
  beforeEach(() => {
    parts.length = 0;
    runs.length = 0;
  });

  const post = (
    path: string,
    body: BodyLike,
    token = edge.tokens.manage,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => edge.fetch(path, { method: 'POST', body, token, headers });

  it('sends a document of any size on in parts and then runs it', async () => {
    const document = Buffer.concat(
      Array.from({ length: 100 }, (_, index) => createHash('sha512').update(String(index)).digest()),
    );
    const large = Buffer.concat(Array.from({ length: 400 }, () => document));
    const response = await post('/import?dry_run=true', large);

    expect(response.status).toBe(200);
    expect(parts.map(({ index }) => index)).toEqual(parts.map((_, index) => index));
    expect(Buffer.concat(parts.map(({ plain }) => plain)).equals(large)).toBe(true);
    expect(Math.max(...parts.map(({ sizeBytes }) => sizeBytes))).toBeLessThan(524_288);
    expect(runs).toEqual([{ upload_id: expect.any(String), parts: parts.length, dry_run: true, confirmed: false }]);
  });

  it('needs manage, JSON and known options', async () => {
    const low = await post('/import', '{}', edge.tokens.write);
    const form = await post('/import', 'a=b', edge.tokens.manage, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    const option = await post('/import?dry=1', '{}');
    const empty = await post('/import', '');

    expect([low.status, form.status, option.status, empty.status]).toEqual([403, 415, 400, 400]);
    expect(runs).toEqual([]);
  });

  it('refuses more than the limit by what is announced', async () => {
    const { status, text } = await announce(edge, LIMITS.importBytes + 1);

    expect(status).toBe(413);
    expect(text).toContain(`"limit_bytes":${LIMITS.importBytes}`);
  });
});

function decompress(encoding: string | undefined, body: Buffer): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}

type BodyLike = string | Buffer<ArrayBuffer>;

function announce(edge: EdgeHarness, sizeBytes: number): Promise<{ status: number | undefined; text: string }> {
  const headers = {
    authorization: `Bearer ${edge.tokens.manage.text}`,
    'content-type': 'application/json',
    'content-length': String(sizeBytes),
    'x-request-id': randomUUID(),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${edge.url}/import`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        request.destroy();
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      });
    });
    request.on('error', reject).write('{');
  });
}
