import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { type Caller, readInput, ServiceError } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admissionOf } from '../edge/admission.js';
import { EdgeAuthenticator } from '../edge/authenticator.js';
import { readCredential } from '../edge/credential.js';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';
import { EdgeRoute } from '../edge/edge-route.js';
import { pageCookieOf, readPageCookie, setPageCookie } from '../edge/page-cookie.js';
import { PageTokens } from './page-tokens.js';
import { SignInLinks } from './sign-in-links.js';

/** What a cookie must have left to be as good as a new one. */
const LONG_ENOUGH_MS = 15 * 86_400_000;

const SignIn = z.union([
  z.strictObject({ code: z.string().min(1).max(200) }),
  z.strictObject({ token: z.string().min(1).max(16_384) }),
]);

/** How a browser gets a credential that no script can read, and how it lets go of it. */
@Controller('app')
export class SignInController {
  constructor(
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
    @Inject(SignInLinks) private readonly links: SignInLinks,
    @Inject(PageTokens) private readonly tokens: PageTokens,
  ) {}

  /**
   * Exchanges a code or a token for a cookie with a token of its own, which ends with the one that it was made with. A code leaves
   * a browser that is signed in as the same person its cookie: each `svc open` would add a token.
   */
  @Post('sign-in')
  @HttpCode(204)
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async signIn(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const given = readInput(SignIn, request.body);
    const presented = 'code' in given ? this.links.redeem(given.code) : readCredential(`Bearer ${given.token.trim()}`);
    if (!presented) throw refused('code' in given);
    const authenticated = await this.authenticator.verify(presented, { requestId: request.id });
    if ('code' in given && (await this.isSignedIn(request, authenticated.caller))) return;
    const secret = await this.tokens.make(authenticated, request);
    reply.header('set-cookie', setPageCookie(this.cookieOf(request), secret));
  }

  /** Ends the token of the cookie, and the cookie. */
  @Post('sign-out')
  @HttpCode(204)
  @EdgeRoute({ tier: 'read' })
  async signOut(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const { caller } = admissionOf(request);
    if (request.headers.authorization === undefined) await this.tokens.end(caller, request);
    reply.header('set-cookie', setPageCookie(this.cookieOf(request), null));
  }

  private async isSignedIn(request: FastifyRequest, { user_id, scope }: Caller): Promise<boolean> {
    const secret = readPageCookie(request.headers, this.cookieOf(request));
    const presented = secret === undefined ? null : readCredential(`Bearer ${secret}`);
    if (!presented) return false;
    try {
      const { caller, expiresAtMs } = await this.authenticator.verify(presented, { requestId: request.id });
      return caller.user_id === user_id && caller.scope === scope && expiresAtMs > Date.now() + LONG_ENOUGH_MS;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') return false;
      throw error;
    }
  }

  private cookieOf({ headers }: FastifyRequest) {
    return pageCookieOf(headers.host, this.parts.settings.publicUrl);
  }
}

function refused(isCode: boolean): ServiceError {
  return new ServiceError(
    'UNAUTHENTICATED',
    isCode
      ? 'This link was used already or has ended. `svc open` makes a new one.'
      : 'This is no token: one begins with svc_pat_ or svc_dev_.',
  );
}
