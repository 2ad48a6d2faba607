import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { jest } from '@jest/globals';
import { createToken, type Operation, revokeToken, whoami } from '@workspace-graph/contracts';
import { type EdgeHarness, type EdgeHarnessOptions, startEdge } from '../../test/edge/edge-harness.js';
import type { FakeToken } from '../../test/edge/fake-identity.js';
import { WebModule } from './web.module.js';

const SCRIPT = `export const page = '${'x'.repeat(5_000)}';`;
const INDEX =
  '<!doctype html><meta property="csp-nonce" nonce="__NONCE__"><script nonce="__NONCE__" src="/app/a.js"></script>';

const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'page-'));
const removeFolder = (path: string): void => rmSync(path, { recursive: true });

let folder: string;
let edge: EdgeHarness;
/** Tokens that were made for browsers, by their id. */
const made = new Map<string, FakeToken>();
/** Of the next ones. */
let lifeMs = 30 * 86_400_000;
const ended: string[] = [];
/** What was asked for, each time that one was made. */
const asked: unknown[] = [];

/** Makes and ends tokens as the identity service does, and says who asks. */
const dispatch: EdgeHarnessOptions['dispatch'] = (operation: Operation, input, { caller }) => {
  if (operation === whoami) return { user_id: caller?.user_id, scope: caller?.scope };
  if (operation === createToken) {
    asked.push(input);
    const token = edge.identity.createToken((input as { scope: 'read' }).scope, lifeMs, caller?.user_id);
    made.set(token.caller.credential_id ?? '', token);
    return { token: {}, secret: token.text };
  }
  if (operation !== revokeToken) throw new Error(`${operation.name} is not expected`);
  const { token_id } = input as { token_id: string };
  ended.push(token_id);
  const token = made.get(token_id);
  return token ? edge.identity.revoke(token, edge.bus).then(() => ({ done: true })) : { done: true };
};

const start = (settings: EdgeHarnessOptions['settings'] = {}): Promise<EdgeHarness> =>
  startEdge({ dispatch, settings, imports: [WebModule.forRoot({ folder, workspace: 'local' })] });

beforeAll(async () => {
  folder = makeFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), INDEX);
  writeFileSync(join(folder, 'icon.svg'), '<svg/>');
  writeFileSync(join(folder, 'assets', 'page-1a2b.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'page-1a2b.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'plain-3c4d.js'), SCRIPT);
  edge = await start();
});
afterAll(async () => {
  await edge.close();
  removeFolder(folder);
});

