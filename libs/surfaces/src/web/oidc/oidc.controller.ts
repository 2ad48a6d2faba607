import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { readInput, type SignInRefusal } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { EdgeAuthenticator } from '../../edge/authenticator.js';
import { EDGE_PARTS, type EdgeParts } from '../../edge/edge-parts.js';
import { EdgeRoute } from '../../edge/edge-route.js';
import { type PageCookie, pageCookieOf, readCookie, setPageCookie } from '../../edge/page-cookie.js';
import { PAGE_PATH } from '../page-path.js';
import { PageTokens } from '../page-tokens.js';
import { type Flow, setFlowCookie } from './flow.js';
import { CALLBACK_PATH, OidcSignIn } from './oidc-sign-in.js';
import { reasonOf, refusalOf } from './refusal.js';

const Begin = z.strictObject({
  to: z.string().default(PAGE_PATH),
  /** The provider asks who it is, whoever is signed in there. */
  as_other: z.boolean().default(false),
});

/** Sends a browser to the identity provider and takes it back. Whatever goes wrong there ends at the page, in words. */
@Controller('app/sign-in/oidc')
export class OidcController {
  constructor(
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
    @Inject(OidcSignIn) private readonly signIn: OidcSignIn,
    @Inject(PageTokens) private readonly tokens: PageTokens,
  ) {}

  /** Where to go. `to` is the path of the page to come back to. */
  @Post()
  @HttpCode(200)
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async begin(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ readonly url: string }> {
    const { to, as_other: asOther } = readInput(Begin, request.body);
    const { url, kept } = await this.signIn.begin(request.headers.host, { to, asOther });
    reply.header('set-cookie', setFlowCookie(this.flowCookie(request), kept, CALLBACK_PATH));
    return { url };
  }

  @Get('callback')
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async end(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'));
    const cookie = this.flowCookie(request);
    const flow = this.signIn.flowOf(readCookie(request.headers, cookie), query);
    if (!flow) return this.sendBack(reply, PAGE_PATH, refused('expired', request.id));
    // One browser ends it once; that of another sign-in stays as it is.
    const cookies = [setFlowCookie(cookie, null, CALLBACK_PATH)];
    try {
      const secret = await this.secretFor(request, query, flow);
      const page = pageCookieOf(request.headers.host, this.parts.settings.publicUrl);
      reply.header('set-cookie', [...cookies, setPageCookie(page, secret)]);
      await this.sendBack(reply, flow.to, 'signed-in');
    } catch (error) {
      const refusal = refusalOf(error);
      this.parts.logger.warn({ request_id: request.id, refusal, reason: reasonOf(error) }, 'a sign-in was refused');
      reply.header('set-cookie', cookies);
      await this.sendBack(reply, flow.to, refused(refusal, request.id));
    }
  }

  private async secretFor(request: FastifyRequest, query: URLSearchParams, flow: Flow): Promise<string> {
    const redeemed = await this.signIn.redeem(query, flow);
    const identified = { ...redeemed, clientId: this.signIn.clientId };
    return this.tokens.make(await this.authenticator.identify(identified, { requestId: request.id }), request);
  }

  private flowCookie({ headers }: FastifyRequest): PageCookie {
    return pageCookieOf(headers.host, this.parts.settings.publicUrl, 'svc_sign_in');
  }

  /** What is told in the fragment reaches no log and no other server. */
  private async sendBack(reply: FastifyReply, path: string, fragment: string): Promise<void> {
    await reply.redirect(`${path}#${fragment}`, 303);
  }
}

function refused(refusal: SignInRefusal, requestId: string): string {
  return `refused=${refusal}&request=${encodeURIComponent(requestId)}`;
}
