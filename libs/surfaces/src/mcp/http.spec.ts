import fc from 'fast-check';
import { type McpHarness, type PlainRequest, startMcp } from '../../test/mcp/harness.js';
import { INITIALIZE, LIST_TOOLS, modern, openSession } from '../../test/mcp/raw-session.js';

const REVISION = '2026-07-28';

describe('the MCP endpoint', () => {
  let mcp: McpHarness;
  let session: string;

  beforeAll(async () => {
    mcp = await startMcp();
    session = await openSession(mcp, 'reader');
  });
  afterAll(() => mcp.close());

  it('asks for a bearer token, and takes no other way in', async () => {
    const bare = await mcp.fetch({ body: INITIALIZE });
    expect(bare.status).toBe(401);
    expect(bare.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await bare.json()).toEqual({
      code: 'UNAUTHENTICATED',
      message: expect.any(String),
      request_id: expect.any(String),
    });
    expect((await mcp.fetch({ body: INITIALIZE, query: '?token=reader' })).status).toBe(401);
  });

  const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
  it.each<[string, PlainRequest, number, string]>([
    ['a body that is no JSON', { body: '{"jsonrpc":' }, 400, 'VALIDATION_FAILED'],
    ['an empty body', { body: '' }, 400, 'VALIDATION_FAILED'],
    ['endless nesting', { body: `{"a":${deep}}` }, 400, 'VALIDATION_FAILED'],
    [
      'another content type',
      { headers: { 'content-type': 'text/plain' }, body: INITIALIZE },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' }, body: INITIALIZE }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no content type', { headers: { 'content-type': null }, body: INITIALIZE }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a client that takes no stream',
      { headers: { accept: 'application/json' }, body: INITIALIZE },
      406,
      'NOT_ACCEPTABLE',
    ],
    [
      'a stream for a client that takes JSON only',
      { method: 'GET', headers: { accept: 'application/json' } },
      406,
      'NOT_ACCEPTABLE',
    ],
    ['a body over the limit', { body: JSON.stringify({ a: 'x'.repeat(1_100_000) }) }, 413, 'PAYLOAD_TOO_LARGE'],
    [
      'a handshake without its fields',
      { body: { ...INITIALIZE, params: { protocolVersion: '2025-11-25' } } },
      400,
      'VALIDATION_FAILED',
    ],
  ])('refuses %s in words', async (_what, request, status, code) => {
    const response = await mcp.fetch({ as: 'reader', ...request });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: expect.any(Number), message: expect.any(String), data: { code, request_id: expect.any(String) } },
    });
  });

  it.each<[string, PlainRequest, number]>([
    ['a value that is no message', { body: '42' }, 400],
    ['null', { body: 'null' }, 400],
    ['an empty batch', { body: [] }, 400],
    ['a message of another protocol', { body: { jsonrpc: '1.0', id: 1, method: 'tools/list' } }, 400],
    ['an unknown session', { headers: { 'mcp-session-id': 'no-such-session' }, body: LIST_TOOLS }, 404],
    [
      'a protocol version it does not speak',
      { ...modern('tools/list'), headers: { 'mcp-protocol-version': '2099-01-01' } },
      400,
    ],
    [
      'a request of the newest protocol without its envelope',
      { headers: { 'mcp-protocol-version': REVISION }, body: LIST_TOOLS },
      400,
    ],
    [
      'a method that the newest protocol does not know',
      { ...modern('resources/subscribe', { uri: 'svc://guide/model' }) },
      404,
    ],
    ['another method of HTTP', { method: 'PUT', body: LIST_TOOLS }, 405],
  ])('refuses %s as the protocol says', async (_what, request, status) => {
    const response = await mcp.fetch({ as: 'reader', ...request });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  it('takes one home node that is an id or goes by what is there [mcp.session.home-node, graph.node.named-by-reference]', async () => {
    for (const query of ['?home_node_id=', `?home_node_id=${session}&home_node_id=${session}`]) {
      const response = await mcp.fetch({ as: 'reader', body: INITIALIZE, query });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: { issues: [{ path: 'home_node_id' }] },
      });
    }
    const missing = await mcp.fetch({ as: 'reader', body: INITIALIZE, query: '?home_node_id=mine' });
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'NODE_NOT_FOUND' }]);
    for (const named of [session, 'SIG%20Network'])
      expect((await mcp.fetch({ as: 'reader', body: INITIALIZE, query: `?home_node_id=${named}` })).status).toBe(200);
  });

  it('refuses an address with a parameter that it does not know, and names those that it does', async () => {
    for (const [query, unknown] of [
      [`?hom_node_id=${session}`, 'hom_node_id'],
      [`?session_id=${session}&scope=read`, 'scope'],
      ['?Home_Node_Id=mine', 'Home_Node_Id'],
    ] as const) {
      const refused = await mcp.fetch({ as: 'reader', body: INITIALIZE, query });
      expect([query, refused.status, await refused.json()]).toMatchObject([
        query,
        400,
        {
          code: 'VALIDATION_FAILED',
          details: {
            issues: [
              {
                message: `has no field "${unknown}"; its fields are home_node_id, session_id, instance_id, terminal_id`,
              },
            ],
          },
        },
      ]);
    }
  });

  it('tells a refusal once, also when its credential has to be confirmed before', async () => {
    // Longer than an answer about a credential is used.
    mcp.graph.delayMs = 600;
    const refused = await mcp.fetch({ as: 'reader', method: 'GET', query: '?home_node_id=mine' });
    mcp.graph.delayMs = 0;
    expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'NODE_NOT_FOUND' }]);
  });

  it('takes a client that takes everything', async () => {
    const response = await mcp.fetch({
      as: 'reader',
      headers: { accept: '*/*', 'mcp-session-id': session },
      body: LIST_TOOLS,
    });
    expect(response.status).toBe(200);
  });

  it('takes batches of the oldest protocol', async () => {
    const batch = [
      LIST_TOOLS,
      { jsonrpc: '2.0', id: 2, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    ];
    const response = await mcp.fetch({ as: 'reader', headers: { 'mcp-session-id': session }, body: batch });
    expect(await response.json()).toEqual([
      expect.objectContaining({ id: 1 }),
      expect.objectContaining({ id: 2, result: {} }),
    ]);
  });

  it('refuses a stream that would watch too much', async () => {
    const resourceSubscriptions = Array.from({ length: 201 }, (_, index) => `svc://node/${index}`);
    const response = await mcp.fetch({
      as: 'reader',
      ...modern('subscriptions/listen', { notifications: { resourceSubscriptions } }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: 7, error: { code: -32602 } });
  });

  it('never answers garbage with a failure of its own', async () => {
    const methods = fc.constantFrom(
      'initialize',
      'notifications/initialized',
      'notifications/cancelled',
      'ping',
      'tools/list',
      'tools/call',
      'resources/read',
      'resources/list',
      'resources/subscribe',
      'resources/unsubscribe',
      'prompts/get',
      'completion/complete',
      'server/discover',
      'logging/setLevel',
    );
    const names = fc.constantFrom(
      'svc_get_node',
      'svc_search',
      'svc_list_nodes',
      'svc_log',
      'orient',
      'log_decision',
      'svc://guide/model',
      'svc://node/x',
    );
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.string(),
      names,
      fc.constant('__proto__'),
      fc.double(),
      fc.constant({ ['__proto__']: { x: 1 } }),
    );
    const envelope = fc.option(
      fc.constantFrom(modern('x').body.params['_meta'], { 'io.modelcontextprotocol/protocolVersion': 7 }, []),
      { nil: undefined },
    );
    const params = fc.record(
      {
        name: junk,
        arguments: junk,
        uri: junk,
        ref: junk,
        argument: junk,
        requestId: junk,
        protocolVersion: junk,
        capabilities: junk,
        clientInfo: junk,
        _meta: envelope,
      },
      { requiredKeys: [] },
    );
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        id: fc.oneof(fc.integer(), fc.string(), junk),
        method: fc.oneof(methods, junk),
        params: fc.oneof(params, junk),
      },
      { requiredKeys: ['jsonrpc'] },
    );
    const body = fc.oneof(
      { weight: 6, arbitrary: message.map((value) => JSON.stringify(value)) },
      fc.array(message).map((value) => JSON.stringify(value)),
      fc.string(),
    );
    const token = fc.string({ minLength: 1, unit: 'grapheme-ascii' });
    const headers = fc.record(
      {
        'mcp-session-id': fc.oneof(fc.constant(session), token),
        'mcp-protocol-version': fc.oneof(fc.constantFrom(REVISION, '2025-06-18', '2024-11-05'), token),
        'mcp-method': fc.oneof(methods, token),
        'mcp-name': fc.oneof(names, token),
        'last-event-id': token,
        accept: fc.constantFrom('*/*', 'text/html'),
        'content-type': fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/xml', 'x'),
      },
      { requiredKeys: [] },
    );
    const request = fc.record({
      method: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'PATCH'),
      body,
      headers,
      query: fc.constantFrom('', '?home_node_id=1', '?x[a]=1&&&='),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, body: text, headers: sent, query }) => {
        const controller = new AbortController();
        const response = await mcp.fetch({
          as: 'reader',
          method,
          headers: sent,
          query,
          signal: AbortSignal.any([controller.signal, AbortSignal.timeout(10_000)]),
          ...(method === 'GET' ? {} : { body: text }),
        });
        controller.abort();
        expect(response.status).toBeLessThan(500);
      }),
      { numRuns: 1_000 },
    );
  });
});
