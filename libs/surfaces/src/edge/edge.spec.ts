import { LIMITS } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { exchange, NODE, startExampleEdge } from '../../test/edge/example-edge.js';

describe('the edge', () => {
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startExampleEdge();
  });
  afterAll(() => edge.close());

  it('answers a request with a valid credential', async () => {
    const response = await edge.fetch(NODE, { token: edge.tokens.read });

    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"id":"x"}');
  });

  it.each([
    ['no credential', undefined, 'Bearer realm="workspace-graph"'],
    ['another scheme', 'Basic YTpi', 'Bearer realm="workspace-graph", error="invalid_token"'],
    ['an unknown token', `Bearer svc_pat_${'A'.repeat(43)}`, 'Bearer realm="workspace-graph", error="invalid_token"'],
    [
      'a JWT where no provider is configured',
      'Bearer aaa.bbb.ccc',
      'Bearer realm="workspace-graph", error="invalid_token"',
    ],
    ['a token of another shape', 'Bearer xyz', 'Bearer realm="workspace-graph", error="invalid_token"'],
  ])(
    'refuses %s with 401 and says how to do better [errors.unauthenticated, identity.every-route-authenticated]',
    async (_name, authorization, challenge) => {
      const response = await edge.fetch(NODE, { headers: authorization ? { authorization } : {} });

      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(challenge);
      expect(await response.json()).toEqual({
        code: 'UNAUTHENTICATED',
        message: expect.any(String),
        request_id: response.headers.get('x-request-id'),
      });
    },
  );

  it('takes a credential from nowhere else [identity.bearer-only]', async () => {
    const { text } = edge.tokens.manage;
    const inQuery = await edge.fetch(`${NODE}?access_token=${text}&token=${text}`);
    const inCookie = await edge.fetch(NODE, { headers: { cookie: `token=${text}; authorization=Bearer ${text}` } });
    const inHeader = await edge.fetch(NODE, { headers: { 'x-api-key': text } });

    expect([inQuery.status, inCookie.status, inHeader.status]).toEqual([401, 401, 401]);
  });

  it('refuses a scope that is too low and names the one that is needed [errors.forbidden]', async () => {
    const response = await edge.fetch('/users', { token: edge.tokens.write });

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'FORBIDDEN', details: { required_scope: 'manage' } });
  });

  it.each([
    ['/no/such/route', 'GET'],
    ['/nodes/%zz', 'GET'],
    ['/nodes//events', 'GET'],
    ['//evil.example/nodes', 'GET'],
  ])(
    'answers the unknown route %s %s with the error object, to the authenticated only [edge.rest.method-not-allowed]',
    async (path, method) => {
      const known = await edge.fetch(path, { method, token: edge.tokens.read });

      expect([400, 404]).toContain(known.status);
      expect(await known.json()).toMatchObject({
        code: known.status === 404 ? 'ROUTE_NOT_FOUND' : 'VALIDATION_FAILED',
        request_id: expect.any(String),
      });
    },
  );

  it.each([
    ['/nodes', 'PUT', 'GET, HEAD, POST'],
    ['/nodes/', 'PUT', null],
    ['/', 'DELETE', 'GET, HEAD'],
    [`${NODE}?x=1`, 'POST', 'DELETE, GET, HEAD, PATCH'],
    ['/nodes:suggest', 'POST', 'GET, HEAD'],
    ['/nodesXsuggest', 'POST', null],
    [`${NODE}/access`, 'DELETE', 'GET, HEAD, PUT'],
    ['/health/live', 'POST', 'GET, HEAD'],
  ])(
    'answers %s with another method, %s, by those that there are: %s [edge.rest.method-not-allowed]',
    async (path, method, allowed) => {
      const response = await edge.fetch(path, { method, token: edge.tokens.read });

      expect([response.status, response.headers.get('allow')]).toEqual([allowed ? 405 : 404, allowed]);
      expect(await response.json()).toMatchObject({ code: allowed ? 'METHOD_NOT_ALLOWED' : 'ROUTE_NOT_FOUND' });
    },
  );

  it('refuses headers that are too long with 431', async () => {
    const answer = await exchange(
      edge.port,
      `GET ${NODE} HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(answer).toContain('"code":"HEADERS_TOO_LARGE"');
  });

  it('tells nobody without a credential which routes there are', async () => {
    expect((await edge.fetch('/no/such/route')).status).toBe(401);
  });

  it('carries the protective headers on every answer, errors included [edge.headers.security]', async () => {
    const answers = [
      await edge.fetch(NODE, { token: edge.tokens.read }),
      await edge.fetch(NODE),
      await edge.fetch('/nope', { token: edge.tokens.read }),
      await edge.fetch('/health/live'),
      await edge.fetch('/nodes/%zz'),
    ];

    for (const { headers } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cache-control': 'no-store',
        'x-request-id': expect.any(String),
      });
    }
  });

  it.each([
    ['0190a000-0000-7000-8000-00000000000f', true],
    ['trace:abc/1=2', true],
    ['a b', false],
    ['x'.repeat(129), false],
    ['<script>', false],
  ])('echoes a sane request id and replaces any other: %s [edge.request-id]', async (id, isKept) => {
    const response = await edge.fetch(NODE, { token: edge.tokens.read, headers: { 'x-request-id': id } });
    const echoed = response.headers.get('x-request-id');

    expect(echoed === id).toBe(isKept);
    expect(
      edge.log.filter((line) => line.includes(`"request_id":"${echoed}"`)).map((line) => JSON.parse(line)),
    ).toMatchObject([
      { level: 'info', route: '/nodes/:node_id', status: 200, user_id: edge.tokens.read.caller.user_id },
    ]);
  });

  it('writes no credential into the log [edge.logs.structured-without-secrets]', async () => {
    await edge.fetch(`${NODE}?token=${edge.tokens.read.text}`, { token: edge.tokens.read });
    const secrets = Object.values(edge.tokens).map(({ text }) => text);

    expect(edge.log.length).toBeGreaterThan(0);
    expect(edge.log.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });

  it('lets the first refusal decide: rate limit, Host, Origin, credential, scope [edge.order]', async () => {
    const strict = await startEdge({ settings: { requestsPerMinute: 4 } });
    const wrong = { host: 'evil.example', origin: 'https://evil.example' };
    const codes: string[] = [];
    const ask = async (lines: string[]): Promise<void> => {
      const answer = await exchange(
        strict.port,
        `GET /users HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`,
      );
      codes.push(/"code":"([A-Z_]+)"/.exec(answer)?.[1] ?? answer);
    };
    const good = `Host: 127.0.0.1:${strict.port}`;
    await ask([`Authorization: Bearer ${strict.tokens.read.text}`, good]);
    await ask([good]);
    await ask([good, `Origin: ${wrong.origin}`]);
    await ask([`Host: ${wrong.host}`, `Origin: ${wrong.origin}`]);
    await ask([`Host: ${wrong.host}`, `Origin: ${wrong.origin}`]);
    await strict.close();

    expect(codes).toEqual(['FORBIDDEN', 'UNAUTHENTICATED', 'ORIGIN_NOT_ALLOWED', 'HOST_NOT_ALLOWED', 'RATE_LIMITED']);
  });

  describe('bodies', () => {
    const json = { 'content-type': 'application/json' };
    const bad = { status: 400, code: 'VALIDATION_FAILED' };
    const foreign = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' };

    it.each<{
      what: string;
      body: string | Uint8Array<ArrayBuffer>;
      headers?: Record<string, string>;
      answer: typeof bad;
    }>([
      { what: 'broken JSON', body: '{"type":', answer: bad },
      { what: 'a list', body: '[]', answer: bad },
      { what: 'null', body: 'null', answer: bad },
      { what: 'a poisoned prototype', body: '{"__proto__":{"scope":"manage"}}', answer: bad },
      { what: 'bottomless nesting', body: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, answer: bad },
      { what: 'bytes that are no text', body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), answer: bad },
      {
        what: 'a form',
        body: 'a=b',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        answer: foreign,
      },
      { what: 'text', body: '{}', headers: { 'content-type': 'text/plain' }, answer: foreign },
      { what: 'compressed JSON', body: '{}', headers: { ...json, 'content-encoding': 'gzip' }, answer: foreign },
    ])('of $what are refused by name [errors.validation-failed]', async ({ body, headers = json, answer }) => {
      const response = await edge.fetch('/nodes', { method: 'POST', body, headers, token: edge.tokens.manage });

      expect({ status: response.status, ...((await response.json()) as object) }).toMatchObject(answer);
    });

    it('above the limit are refused before they are read to their end [edge.body-limit, errors.payload-too-large]', async () => {
      const head = `POST /nodes HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${edge.tokens.manage.text}\r\nContent-Type: application/json\r\n`;
      const announced = await exchange(edge.port, `${head}Content-Length: ${LIMITS.bodyBytes + 1}\r\n\r\n{`);
      const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`;
      const growing = await exchange(edge.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}`);

      for (const answer of [announced, growing]) {
        expect(answer).toMatch(/^HTTP\/1\.1 413 /);
        expect(answer).toContain(`"limit_bytes":${LIMITS.bodyBytes}`);
      }
    });

    it('are not read at all without a credential', async () => {
      const head = `POST /nodes HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`;

      expect(await exchange(edge.port, head)).toMatch(/^HTTP\/1\.1 401 /);
    });
  });

  it('answers what is not HTTP with the error object and hangs up', async () => {
    const answer = await exchange(edge.port, 'what\r\n\r\n');

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"VALIDATION_FAILED"');
    expect(answer).toContain('x-content-type-options: nosniff');
  });
});
