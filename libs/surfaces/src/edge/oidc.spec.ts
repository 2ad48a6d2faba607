import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import {
  AUDIENCE,
  createKey,
  type IdentityProvider,
  OTHER_AUDIENCE,
  type SigningKey,
  sign,
  signText,
  startIssuer,
  startProvider,
} from '../../test/edge/identity-provider.js';
import type { OidcSettings } from './edge-settings.js';
import { JwtVerifier, PROVIDER_TIMES } from './jwt-verifier.js';

const SCOPE_GROUPS = { manage: ['admins'], write: ['editors'], read: ['everyone'] };

function settingsOf(issuer: string): OidcSettings {
  return {
    issuer,
    audience: AUDIENCE,
    algorithms: ['RS256', 'ES256'],
    groupsClaim: 'groups',
    scopeGroups: SCOPE_GROUPS,
  };
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The public key as a shared secret, which anybody can have. */
async function signWithPublicKey({ issuer, key }: IdentityProvider): Promise<string> {
  const { kty, n, e } = key.jwk;
  const pem = createPublicKey({ key: { kty, n, e }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  return new SignJWT({ sub: 'anna', groups: ['admins'] })
    .setProtectedHeader({ alg: 'HS256', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(pem.toString()));
}

describe('a JWT of the identity provider', () => {
  let provider: IdentityProvider;
  let edge: EdgeHarness;
  let otherKey: SigningKey;
  beforeAll(async () => {
    otherKey = await createKey();
    provider = await startProvider(await createKey());
    edge = await startEdge({ settings: { oidc: settingsOf(provider.issuer), publicUrl: 'https://graph.example.org' } });
  });
  afterAll(async () => {
    await edge.close();
    await provider.close();
  });

  const statusOf = async (jwt: string, path = '/no/such/route'): Promise<number> =>
    (await edge.fetch(path, { token: jwt })).status;

  it('is accepted as issued, with the scope of its groups [identity.jwt.verified, identity.jwt.groups-claim]', async () => {
    const jwt = await provider.issueToken();

    expect(await statusOf(jwt)).toBe(404);
    expect(await statusOf(jwt, '/users')).toBe(403);
    expect(edge.identity.asked.at(-1)).toEqual({
      kind: 'oidc',
      issuer: provider.issuer,
      subject: 'robot',
      name: 'Robot',
      groups: ['editors', 'unmapped'],
      scope: 'write',
      issued_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
    });
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['fits', {}, 404],
    ['has expired', { exp: Math.floor(Date.now() / 1_000) - 60 }, 401],
    ['never expires', { exp: undefined }, 401],
    ['is for another audience', { aud: OTHER_AUDIENCE }, 401],
    ['is for several audiences, ours among them', { aud: [OTHER_AUDIENCE, AUDIENCE] }, 404],
    ['is of another issuer', { iss: 'https://login.evil.example' }, 401],
    ['begins in the future', { nbf: Math.floor(Date.now() / 1_000) + 600 }, 401],
    ['has no subject', { sub: undefined }, 401],
    ['does not say when it was issued', { iat: undefined }, 401],
    ['gives no scope', { groups: ['unmapped'] }, 403],
    ['has no groups', { groups: undefined }, 403],
    ['has its group as a single text', { groups: 'admins' }, 404],
  ])('that %s gets the right answer [identity.jwt.verified]', async (_name, claims, status) => {
    expect(await statusOf(await sign(provider, claims))).toBe(status);
  });

  it.each<[string, Record<string, unknown>, object]>([
    ['both', { email: 'anna@example.org', preferred_username: 'anna' }, { email: 'anna@example.org', handle: 'anna' }],
    ['a verified e-mail', { email: 'anna@example.org', email_verified: true }, { email: 'anna@example.org' }],
    ['an e-mail that is not verified', { email: 'anna@example.org', email_verified: false }, {}],
    ['what is neither', { email: 'anna', preferred_username: 'a\nb' }, {}],
    ['no texts', { email: ['anna@example.org'], preferred_username: 7 }, {}],
  ])(
    'passes on how the person is called, and nothing that is not theirs: %s [identity.users.called]',
    async (_name, claims, called) => {
      expect(await statusOf(await sign(provider, claims))).toBe(404);
      const { email, handle } = edge.identity.asked.at(-1) as { email?: string; handle?: string };
      expect({ email, handle }).toEqual({ email: undefined, handle: undefined, ...called });
    },
  );

  it('is refused when the provider issued it for another service', async () => {
    expect(await statusOf(await provider.issueToken(OTHER_AUDIENCE))).toBe(401);
  });

  it('is refused with alg none, a symmetric algorithm, a foreign key and a changed payload [identity.jwt.algorithm-allow-list]', async () => {
    const claims = {
      iss: provider.issuer,
      aud: AUDIENCE,
      sub: 'anna',
      groups: ['admins'],
      exp: Math.floor(Date.now() / 1_000) + 600,
    };
    const [head = '', , signature = ''] = (await sign(provider, {})).split('.');
    const forged = [
      `${base64url({ alg: 'none' })}.${base64url(claims)}.x`,
      `${base64url({ alg: 'None', kid: provider.key.kid })}.${base64url(claims)}.${signature}`,
      await signWithPublicKey(provider),
      await sign(provider, {}, { ...otherKey, kid: provider.key.kid }),
      `${head}.${base64url(claims)}.${signature}`,
    ];

    expect(await Promise.all(forged.map((jwt) => statusOf(jwt)))).toEqual([401, 401, 401, 401, 401]);
  });

  describe('that is signed well and says what cannot be', () => {
    const now = Math.floor(Date.now() / 1_000);
    const good = {
      aud: JSON.stringify(AUDIENCE),
      sub: '"anna"',
      groups: '["editors"]',
      iat: String(now),
      exp: String(now + 600),
    };
    /** Each claim as JSON text, for JSON.stringify would mend some of them. */
    const oddJwt = (claims: Readonly<Record<string, string>>, header: object = {}): string => {
      const all = Object.entries({ iss: JSON.stringify(provider.issuer), ...good, ...claims });
      const text = `{${all.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
      return signText({ alg: 'RS256', kid: provider.key.kid, ...header }, text, provider.key.privateKey);
    };
    const ask = async (jwt: string) => {
      const response = await edge.fetch('/no/such/route', { token: jwt });
      const id = response.headers.get('x-request-id');
      const lines = edge.log.filter((line) => line.includes(`"request_id":"${id}"`));
      return { status: response.status, body: await response.json(), log: lines.join('\n') };
    };

    it.each<[what: string, claims: Readonly<Record<string, string>>, reason: string]>([
      ['an end that is no time', { exp: '1e18' }, 'expires_at'],
      ['an end without end', { exp: '1e999' }, 'expires_at'],
      ['an end beyond the calendar', { exp: '253402300800' }, 'expires_at'],
      ['an end long ago', { exp: '-1e18' }, 'exp'],
      ['an end that is text', { exp: `"${now + 600}"` }, 'exp'],
      ['an end that is null', { exp: 'null' }, 'exp'],
      ['an issue that is no time', { iat: '-1e18' }, 'issued_at'],
      ['an issue in the distant future', { iat: '1e18' }, 'iat'],
      ['an issue that is still to come', { iat: String(now + 300) }, 'iat'],
      ['an issue that is text', { iat: '"today"' }, 'iat'],
      ['an issue that is a list', { iat: '[1]' }, 'iat'],
      ['a beginning that never comes', { nbf: '1e999' }, 'nbf'],
      ['a beginning that is text', { nbf: '"0"' }, 'nbf'],
      ['a beginning that is null', { nbf: 'null' }, 'nbf'],
      ['a subject that is a number', { sub: '42' }, 'subject'],
      ['a subject that is an object', { sub: '{"id":1}' }, 'subject'],
      ['a subject that is a list', { sub: '["anna"]' }, 'subject'],
      ['a subject that is null', { sub: 'null' }, 'subject'],
      ['an empty subject', { sub: '""' }, 'subject'],
      ['an overlong subject', { sub: JSON.stringify('a'.repeat(501)) }, 'subject'],
      ['a subject with NUL', { sub: '"an\\u0000na"' }, 'subject'],
      ['a subject with a line break', { sub: '"anna\\nadmin"' }, 'subject'],
      ['a subject with half a character', { sub: '"anna\\ud800"' }, 'subject'],
      ['an audience that is an object', { aud: '{"0":"x"}' }, 'aud'],
      ['an issuer that is a list', { iss: '["https://login.example"]' }, 'iss'],
    ])('is refused for %s, and the log has the reason [identity.jwt.odd-claims]', async (_what, claims, reason) => {
      const jwt = oddJwt(claims);
      const { status, body, log } = await ask(jwt);

      expect({ status, body }).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
      expect(log).toMatch(new RegExp(`"level":"info".*"reason":"[^\\n]*${reason}`));
      for (const part of jwt.split('.')) expect(edge.log.join('\n')).not.toContain(part);
    });

    it.each<[what: string, header: Record<string, unknown>]>([
      ['an extension that it does not know', { crit: ['exp'], exp: 1 }],
      ['an empty list of extensions', { crit: [] }],
      ['a payload that is not encoded', { crit: ['b64'], b64: false }],
      ['a key that nobody knows', { kid: 'nobody' }],
      ['a key id that is a number', { kid: 7 }],
      ['a key id that is an object', { kid: { toString: 1 } }],
      ['no algorithm', { alg: undefined }],
      ['an algorithm that is a list', { alg: ['RS256'] }],
      ['an algorithm that is not allowed', { alg: 'RS512' }],
    ])('is refused for a header with %s [identity.jwt.odd-claims]', async (_what, header) => {
      const { status, log } = await ask(oddJwt({}, header));

      expect(status).toBe(401);
      expect(log).toContain('"reason":');
    });

    it.each(['[]', '"text"', 'null', '{', '{"iss":1}'])('is refused for the payload %j', async (payload) => {
      const { status, log } = await ask(
        signText({ alg: 'RS256', kid: provider.key.kid }, payload, provider.key.privateKey),
      );

      expect(status).toBe(401);
      expect(log).toContain('"reason":');
    });

    it.each<[what: string, claims: Readonly<Record<string, string>>, status: number]>([
      ['a name that is a number', { name: '42' }, 404],
      ['a name that is an object', { name: '{"first":"Anna"}' }, 404],
      ['an endless name', { name: JSON.stringify('n'.repeat(5_000)) }, 404],
      ['a name of half a character', { name: '"\\ud800"' }, 404],
      ['a beginning long ago', { nbf: '-1e18' }, 404],
      ['an end in a fraction of a second', { exp: `${now + 600}.125` }, 404],
      ['hundreds of groups', { groups: JSON.stringify(['editors', ...Array<string>(1_500).fill('g')]) }, 404],
      ['groups of all kinds', { groups: '[null,1,{"a":[]},["editors"],"\\ud800","editors"]' }, 404],
      ['groups that are a number', { groups: '7' }, 403],
      ['groups that are an object', { groups: '{"editors":true}' }, 403],
      [
        'claims of every kind beside',
        { admin: 'true', scope: '"manage"', ['__proto__']: '{"groups":["admins"]}' },
        404,
      ],
    ])('with %s is judged by the rest', async (_what, claims, status) => {
      expect((await ask(oddJwt(claims))).status).toBe(status);
    });

    it('hands on no group that cannot be told from another one', async () => {
      await ask(oddJwt({ groups: '["editors","staff\\ud800"]', jti: '"groups"' }));

      expect(edge.identity.asked.at(-1)).toMatchObject({ groups: ['editors'] });
    });
  });

  it('leads a client without one to the provider', async () => {
    const response = await edge.fetch('/.well-known/oauth-protected-resource/mcp');

    expect(await response.json()).toMatchObject({
      resource: 'https://graph.example.org/mcp',
      authorization_servers: [provider.issuer],
    });
  });

  it('signed with an unknown key does not make us hammer the provider [identity.jwt.key-rotation]', async () => {
    const before = provider.keyRequests();
    const jwts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sign(provider, { jti: String(index) }, otherKey)),
    );
    for (const jwt of jwts) expect(await statusOf(jwt)).toBe(401);

    expect(provider.keyRequests() - before).toBeLessThanOrEqual(1);
  });
});

describe('a key of the provider that cannot be used', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 });
  const asJwk = (key: JsonWebKey): JsonWebKey => ({ ...key, kid: 'odd', alg: 'RS256', use: 'sig' });
  const publicJwk = small.publicKey.export({ format: 'jwk' });

  it.each<[what: string, key: JsonWebKey]>([
    ['a short one', asJwk(publicJwk)],
    ['a private one', asJwk(small.privateKey.export({ format: 'jwk' }))],
    ['one without its number', asJwk({ kty: 'RSA', e: 'AQAB' })],
    ['a damaged one', asJwk({ ...publicJwk, n: '!' })],
  ])('lets nobody in: %s; the others go on [identity.jwt.odd-keys]', async (_what, key) => {
    const good = await createKey();
    const { kty, n, e, kid } = good.jwk;
    const { issuer, close } = await startIssuer({ keys: [key, { kty, n, e, kid }] });
    const edge = await startEdge({ settings: { oidc: settingsOf(issuer) } });
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: AUDIENCE, sub: 'anna', groups: ['editors'], iat: now, exp: now + 600 };
    const signed = (kid: string, privateKey: Parameters<typeof signText>[2]): string =>
      signText({ alg: 'RS256', kid }, JSON.stringify(claims), privateKey);

    const refused = await edge.fetch('/no/such/route', { token: signed('odd', small.privateKey) });
    const known = await edge.fetch('/no/such/route', { token: signed(good.kid, good.privateKey) });
    await edge.close();
    await close();

    expect([refused.status, known.status]).toEqual([401, 404]);
    expect(edge.log.some((line) => line.includes('"reason":'))).toBe(true);
  });

  it.each([
    ['no list', { keys: {} }],
    ['nothing', null],
    ['a text', 'keys'],
  ])('is another thing than a key set that is %s: nobody can be judged', async (_what, keys) => {
    const { issuer, close } = await startIssuer(keys);
    const verifier = new JwtVerifier(settingsOf(issuer));
    const jwt = signText({ alg: 'RS256', kid: 'odd' }, '{}', small.privateKey);

    await expect(verifier.verify(jwt)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await close();
  });
});

