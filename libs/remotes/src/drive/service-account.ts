import { importPKCS8, SignJWT } from 'jose';
import { fieldOf, jsonOf } from '../http/json.js';
import { aheadMsOf, busy, type HttpCall, onNetwork } from '../http/network.js';
import { RemoteFailure } from '../port/index.js';

/** The key of a service account, as Google gives it out. Whatever else its JSON says is not used. */
export interface ServiceAccount {
  readonly email: string;
  /** PEM in PKCS #8. */
  readonly privateKey: string;
  readonly keyId: string | null;
}

/** Who the assertion is for, wherever it is sent. */
const AUDIENCE = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/drive';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const LIFETIME_SECONDS = 3_600;

/**
 * Trades an assertion for an access token of an hour (RFC 7523). Where our clock is wrong, the server's is taken.
 * @throws RemoteFailure `forbidden` for a key that is refused; `unavailable`
 */
export async function accessTokenOf(account: ServiceAccount, tokenUrl: string, call: HttpCall): Promise<string> {
  let response = await asked(account, tokenUrl, 0, call);
  const aheadMs = response.status === 400 ? aheadMsOf(response) : null;
  if (aheadMs !== null) {
    await response.body?.cancel();
    response = await asked(account, tokenUrl, aheadMs, call);
  }
  if (response.status === 429 || response.status >= 500) throw busy(response, call);
  const answer = await jsonOf(response, call);
  if (!response.ok) {
    const cause = new Error(`Google refused the service account: ${String(fieldOf(answer, 'error_description'))}`);
    throw new RemoteFailure('forbidden', { path: call.path }, { cause });
  }
  const token = fieldOf(answer, 'access_token');
  if (typeof token !== 'string') throw new Error('Google answered no access token');
  return token;
}

async function asked(account: ServiceAccount, tokenUrl: string, aheadMs: number, call: HttpCall): Promise<Response> {
  const body = new URLSearchParams({ grant_type: GRANT, assertion: await assertionOf(account, aheadMs, call) });
  return onNetwork(call, () => fetch(tokenUrl, { method: 'POST', body, redirect: 'error' }));
}

async function assertionOf({ email, privateKey, keyId }: ServiceAccount, aheadMs: number, { path }: HttpCall) {
  const key = await importPKCS8(privateKey, 'RS256').catch((cause: unknown) => {
    throw new RemoteFailure('forbidden', { path }, { cause });
  });
  const issuedAt = Math.floor((Date.now() + aheadMs) / 1_000);
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) })
    .setIssuer(email)
    .setAudience(AUDIENCE)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .sign(key);
}
