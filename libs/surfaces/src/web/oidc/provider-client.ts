import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
} from 'openid-client';
import type { OidcClientSettings } from '../../edge/edge-settings.js';
import { type MoreClaims, providerUnavailable } from '../../edge/jwt-verifier.js';
import type { Flow } from './flow.js';

const TIMEOUT_SECONDS = 5;
/** How long what the provider tells of itself is used without asking again. */
const FRESH_MS = 600_000;
/** How long a provider that failed is left alone. */
const BACKOFF_MS = 1_000;
const CLOCK_TOLERANCE_SECONDS = 5;

/** What the provider gave for a code. */
export interface Redeemed {
  /** Not verified yet. */
  readonly jwt: string;
  readonly more: MoreClaims;
}

export interface ProviderClientParts {
  readonly issuer: string;
  readonly client: Pick<OidcClientSettings, 'id' | 'secret' | 'scopes'>;
  readonly redirectUri: string;
}

/** The page's client at the provider: authorization code flow with PKCE. */
export class ProviderClient {
  private found: { readonly configuration: Promise<Configuration>; readonly endsAtMs: number } | undefined;

  constructor(private readonly parts: ProviderClientParts) {}

  /** Where a browser signs in, perhaps as another person than before. @throws ServiceError SERVICE_UNAVAILABLE */
  async addressFor({ state, nonce, verifier }: Flow, asOther: boolean): Promise<string> {
    const { redirectUri, client } = this.parts;
    const parameters = {
      redirect_uri: redirectUri,
      scope: client.scopes.join(' '),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(asOther ? { prompt: 'login' } : {}),
    };
    return buildAuthorizationUrl(await this.configuration(), parameters).href;
  }

  /**
   * Exchanges the code with which the provider sent a browser back.
   * @param query of the redirect @throws Error of openid-client; ServiceError SERVICE_UNAVAILABLE, perhaps as a cause
   */
  async redeem(query: string, { state, nonce, verifier }: Flow): Promise<Redeemed> {
    const configuration = await this.configuration();
    const url = new URL(this.parts.redirectUri);
    url.search = query;
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    const { id_token: jwt = '', access_token: accessToken } = await authorizationCodeGrant(configuration, url, checks);
    const { userinfo_endpoint: hasMore } = configuration.serverMetadata();
    return { jwt, more: async (subject) => (hasMore ? fetchUserInfo(configuration, accessToken, subject) : {}) };
  }

  private configuration(): Promise<Configuration> {
    const nowMs = performance.now();
    if (this.found && nowMs < this.found.endsAtMs) return this.found.configuration;
    const configuration = this.discover();
    const found = { configuration, endsAtMs: nowMs + FRESH_MS };
    this.found = found;
    // A failure is told to everybody who asks within a moment.
    configuration.catch(() => {
      if (this.found === found) this.found = { configuration, endsAtMs: performance.now() + BACKOFF_MS };
    });
    return configuration;
  }

  private async discover(): Promise<Configuration> {
    const { issuer, client } = this.parts;
    try {
      return await discovery(new URL(issuer), client.id, { [clockTolerance]: CLOCK_TOLERANCE_SECONDS }, this.proof(), {
        timeout: TIMEOUT_SECONDS,
        [customFetch]: askProvider,
        // The configuration takes a provider without TLS on this machine alone.
        execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
      });
    } catch (error) {
      throw providerUnavailable(error);
    }
  }

  /** How the client proves who it is: as the provider takes it, in a header if that is left open. */
  private proof(): ClientAuth {
    const secret = this.parts.client.secret?.reveal();
    if (secret === undefined) return None();
    const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
    return (server, ...rest) => {
      const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
      (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
    };
  }
}

/** Tells a provider that cannot be reached, or that is at fault itself, from one that refuses. */
const askProvider: CustomFetch = async (url, options) => {
  try {
    const response = await fetch(url, options);
    if (response.status >= 500) throw new Error(`The identity provider answered ${response.status}`);
    return response;
  } catch (error) {
    throw providerUnavailable(error);
  }
};
