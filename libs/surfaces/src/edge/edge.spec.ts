import { connect } from 'node:net';
import { Controller, Get } from '@nestjs/common';
import { LIMITS, RawJson } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';

const NODE = '/nodes/0190a000-0000-7000-8000-000000000001';
const ANSWER = new RawJson('{"id":"x"}');

/** Sends bytes and answers all that comes back before the other side closes or falls silent. */
function exchange(port: number, text: string, silentMs = 300): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    const chunks: Buffer[] = [];
    socket.setTimeout(silentMs, () => void socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject).on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

describe('the edge', () => {
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startEdge({
      dispatch: () => ANSWER,
      settings: {
        allowedOrigins: ['https://app.example.org'],
        allowedHosts: ['graph.example.org', 'other.example.org:8443'],
      },
    });
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

  describe('Host', () => {
    it.each([
      ['127.0.0.1:PORT', 200],
      ['localhost:PORT', 200],
      ['[::1]:PORT', 200],
      ['LOCALHOST:PORT', 200],
      ['graph.example.org', 200],
      ['graph.example.org:9999', 200],
      ['other.example.org:8443', 200],
      ['other.example.org', 403],
      ['localhost:1', 403],
      ['localhost', 403],
      ['evil.example:PORT', 403],
      ['127.0.0.1.evil.example:PORT', 403],
      ['localhost.evil.example', 403],
      ['', 403],
    ])('%s gets %i [edge.host.dns-rebinding, errors.host-not-allowed]', async (host, status) => {
      const answer = await exchange(
        edge.port,
        `GET ${NODE} HTTP/1.1\r\nHost: ${host.replace('PORT', String(edge.port))}\r\nAuthorization: Bearer ${edge.tokens.read.text}\r\nConnection: close\r\n\r\n`,
      );

      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer.includes('HOST_NOT_ALLOWED')).toBe(status === 403);
    });
  });

  describe('the host of a request', () => {
    const ask = (target: string, ...hosts: string[]): Promise<string> => {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
      const head = `GET ${target} HTTP/1.1\r\n${lines}Authorization: Bearer ${edge.tokens.read.text}\r\nConnection: close\r\n\r\n`;
      return exchange(edge.port, head.replaceAll('PORT', String(edge.port)));
    };
    const own = '127.0.0.1:PORT';

    it.each([
      [NODE, [own, own]],
      [NODE, [own, 'evil.example']],
      [NODE, ['evil.example', own]],
      [`http://evil.example${NODE}`, [own]],
      [`http://evil.example${NODE}`, ['evil.example']],
      [`https://evil.example${NODE}`, [own]],
      [`http://127.0.0.1:1${NODE}`, [own]],
      [`http://${own}@evil.example${NODE}`, [own]],
      [`http://user:password@${own}${NODE}`, [own]],
      [`http://${NODE}`, [own]],
      [`ftp://${own}${NODE}`, [own]],
      [`http://${own}${NODE}`, [own, own]],
    ])('is one that it answers to: %s with %j is refused [edge.host.one]', async (target, hosts) => {
      const answer = await ask(target, ...hosts);

      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"VALIDATION_FAILED"');
    });

    it.each([
      [`http://${own}${NODE}`, own, 200],
      [`HTTP://LOCALHOST:PORT${NODE}`, 'localhost:PORT', 200],
      [`https://graph.example.org${NODE}`, 'graph.example.org', 200],
      [`http://${own}${NODE}?depth=1`, own, 200],
      [`http://${own}${NODE}`, 'evil.example', 200],
      [`http://${own}`, own, 200],
      [`http://${own}/no/such/route`, own, 404],
      [`http://${own}/nodes/../users`, own, 404],
    ])('may be in an absolute target, which then counts: %s with %s gets %i', async (target, host, status) => {
      expect(await ask(target, host)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    });

    it('in an absolute target is the one that an origin is compared with', async () => {
      const ofOrigin = (origin: string): Promise<string> =>
        exchange(
          edge.port,
          `GET http://graph.example.org${NODE} HTTP/1.1\r\nHost: other\r\nOrigin: ${origin}\r\nAuthorization: Bearer ${edge.tokens.read.text}\r\nConnection: close\r\n\r\n`,
        );

      expect(await ofOrigin('https://graph.example.org')).toMatch(/^HTTP\/1\.1 200 /);
      expect(await ofOrigin('https://other')).toMatch(/^HTTP\/1\.1 403 /);
    });
  });

  describe('Origin', () => {
    it.each([
      ['https://app.example.org', 200],
      [undefined, 200],
      ['https://evil.example', 403],
      ['null', 403],
      ['https://app.example.org.evil.example', 403],
      ['http://app.example.org', 403],
    ])('%s gets %i [edge.origin.cross-site, errors.origin-not-allowed]', async (origin, status) => {
      const response = await edge.fetch(NODE, { token: edge.tokens.read, headers: origin ? { origin } : {} });

      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe(status === 200 && origin ? origin : null);
      if (status === 403) expect(await response.json()).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
    });

    it('of the service itself is allowed', async () => {
      expect((await edge.fetch(NODE, { token: edge.tokens.read, headers: { origin: edge.url } })).status).toBe(200);
    });

    it('is answered before the credential is asked for: a preflight has none', async () => {
      const headers = { 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization' };
      const allowed = await edge.fetch(NODE, {
        method: 'OPTIONS',
        headers: { ...headers, origin: 'https://app.example.org' },
      });
      const foreign = await edge.fetch(NODE, {
        method: 'OPTIONS',
        headers: { ...headers, origin: 'https://evil.example' },
      });

      expect([allowed.status, foreign.status]).toEqual([204, 403]);
      expect(allowed.headers.get('access-control-allow-methods')).toContain('PATCH');
      expect(allowed.headers.get('access-control-allow-headers')).toMatch(/Authorization.*If-Match.*Mcp-Session-Id/);
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    });
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

describe('a surprise in a handler', () => {
  it('reaches the caller as a bare INTERNAL; the log has the cause under the request id [errors.internal, errors.message.no-leak]', async () => {
    @Controller()
    class BrokenController {
      @Get('broken')
      broken(): never {
        throw new Error('SELECT * FROM secrets at /srv/app/x.ts');
      }
    }
    const { EdgeRoute } = await import('./edge-route.js');
    const descriptor = Object.getOwnPropertyDescriptor(BrokenController.prototype, 'broken') ?? {};
    EdgeRoute({ tier: 'read' })(BrokenController.prototype, 'broken', descriptor);
    const edge = await startEdge({ controllers: [BrokenController] });

    const response = await edge.fetch('/broken', { token: edge.tokens.read });
    const body: unknown = await response.json();
    await edge.close();

    expect(response.status).toBe(500);
    expect(body).toEqual({
      code: 'INTERNAL',
      message: 'Something went wrong inside the service.',
      request_id: response.headers.get('x-request-id'),
    });
    expect(edge.log.find((line) => line.includes('SELECT * FROM secrets'))).toContain(
      response.headers.get('x-request-id'),
    );
  });
});

describe('a route without a declared tier', () => {
  it('does not boot, and is named [edge.route-without-tier-does-not-boot]', async () => {
    @Controller()
    class OpenController {
      @Get('left-open')
      read(): string {
        return 'everything';
      }
    }

    await expect(startEdge({ controllers: [OpenController] })).rejects.toThrow(
      'Route GET /left-open declares no access tier',
    );
  });
});

describe('for operators', () => {
  let edge: EdgeHarness;
  let ready = true;
  beforeAll(async () => {
    edge = await startEdge();
    edge.health.add('database', () => ready);
  });
  afterAll(() => edge.close());

  it('health is open to anybody and tells nothing else [edge.health.live-ready, edge.health.ready-follows-dependencies]', async () => {
    const live = await edge.fetch('/health/live');
    const isReady = await edge.fetch('/health/ready');
    ready = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const isNotReady = await edge.fetch('/health/ready');

    expect([live.status, isReady.status, isNotReady.status]).toEqual([200, 200, 503]);
    expect([await live.text(), await isReady.text(), await isNotReady.text()]).toEqual([
      '{"status":"ok"}',
      '{"status":"ok"}',
      '{"status":"unavailable"}',
    ]);
  });

  it('metrics count by operation and route, for this machine and for manage [edge.metrics]', async () => {
    await edge.fetch(NODE, { token: edge.tokens.read });
    const text = await (await edge.fetch('/metrics')).text();
    const foreign = { headers: { 'x-forwarded-for': '10.0.0.1' } };
    const refused = await edge.fetch('/metrics', foreign);
    const low = await edge.fetch('/metrics', { ...foreign, token: edge.tokens.write });
    const managed = await edge.fetch('/metrics', { ...foreign, token: edge.tokens.manage });

    expect(text).toContain(
      'workspace_graph_http_request_seconds_count{method="GET",route="/nodes/:node_id",status="404"} 1',
    );
    expect(text).toContain('workspace_graph_bus_call_seconds_count{operation="get_node",outcome="NODE_NOT_FOUND"} 1');
    expect([refused.status, low.status, managed.status]).toEqual([401, 403, 200]);
  });
});

describe('stopping', () => {
  it('answers for a while after it says that it is not ready, and tells its clients to leave [edge.shutdown.announced]', async () => {
    const edge = await startEdge({ dispatch: () => ANSWER });
    const noticed = Promise.withResolvers<void>();
    edge.shutdown.add('announce', 'readiness', () => edge.health.stop());
    edge.shutdown.add('announce', 'balancers', () => noticed.promise);
    edge.shutdown.add('drain', 'http', () => edge.close());
    const look = async (path: string): Promise<unknown[]> => {
      const response = await edge.fetch(path, { token: edge.tokens.read });
      await response.text();
      return [response.status, response.headers.get('connection')];
    };
    const before = [await look('/health/ready'), await look(NODE)];
    const stopped = edge.shutdown.begin('test');
    const meanwhile = [await look('/health/ready'), await look(NODE)];
    noticed.resolve();
    await expect(stopped).resolves.toBe(true);

    expect(before).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
    ]);
    expect(meanwhile).toEqual([
      [503, 'close'],
      [200, 'close'],
    ]);
  });

  it('answers what runs, refuses what is new, and tells readiness at once [edge.shutdown.graceful]', async () => {
    let release = (): void => undefined;
    const edge = await startEdge({
      dispatch: () =>
        new Promise((resolve) => {
          release = () => resolve(ANSWER);
        }),
    });
    edge.shutdown.add('refuse', 'readiness', () => edge.health.stop());
    edge.shutdown.add('drain', 'http', () => edge.close());
    const running = edge.fetch(NODE, { token: edge.tokens.read });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const keptOpen = connect(edge.port, '127.0.0.1');
    await new Promise((resolve) => keptOpen.once('connect', resolve));
    const late: Buffer[] = [];
    keptOpen.on('data', (chunk: Buffer) => late.push(chunk));

    const stopped = edge.shutdown.begin('test');
    keptOpen.write(
      `GET ${NODE} HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${edge.tokens.read.text}\r\n\r\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();

    expect((await running).status).toBe(200);
    await expect(stopped).resolves.toBe(true);
    keptOpen.destroy();
    expect(late.join('')).toMatch(/^HTTP\/1\.1 503 .*"code":"SERVICE_UNAVAILABLE"/s);
  });
});
