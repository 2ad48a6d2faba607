import { KeyObject, sign as signBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { ShortMemory } from './short-memory.js';

export const AUDIENCE = 'https://graph.example.org';
export const OTHER_AUDIENCE = 'https://other.example.org';

export interface SigningKey {
  readonly kid: string;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

/** A real OpenID Connect provider on loopback, whose clients get JWTs for themselves. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly port: number;
  readonly key: SigningKey;
  /** How often its keys were asked for. */
  readonly keyRequests: () => number;
  /** A JWT from its token endpoint. */
  issueToken(audience?: string): Promise<string>;
  close(): Promise<void>;
}

export async function createKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = crypto.randomUUID();
  return { kid, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' } };
}

/** @param port that of a provider that was closed, to take its place */
export async function startProvider(key: SigningKey, port = 0): Promise<IdentityProvider> {
  const listening = await listen(port);
  const { port: actualPort } = listening.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${actualPort}`;
  const provider = createProvider(issuer, key);
  let keyRequests = 0;
  provider.use(async (context, next) => {
    if (context.path === '/jwks') keyRequests += 1;
    await next();
  });
  const answer = provider.callback();
  listening.on('request', (request, response) => void answer(request, response));
  return {
    issuer,
    port: actualPort,
    key,
    keyRequests: () => keyRequests,
    issueToken: (audience = AUDIENCE) => askForToken(issuer, audience),
    close: async () => {
      listening.closeAllConnections();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
}

/** A JWT as the provider would sign it; what is given replaces that. */
export function sign(
  provider: Pick<IdentityProvider, 'issuer' | 'key'>,
  claims: Record<string, unknown>,
  key: SigningKey = provider.key,
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    iss: provider.issuer,
    aud: AUDIENCE,
    sub: 'anna',
    groups: ['editors'],
    iat: now,
    exp: now + 600,
    ...claims,
  })
    .setProtectedHeader({ alg: 'RS256', kid: key.kid })
    .sign(key.privateKey);
}

/** A JWT of exactly this header and payload, which are JSON or what shall look like it, with a good RS256 signature. */
export function signText(header: object, payload: string, privateKey: CryptoKey | KeyObject): string {
  const key = privateKey instanceof KeyObject ? privateKey : KeyObject.from(privateKey);
  const text = [JSON.stringify(header), payload].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${text}.${signBytes('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/** An issuer that publishes this key set, whatever it is worth: what a real provider refuses to be configured with. */
export async function startIssuer(keys: unknown): Promise<Pick<IdentityProvider, 'issuer' | 'close'>> {
  const server = await listen(0);
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', ({ url }, response) => {
    const answer = url === '/jwks' ? keys : { issuer, jwks_uri: `${issuer}/jwks` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { issuer, close };
}

export async function listen(port: number): Promise<Server> {
  const { createServer } = await import('node:http');
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}

function createProvider(issuer: string, key: SigningKey): Provider {
  return new Provider(issuer, {
    adapter: ShortMemory,
    ttl: { ClientCredentials: () => 600 },
    jwks: { keys: [key.jwk] },
    clients: [
      {
        client_id: 'robot',
        client_secret: 'secret-of-robot',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    extraTokenClaims: () => ({ groups: ['editors', 'unmapped'], name: 'Robot' }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          audience,
          scope: 'graph',
          accessTokenFormat: 'jwt' as const,
          accessTokenTTL: 600,
        }),
      },
    },
  });
}

async function askForToken(issuer: string, resource: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('robot:secret-of-robot').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope: 'graph' }),
  });
  const body = (await response.json()) as { access_token?: string };
  if (!body.access_token) throw new Error(`The provider gave no token: ${JSON.stringify(body)}`);
  return body.access_token;
}
