import { createPublicKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import {
  AUDIENCE,
  createKey,
  type IdentityProvider,
  OTHER_AUDIENCE,
  type SigningKey,
  sign,
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
