import { type EdgeHarness } from '../../test/edge/edge-harness.js';
import { exchange, NODE, startExampleEdge } from '../../test/edge/example-edge.js';

describe('the edge', () => {
  let edge: EdgeHarness;
  beforeAll(async () => {
    edge = await startExampleEdge();
  });
  afterAll(() => edge.close());

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
});