describe('the keys of the provider', () => {
  const times = { ...PROVIDER_TIMES, cooldownMs: 50, backoffMs: 100, timeoutMs: 500 };

  it('may be replaced while we run [identity.jwt.key-rotation]', async () => {
    const first = await startProvider(await createKey());
    const verifier = new JwtVerifier(settingsOf(first.issuer), times);
    await verifier.verify(await sign(first, {}));
    await first.close();
    const second = await startProvider(await createKey(), first.port);
    await new Promise((resolve) => setTimeout(resolve, times.cooldownMs + 10));

    const claims = await verifier.verify(await sign(second, {}));
    await second.close();

    expect(claims).toMatchObject({ subject: 'anna', scope: 'write' });
  });

  it('are kept while the provider is down; without them the answer is 503, not 401', async () => {
    const provider = await startProvider(await createKey());
    const knows = new JwtVerifier(settingsOf(provider.issuer), times);
    await knows.verify(await sign(provider, {}));
    const jwt = await sign(provider, { jti: 'later' });
    await provider.close();
    const isNew = new JwtVerifier(settingsOf(provider.issuer), times);

    await expect(knows.verify(jwt)).resolves.toMatchObject({ subject: 'anna' });
    await expect(isNew.verify(jwt)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('are asked for again when the provider is back', async () => {
    const key = await createKey();
    const provider = await startProvider(key);
    const jwt = await sign(provider, {});
    await provider.close();
    const verifier = new JwtVerifier(settingsOf(provider.issuer), times);
    await expect(verifier.verify(jwt)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const again = await startProvider(key, provider.port);
    await new Promise((resolve) => setTimeout(resolve, times.backoffMs + 10));

    const claims = await verifier.verify(jwt);
    await again.close();

    expect(claims.subject).toBe('anna');
  });
});
