import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Provider, { type ClientAuthMethod, type Configuration } from 'oidc-provider';
import { createKey, listen } from './identity-provider.js';
import { ShortMemory } from './short-memory.js';

/** Claims of the people of a provider, by the name that they type there. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface SignInProviderOptions {
  readonly redirectUri: string;
  readonly people: People;
  /** How its client `page` proves who it is; `none` for a public one. */
  readonly proof?: ClientAuthMethod;
  /** Which ways of that it takes at all. Default: every one. */
  readonly methods?: ClientAuthMethod[];
  /** Claims beside `sub` are told to who asks for them, not in the ID token. */
  readonly tellsApart?: boolean;
}

/** A real OpenID Connect provider on loopback, with a page at which people say who they are. */
export interface SignInProvider extends AsyncDisposable {
  readonly issuer: string;
}

export const CLIENT_ID = 'page';
/** With what must be encoded in a header. */
export const CLIENT_SECRET = 'secret of the page: 100% & more';
const SCOPES = 'openid profile email';
const INTERACTION = '/interaction/';

/** At `localhost`, which is another site to browsers than `127.0.0.1`. */
export async function startSignInProvider(options: SignInProviderOptions): Promise<SignInProvider> {
  const server = await listen(0);
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, await configurationOf(options));
  provider.use(async (context, next) => {
    if (!context.path.startsWith(INTERACTION)) return void (await next());
    if (context.method === 'GET') {
      context.type = 'html';
      context.body = PAGE;
      return;
    }
    const form = new URLSearchParams(await text(context.req));
    const login = form.get('login');
    const result =
      form.get('answer') === 'no'
        ? { error: 'access_denied', error_description: 'The person said no.' }
        : { login: { accountId: login ?? '' } };
    await provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: false });
    context.respond = false;
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  return {
    issuer,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PAGE = `<!doctype html><html lang="en"><title>Example Login</title><form method="post">
<label>Name <input name="login" autofocus></label>
<button name="answer" value="yes">Continue</button><button name="answer" value="no">Cancel</button></form></html>`;

async function configurationOf({
  redirectUri,
  people,
  proof = 'client_secret_basic',
  methods = ['client_secret_basic', 'client_secret_post', 'none'],
  tellsApart = false,
}: SignInProviderOptions): Promise<Configuration> {
  const { jwk } = await createKey();
  return {
    adapter: ShortMemory,
    jwks: { keys: [jwk] },
    cookies: { keys: ['key of the cookies'] },
    clients: [
      {
        client_id: CLIENT_ID,
        ...(proof === 'none' ? {} : { client_secret: CLIENT_SECRET }),
        token_endpoint_auth_method: proof,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    clientAuthMethods: methods,
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 600, Session: 600 },
    claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: tellsApart,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `${INTERACTION}${uid}` },
    findAccount: (_context, accountId) =>
      people[accountId] && { accountId, claims: () => ({ sub: accountId, ...people[accountId] }) },
    // Whoever signs in agrees.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
  };
}
