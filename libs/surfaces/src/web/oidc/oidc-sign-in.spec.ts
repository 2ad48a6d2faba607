import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { createToken, LIMITS, type Operation, ServiceError } from '@workspace-graph/contracts';
import { Secret } from '@workspace-graph/platform';
import { type EdgeHarness, type EdgeHarnessOptions, startEdge } from '../../../test/edge/edge-harness.js';
import { createKey, listen, sign } from '../../../test/edge/identity-provider.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type SignInProvider,
  type SignInProviderOptions,
  startSignInProvider,
} from '../../../test/edge/sign-in-provider.js';
import { WebModule } from '../web.module.js';

const PUBLIC_URL = 'https://graph.example.org';
const HOST = 'graph.example.org';
const CALLBACK = '/app/sign-in/oidc/callback';
const FLOW_COOKIE = '__Host-svc_sign_in_443';
const PEOPLE = {
  anna: { name: 'Anna', preferred_username: 'anna', groups: ['editors'] },
  zed: { name: 'Zed', groups: ['visitors'] },
};

let folder: string;
/** What tokens were asked for, with who asked. */
const asked: { readonly input: unknown; readonly userId: string | undefined }[] = [];
/** In place of a token. */
let refusal: ServiceError | undefined;
const opened: AsyncDisposable[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'page-'));
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><script nonce="__NONCE__"></script><meta name="facts" content="__FACTS__">',
  );
});
afterAll(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  refusal = undefined;
});

/** Other settings than the usual ones; null takes the secret away. */
interface ClientChanges {
  readonly secret?: Secret | null;
  readonly sealingSecret?: Secret;
}

const SEALING = new Secret('a secret that all the gateways know');

async function startGateway(
  issuer: string,
  { secret = new Secret(CLIENT_SECRET), sealingSecret = SEALING }: ClientChanges = {},
): Promise<EdgeHarness> {
  const dispatch: EdgeHarnessOptions['dispatch'] = (operation: Operation, input, { caller }) => {
    if (operation !== createToken) throw new Error(`${operation.name} is not expected`);
    asked.push({ input, userId: caller?.user_id });
    if (refusal) throw refusal;
    return { token: {}, secret: edge.identity.createToken((input as { scope: 'read' }).scope).text };
  };
  const edge = await startEdge({
    dispatch,
    settings: {
      publicUrl: PUBLIC_URL,
      oidc: {
        issuer,
        audience: 'api',
        algorithms: ['RS256'],
        groupsClaim: 'groups',
        scopeGroups: { manage: [], write: ['editors'], read: [] },
        client: {
          id: CLIENT_ID,
          ...(secret ? { secret } : {}),
          scopes: ['openid', 'profile'],
          providerName: 'Example "Login" <b>',
          sealingSecret,
        },
      },
    },
    imports: [WebModule.forRoot({ folder, workspace: 'central' })],
  });
  opened.push({ [Symbol.asyncDispose]: () => edge.close() });
  return edge;
}

async function startProvider(options: Partial<SignInProviderOptions> = {}): Promise<SignInProvider> {
  const provider = await startSignInProvider({ redirectUri: PUBLIC_URL + CALLBACK, people: PEOPLE, ...options });
  opened.push(provider);
  return provider;
}

/** Another query, and another cookie, than those that belong together. */
type Change = (begun: Begun, query: string) => [query: string, cookie: string];

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** As a proxy hands on what a browser asks at the public address. */
function ask(edge: EdgeHarness, path: string, options: http.RequestOptions = {}, body?: string): Promise<Answer> {
  const headers = { host: HOST, ...(body ? { 'content-type': 'application/json' } : {}), ...options.headers };
  return new Promise((resolve, reject) => {
    const request = http.request(edge.url + path, { ...options, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    request.on('error', reject).end(body);
  });
}

interface Begun {
  readonly url: URL;
  /** What the browser sends back. */
  readonly cookie: string;
}

async function begin(edge: EdgeHarness, to?: string): Promise<Begun> {
  const answer = await ask(edge, '/app/sign-in/oidc', { method: 'POST' }, JSON.stringify({ to }));
  expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('"url":')]);
  const [line = ''] = answer.headers['set-cookie'] ?? [];
  return { url: new URL((JSON.parse(answer.body) as { url: string }).url), cookie: line.split(';')[0] ?? '' };
}