/** What a browser says of a page of this address. */
const FROM_PAGE = { 'sec-fetch-site': 'same-origin' };

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json', ...headers };
  return edge.fetch(path, {
    method: 'POST',
    headers: json,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function makeLink(): Promise<string> {
  const response = await edge.fetch('/app/links', { method: 'POST', token: edge.tokens.write });
  expect(response.status).toBe(201);
  return ((await response.json()) as { url: string }).url;
}

const codeOf = (link: string): string => new URL(link).hash.replace('#code=', '');
const cookieOf = (response: Response): string => response.headers.get('set-cookie')?.split(';')[0] ?? '';

async function signIn(): Promise<string> {
  const response = await post('/app/sign-in', { code: codeOf(await makeLink()) });
  expect(response.status).toBe(204);
  return cookieOf(response);
}

/** Status of a read with a cookie, as a browser sends it. `fetch` sends headers of browsers in its own way. */
function ask(path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${edge.url}${path}`, { method, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    request.on('error', reject).end();
  });
}

describe('the page', () => {
  it('is one document for every view, with a nonce of its own each time and a policy that names it', async () => {
    const nonces = new Set<string>();
    for (const path of ['/app/', '/app/overview', '/app/graph?node=x', '/app/index']) {
      const response = await edge.fetch(path);
      const html = await response.text();
      const [, nonce = ''] = /<script nonce="([^"]+)"/.exec(html) ?? [];
      nonces.add(nonce);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain(`script-src 'self' 'nonce-${nonce}'`);
      expect(policy).not.toContain('unsafe');
      expect([policy.includes("default-src 'none'"), policy.includes("frame-ancestors 'none'")]).toEqual([true, true]);
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      expect(html).not.toContain('__NONCE__');
    }
    expect(nonces.size).toBe(4);
    const redirected = await edge.fetch('/app', { redirect: 'manual' });
    expect([redirected.status, redirected.headers.get('location')]).toEqual([308, '/app/']);
  });

  it('has files that browsers keep for as long as their name says the same', async () => {
    const plain = await edge.fetch('/app/assets/page-1a2b.js', { headers: { 'accept-encoding': 'identity' } });
    expect(await plain.text()).toBe(SCRIPT);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const packed = await edge.fetch('/app/assets/page-1a2b.js', { headers: { 'accept-encoding': 'br' } });
    expect([packed.headers.get('content-encoding'), await packed.text()]).toEqual(['br', SCRIPT]);
    // The build compresses, not the workspace.
    const unpacked = await edge.fetch('/app/assets/plain-3c4d.js', { headers: { 'accept-encoding': 'br' } });
    expect([unpacked.headers.get('content-encoding'), await unpacked.text()]).toEqual([null, SCRIPT]);
    expect((await edge.fetch('/app/assets/page-1a2b.js.br')).status).toBe(404);
    const etag = plain.headers.get('etag') ?? '';
    const again = await edge.fetch('/app/assets/page-1a2b.js', { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const icon = await edge.fetch('/app/icon.svg');
    expect([icon.headers.get('content-type'), icon.headers.get('cache-control')]).toEqual([
      'image/svg+xml',
      'no-cache',
    ]);
  });

  it('has nothing beside its files, whatever a path spells', async () => {
    for (const path of [
      '/app/missing.js',
      '/app/assets/',
      '/app/..%2f..%2f..%2fetc%2fpasswd',
      '/app/assets/..%2f..%2fpackage.json',
      '/app/%2e%2e/package.json',
      '/app/__proto__.js',
    ]) {
      const response = await edge.fetch(path);
      const text = await response.text();
      const isDocument = response.status === 200 && text.startsWith('<!doctype html>');
      expect([path, isDocument || response.status === 404 || response.status === 401]).toEqual([path, true]);
      expect(text).not.toContain('workspaces');
    }
  });

  it('does not start where it is not built', () => {
    const empty = makeFolder();
    try {
      expect(() => WebModule.forRoot({ folder: empty, workspace: 'local' }).providers).not.toThrow();
      const [files] = WebModule.forRoot({ folder: empty, workspace: 'local' }).providers ?? [];
      expect(() => (files as { useFactory: () => unknown }).useFactory()).toThrow('npm run build');
    } finally {
      removeFolder(empty);
    }
  });
});

describe('a link', () => {
  it('signs one browser in, once, as whoever made it', async () => {
    const link = await makeLink();
    expect(link).toMatch(new RegExp(`^${edge.url}/app/#code=[\\w-]{32}$`));
    const response = await post('/app/sign-in', { code: codeOf(link) });
    expect(response.headers.get('set-cookie')).toMatch(
      new RegExp(`^svc_page_${edge.port}=svc_pat_[\\w-]+; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
    );
    const me = await edge.fetch('/me', { headers: { cookie: cookieOf(response), origin: edge.url } });
    expect(await me.json()).toMatchObject({ scope: 'write' });
    const again = await post('/app/sign-in', { code: codeOf(link) });
    expect([again.status, await again.json()]).toMatchObject([401, { code: 'UNAUTHENTICATED' }]);
  });

  it('leaves a browser that is signed in as the same person its token, unless that ends soon', async () => {
    lifeMs = 14 * 86_400_000;
    const short = await signIn();
    lifeMs = 30 * 86_400_000;
    const again = async (cookie: string, link: string, headers: Record<string, string> = { origin: edge.url }) => {
      const response = await post('/app/sign-in', { code: codeOf(link) }, { cookie, ...headers });
      expect(response.status).toBe(204);
      return cookieOf(response);
    };
    const cookie = await again(short, await makeLink());
    expect(cookie).not.toBe('');
    const tokens = asked.length;
    expect(await again(cookie, await makeLink())).toBe('');
    expect(asked).toHaveLength(tokens);
    // Of somebody else, of a page that the browser does not name, and of nobody.
    const other = await edge.fetch('/app/links', { method: 'POST', token: edge.tokens.read });
    expect(await again(cookie, ((await other.json()) as { url: string }).url)).not.toBe('');
    expect(await again(cookie, await makeLink(), {})).not.toBe('');
    expect(await again(`${cookie}x`, await makeLink())).not.toBe('');
  });

  it('is made for the holder of a token alone, and ends with that token', async () => {
    expect((await post('/app/links', undefined)).status).toBe(401);
    const cookie = await signIn();
    expect(await ask('/app/links', { cookie, ...FROM_PAGE }, 'POST')).toBe(401);
    const token = edge.identity.createToken('read');
    const response = await edge.fetch('/app/links', { method: 'POST', token });
    const { url } = (await response.json()) as { url: string };
    await edge.identity.revoke(token, edge.bus);
    expect((await post('/app/sign-in', { code: codeOf(url) })).status).toBe(401);
  });

  it('ends after five minutes, also when the clock of the machine is put back', async () => {
    const link = await makeLink();
    const now = performance.now();
    const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 5 * 60_000 + 1);
    try {
      expect((await post('/app/sign-in', { code: codeOf(link) })).status).toBe(401);
    } finally {
      clock.mockRestore();
      wall.mockRestore();
    }
  });
});

describe('a sign-in', () => {
  it('takes a token of the caller, and keeps another one that was made with it', async () => {
    const { text } = edge.tokens.read;
    const response = await post('/app/sign-in', { token: ` ${text}\n` });
    expect(response.status).toBe(204);
    expect(cookieOf(response)).not.toContain(text);
    expect(await ask('/me', { cookie: cookieOf(response), ...FROM_PAGE })).toBe(200);
  });

  it('asks for a token of thirty days, and with one that ends sooner for no more than that has left', async () => {
    await post('/app/sign-in', { token: edge.tokens.write.text });
    expect(asked.at(-1)).toMatchObject({ scope: 'write', expires_in_days: 30 });
    const short = edge.identity.createToken('read', 86_400_000);
    expect((await post('/app/sign-in', { token: short.text })).status).toBe(204);
    expect(asked.at(-1)).not.toHaveProperty('expires_in_days');
  });

  it.each([
    ['nothing', {}, 400],
    ['two things', { code: 'x', token: 'y' }, 400],
    ['an empty code', { code: '' }, 400],
    ['a code of nobody', { code: 'x'.repeat(32) }, 401],
    ['no token', { token: 'password' }, 401],
    ['a token of nobody', { token: `svc_pat_${'x'.repeat(43)}` }, 401],
  ])('is refused with %s, and sets nothing', async (_what, body, status) => {
    const response = await post('/app/sign-in', body);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, null]);
    expect(await response.json()).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  it('is refused to the page of another origin', async () => {
    const response = await post('/app/sign-in', { token: edge.tokens.read.text }, { origin: 'https://evil.example' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('a cookie', () => {
  let cookie: string;
  beforeEach(async () => {
    cookie = await signIn();
  });

  it.each<[string, Record<string, string>, number]>([
    ['a page of this address', { 'sec-fetch-site': 'same-origin' }, 200],
    ['another port of this host, the same site', { 'sec-fetch-site': 'same-site' }, 401],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 401],
    ['an address that somebody typed', { 'sec-fetch-site': 'none' }, 401],
    ['nobody knows what', {}, 401],
  ])('counts by where the request comes from: %s', async (_from, headers, status) => {
    expect(await ask('/me', { cookie, ...headers })).toBe(status);
  });

  it('counts for a socket, which says its origin alone, and for no page of another one', async () => {
    expect(await ask('/me', { cookie, origin: edge.url })).toBe(200);
    expect(await ask('/me', { cookie, origin: `http://127.0.0.1:${edge.port + 1}` })).toBe(403);
    expect(await ask('/me', { cookie, origin: 'null', ...FROM_PAGE })).toBe(403);
  });

  it('of a workspace at another port is none here, and what cannot be one neither', async () => {
    const value = cookie.slice(cookie.indexOf('=') + 1);
    for (const other of [`svc_page_${edge.port + 1}=${value}`, `svc_page_=${value}`, `svc_page_${edge.port}=; a=b`])
      expect(await ask('/me', { cookie: other, ...FROM_PAGE })).toBe(401);
    expect(await ask('/me', { cookie: `a=b; ${cookie}; c=d`, ...FROM_PAGE })).toBe(200);
  });

  it('gives way to a header', async () => {
    const headers = { cookie, ...FROM_PAGE, authorization: `Bearer svc_pat_${'x'.repeat(43)}` };
    expect(await ask('/me', headers)).toBe(401);
  });

  it('ends with its token, within a second', async () => {
    expect(await ask('/me', { cookie, ...FROM_PAGE })).toBe(200);
    const token = [...made.values()].at(-1);
    if (!token) throw new Error('No token was made');
    await edge.identity.revoke(token, edge.bus);
    expect(await ask('/me', { cookie, ...FROM_PAGE })).toBe(401);
  });

  it('is given back by a sign-out, which ends its token; that of a header stays', async () => {
    const response = await edge.fetch('/app/sign-out', { method: 'POST', headers: { cookie, origin: edge.url } });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([
      204,
      `svc_page_${edge.port}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
    ]);
    expect(ended.at(-1)).toBe([...made.keys()].at(-1));
    expect(await ask('/me', { cookie, ...FROM_PAGE })).toBe(401);
    const count = ended.length;
    await edge.fetch('/app/sign-out', { method: 'POST', token: edge.tokens.write });
    expect(ended).toHaveLength(count);
  });
});

it('over TLS the cookie is sent over TLS alone, and to this host alone', async () => {
  const secure = await start({ publicUrl: 'https://graph.example' });
  try {
    const body = JSON.stringify({ token: secure.identity.createToken('read').text });
    const headers = {
      host: 'graph.example',
      'content-type': 'application/json',
      'content-length': String(body.length),
    };
    const cookie = await new Promise<string>((resolve, reject) => {
      const request = http.request(`${secure.url}/app/sign-in`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(String(answer.headers['set-cookie']));
      });
      request.on('error', reject).end(body);
    });
    expect(cookie).toMatch(/^__Host-svc_page_443=svc_pat_[\w-]+; Path=\/; .*; Secure$/);
  } finally {
    await secure.close();
  }
});