/** Goes through the provider's pages as somebody, and answers the query with which it sends the browser back. */
async function visit(url: URL, login: string | null): Promise<string> {
  const cookies = new Map<string, string>();
  let at = url;
  while (!at.href.startsWith(PUBLIC_URL)) {
    const isForm = at.pathname.startsWith('/interaction/');
    const form = new URLSearchParams(login === null ? { answer: 'no' } : { login, answer: 'yes' });
    const response = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(isForm ? { method: 'POST', body: form } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    at = new URL(response.headers.get('location') ?? `broken:${response.status}:${await response.text()}`, at);
  }
  return at.search;
}

async function end(edge: EdgeHarness, query: string, cookie: string) {
  const answer = await ask(edge, CALLBACK + query, { headers: { cookie } });
  const cookies = answer.headers['set-cookie'] ?? [];
  return {
    status: answer.status,
    location: answer.headers.location,
    token: cookies.find((line) => line.startsWith('__Host-svc_page_443=')),
    isFlowEnded: cookies.some((line) => line.startsWith(`${FLOW_COOKIE}=;`)),
  };
}

const refusedWith = (reason: string, to = '/app/') => ({
  status: 303,
  location: expect.stringMatching(new RegExp(`^${to}#refused=${reason}&request=[\\w-]+$`)),
  token: undefined,
});

describe('signing in at the provider', () => {
  let provider: SignInProvider;
  let first: EdgeHarness;
  let second: EdgeHarness;
  beforeAll(async () => {
    provider = await startProvider();
    first = await startGateway(provider.issuer);
    second = await startGateway(provider.issuer);
  });

  it('begins at one gateway and ends at another, with a token of thirty days for the browser', async () => {
    const { url, cookie } = await begin(first, '/app/graph?node=n1');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: 'code',
      redirect_uri: PUBLIC_URL + CALLBACK,
      scope: 'openid profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const ended = await end(second, await visit(url, 'anna'), cookie);
    expect(ended).toEqual({
      status: 303,
      location: '/app/graph?node=n1#signed-in',
      token: expect.stringMatching(
        /^__Host-svc_page_443=svc_pat_[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
      ),
      isFlowEnded: true,
    });
    expect(asked.at(-1)).toEqual({
      input: { label: 'Browser · unknown', scope: 'write', expires_in_days: 30 },
      userId: '0190a000-0000-7000-8000-00000000000a',
    });
    expect(second.identity.asked.at(-1)).toMatchObject({
      kind: 'oidc',
      issuer: provider.issuer,
      subject: 'anna',
      name: 'Anna',
      handle: 'anna',
      groups: ['editors'],
      scope: 'write',
    });
  });

  it('lets the browser keep what is needed for its end, unread, for ten minutes and for nobody else', async () => {
    const answer = await ask(first, '/app/sign-in/oidc', { method: 'POST' }, '{}');
    const [line = '', ...others] = answer.headers['set-cookie'] ?? [];
    expect(others).toEqual([]);
    expect(line).toMatch(new RegExp(`^${FLOW_COOKIE}=[\\w-]+; Path=/; Secure; Max-Age=600; HttpOnly; SameSite=Lax$`));
    const { searchParams } = new URL((JSON.parse(answer.body) as { url: string }).url);
    const opened = Buffer.from(line.slice(line.indexOf('=') + 1, line.indexOf(';')), 'base64url').toString('latin1');
    for (const name of ['state', 'nonce']) expect(opened).not.toContain(searchParams.get(name));
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('ends nowhere but at a gateway that knows the secret', async () => {
    const stranger = await startGateway(provider.issuer, {
      sealingSecret: new Secret('a secret that nobody else knows of'),
    });
    const { url, cookie } = await begin(first);
    expect(await end(stranger, await visit(url, 'anna'), cookie)).toMatchObject(refusedWith('expired'));
  });

  it.each<[what: string, change: Change]>([
    ['without the cookie of the browser that began it', (_begun, query) => [query, '']],
    ['with a cookie that was changed', ({ cookie }, query) => [query, `${cookie.slice(0, -3)}AAA`]],
    ['with a cookie that is none', (_begun, query) => [query, `${FLOW_COOKIE}=x`]],
    ['with the state of another sign-in', ({ cookie }, query) => [query.replace(/state=[^&]+/, 'state=x'), cookie]],
    ['without a state', ({ cookie }, query) => [query.replace(/&?state=[^&]+/, ''), cookie]],
    ['with an error in place of everything', ({ cookie }) => ['?error=access_denied', cookie]],
    ['with nothing', ({ cookie }) => ['', cookie]],
  ])('%s is refused, and the one under way goes on', async (_what, change) => {
    const begun = await begin(first);
    const query = await visit(begun.url, 'anna');
    const count = asked.length;
    expect(await end(first, ...change(begun, query))).toEqual({ ...refusedWith('expired'), isFlowEnded: false });
    expect(asked).toHaveLength(count);
    expect(await end(first, query, begun.cookie)).toMatchObject({ location: '/app/#signed-in' });
  });

  it('is done once: the same answer with the same cookie is refused', async () => {
    const { url, cookie } = await begin(first);
    const query = await visit(url, 'anna');
    expect((await end(first, query, cookie)).token).toBeDefined();
    expect(await end(second, query, cookie)).toEqual({ ...refusedWith('expired'), isFlowEnded: true });
  });

  it('takes no code that was given to another browser', async () => {
    const victim = await begin(first);
    const attacker = await begin(first);
    const stolen = new URLSearchParams(await visit(attacker.url, 'anna')).get('code') ?? '';
    const query = `?code=${stolen}&state=${victim.url.searchParams.get('state')}&iss=${encodeURIComponent(provider.issuer)}`;
    expect(await end(first, query, victim.cookie)).toMatchObject({ ...refusedWith('expired') });
  });

  it.each<[what: string, (query: string) => string, reason: string]>([
    ['of another issuer', (query) => query.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), 'untrusted'],
    ['of nobody', (query) => query.replace(/&iss=[^&]+/, ''), 'untrusted'],
    ['with two codes', (query) => `${query}&code=x`, 'untrusted'],
    ['without a code', (query) => query.replace(/code=[^&]+&/, ''), 'untrusted'],
    ['with a code of nobody', (query) => query.replace(/code=[^&]+/, 'code=x'), 'expired'],
  ])('refuses an answer %s', async (_what, change, reason) => {
    const { url, cookie } = await begin(first);
    expect(await end(first, change(await visit(url, 'anna')), cookie)).toEqual({
      ...refusedWith(reason),
      isFlowEnded: true,
    });
  });

  it('ends after ten minutes', async () => {
    const { url, cookie } = await begin(first);
    const query = await visit(url, 'anna');
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + 600_001);
    try {
      expect(await end(first, query, cookie)).toMatchObject(refusedWith('expired'));
    } finally {
      clock.mockRestore();
    }
  });

  it('says what the provider, or the workspace, says no to', async () => {
    const denied = await begin(first, '/app/overview');
    expect(await end(first, await visit(denied.url, null), denied.cookie)).toMatchObject(
      refusedWith('denied', '/app/overview'),
    );
    const visitor = await begin(first);
    expect(await end(first, await visit(visitor.url, 'zed'), visitor.cookie)).toMatchObject(refusedWith('no_access'));
    const full = await begin(first);
    refusal = new ServiceError('CONFLICT', 'This user has 100 valid tokens.', { limit: LIMITS.tokensPerUser });
    expect(await end(first, await visit(full.url, 'anna'), full.cookie)).toMatchObject(refusedWith('full'));
    const another = await ask(first, '/app/sign-in/oidc', { method: 'POST' }, '{"as_other":true}');
    expect(another.body).toContain('&prompt=login');
    const faulty = await begin(first);
    refusal = new ServiceError('INTERNAL', 'Something went wrong inside the service.');
    expect(await end(first, await visit(faulty.url, 'anna'), faulty.cookie)).toMatchObject(refusedWith('unavailable'));
    const away = await begin(first);
    first.identity.isDown = true;
    const answer = await end(first, await visit(away.url, 'anna'), away.cookie);
    first.identity.isDown = false;
    expect(answer).toMatchObject(refusedWith('unavailable'));
  });

  it('tells the log why, and nothing that could be used', async () => {
    const { url, cookie } = await begin(first);
    const query = await visit(url, null);
    await end(first, query, cookie);
    const line = first.log.findLast((one) => one.includes('a sign-in was refused')) ?? '';
    expect(line).toContain('access_denied: The person said no.');
    const twice = await begin(first);
    const used = await visit(twice.url, 'anna');
    await end(first, used, twice.cookie);
    await end(first, used, twice.cookie);
    const { code = '', state = '' } = Object.fromEntries(new URLSearchParams(used));
    const secrets = [cookie, twice.cookie, CLIENT_SECRET, code, state];
    expect(secrets).not.toContain('');
    for (const secret of secrets) expect(first.log.join('\n')).not.toContain(secret.replace(/^[^=]+=/, ''));
    expect(first.log.join('\n')).toContain('invalid_grant');
  });

  it.each([
    'https://evil.example/app/',
    '//evil.example/app/',
    '/\\evil.example/app/',
    '/app/..//evil.example',
    '/app/../me',
    '/app/%2e%2e/me',
    'javascript:alert(1)',
    '/app/sign-in/oidc/callback?code=x',
    '/me',
    'app/overview',
    `/app/${'x'.repeat(2_000)}`,
    `/app/${'é'.repeat(400)}`,
  ])('comes back to the page and to nothing else: %s', async (to) => {
    const { url, cookie } = await begin(first, to);
    const query = new URLSearchParams({ error: 'access_denied', state: url.searchParams.get('state') ?? '' });
    query.set('iss', provider.issuer);
    expect(await end(first, `?${query}`, cookie)).toMatchObject(refusedWith('denied'));
  });

  it('is begun by the page at the public address alone', async () => {
    const post = (headers: http.OutgoingHttpHeaders, body = '{}') =>
      ask(first, '/app/sign-in/oidc', { method: 'POST', headers }, body);
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    const elsewhere = await post({ host: `127.0.0.1:${first.port}` });
    expect([elsewhere.status, elsewhere.body]).toEqual([400, expect.stringContaining(PUBLIC_URL)]);
    expect(elsewhere.headers['set-cookie']).toBeUndefined();
    expect((await post({}, '{"to":7}')).status).toBe(400);
  });

  it('is offered in the document, by the name of the provider as text, where it works', async () => {
    const { body } = await ask(first, '/app/');
    const [, content = ''] = /<meta name="facts" content="([^"]*)">/.exec(body) ?? [];
    expect(content).not.toMatch(/[<>"']/);
    const text = content.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
    expect(JSON.parse(text)).toEqual({ workspace: 'central', provider: 'Example "Login" <b>' });
    const elsewhere = await ask(first, '/app/', { headers: { host: `127.0.0.1:${first.port}` } });
    expect(elsewhere.body).toContain('provider&#34;:null');
  });
});

describe('a provider', () => {
  it.each<[what: string, Partial<SignInProviderOptions>, ClientChanges]>([
    ['with a public client', { proof: 'none' }, { secret: null }],
    ['that wants the secret in the body', { proof: 'client_secret_post', methods: ['client_secret_post'] }, {}],
    ['that tells groups apart from the ID token', { tellsApart: true }, {}],
  ])('%s lets people in', async (_what, options, client) => {
    const provider = await startProvider(options);
    const edge = await startGateway(provider.issuer, client);
    const { url, cookie } = await begin(edge);
    expect((await end(edge, await visit(url, 'anna'), cookie)).location).toBe('/app/#signed-in');
    expect(edge.identity.asked.at(-1)).toMatchObject({ subject: 'anna', groups: ['editors'] });
  });

  it('that knows another secret lets nobody in', async () => {
    const provider = await startProvider();
    const edge = await startGateway(provider.issuer, { secret: new Secret('wrong') });
    const { url, cookie } = await begin(edge);
    expect(await end(edge, await visit(url, 'anna'), cookie)).toMatchObject(refusedWith('untrusted'));
    expect(edge.log.join('\n')).toContain('invalid_client');
  });

  it('that is away is said to be, at the beginning and at the end', async () => {
    const provider = await startSignInProvider({ redirectUri: PUBLIC_URL + CALLBACK, people: PEOPLE });
    const edge = await startGateway(provider.issuer);
    const { url, cookie } = await begin(edge);
    const query = await visit(url, 'anna');
    await provider[Symbol.asyncDispose]();
    expect(await end(edge, query, cookie)).toMatchObject(refusedWith('unavailable'));
    const other = await startGateway(provider.issuer);
    const answer = await ask(other, '/app/sign-in/oidc', { method: 'POST' }, '{}');
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
  });

  it('that nobody has configured is none', async () => {
    const edge = await startEdge({ imports: [WebModule.forRoot({ folder, workspace: 'central' })] });
    opened.push({ [Symbol.asyncDispose]: () => edge.close() });
    const post = await edge.fetch('/app/sign-in/oidc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(post.status).toBe(404);
    const back = await edge.fetch(`${CALLBACK}?code=x&state=y`, {
      headers: { cookie: `svc_sign_in_${edge.port}=x` },
      redirect: 'manual',
    });
    expect([back.status, await back.json()]).toMatchObject([404, { code: 'ROUTE_NOT_FOUND' }]);
    expect(await (await edge.fetch('/app/')).text()).toContain('provider&#34;:null');
  });
});

describe('an ID token', () => {
  /** A provider that signs whatever it is told to. */
  async function startLiar() {
    const key = await createKey();
    const server = await listen(0);
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { kty, n, e, kid } = key.jwk;
    let claims: Record<string, unknown> = {};
    let signer = key;
    const answerTo = async (url: string): Promise<string> => {
      const answers: Record<string, unknown> = {
        '/.well-known/openid-configuration': {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
        },
        '/jwks': { keys: [{ kty, n, e, kid }] },
        '/token': {
          token_type: 'Bearer',
          access_token: 'x',
          id_token: await sign({ issuer, key }, claims, signer),
        },
      };
      return JSON.stringify(answers[url]);
    };
    server.on('request', ({ url = '' }, response) => {
      void answerTo(url).then((body) => response.setHeader('content-type', 'application/json').end(body));
    });
    opened.push({
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    const lie = (next: Record<string, unknown>, by = key): void => {
      claims = next;
      signer = by;
    };
    return { issuer, key, lie };
  }

  let liar: Awaited<ReturnType<typeof startLiar>>;
  let edge: EdgeHarness;
  beforeAll(async () => {
    liar = await startLiar();
    edge = await startGateway(liar.issuer);
  });

  const now = Math.floor(Date.now() / 1_000);
  it.each<[what: string, Record<string, unknown>, reason: string | null]>([
    ['that is good', {}, null],
    ['of somebody who is asked about another time', { nonce: 'x' }, 'untrusted'],
    ['without the nonce', { nonce: undefined }, 'untrusted'],
    ['for another client', { aud: 'other' }, 'untrusted'],
    ['for the audience of the interface', { aud: 'api' }, 'untrusted'],
    ['for several clients, and given to another one', { aud: [CLIENT_ID, 'other'], azp: 'other' }, 'untrusted'],
    ['of another issuer', { iss: 'https://evil.example' }, 'untrusted'],
    ['that has ended already', { exp: now - 60 }, 'clock'],
    ['that begins later', { nbf: now + 600 }, 'clock'],
    ['that was issued in the future', { iat: now + 600 }, 'clock'],
    ['without an end', { exp: undefined }, 'untrusted'],
    ['of nobody', { sub: '' }, 'untrusted'],
    ['without a group that may enter', { groups: ['visitors'] }, 'no_access'],
    ['without groups', { groups: undefined }, 'no_access'],
  ])('%s gets the right answer', async (_what, claims, reason) => {
    const { url, cookie } = await begin(edge);
    const { nonce, state } = Object.fromEntries(url.searchParams);
    liar.lie({ aud: CLIENT_ID, nonce, ...claims });
    const ended = await end(edge, `?code=x&state=${state}`, cookie);
    if (reason !== null) expect(ended).toMatchObject(refusedWith(reason));
    else expect(ended.location).toBe('/app/#signed-in');
  });

  it('is for the page alone, and what is for the interface is not for the page', async () => {
    const statusOf = async (aud: string): Promise<number> =>
      (await edge.fetch('/no/such/route', { token: await sign(liar, { aud }) })).status;
    expect([await statusOf('api'), await statusOf(CLIENT_ID)]).toEqual([404, 401]);
  });

  it('that somebody else has signed is refused', async () => {
    const { url, cookie } = await begin(edge);
    const { nonce, state } = Object.fromEntries(url.searchParams);
    liar.lie({ aud: CLIENT_ID, nonce }, { ...(await createKey()), kid: liar.key.kid });
    expect(await end(edge, `?code=x&state=${state}`, cookie)).toMatchObject(refusedWith('untrusted'));
  });
});
