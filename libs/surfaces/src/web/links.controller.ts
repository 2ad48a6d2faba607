import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { readCredential } from '../edge/credential.js';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';
import { EdgeRoute } from '../edge/edge-route.js';
import { PAGE_PATH } from './page-path.js';
import { SignInLinks } from './sign-in-links.js';

/** Makes links for browsers. For a process that stands alone: a link is known where it was made. */
@Controller('app/links')
export class LinksController {
  constructor(
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(SignInLinks) private readonly links: SignInLinks,
  ) {}

  /** A link that signs one browser in, once, within minutes, as the caller. */
  @Post()
  @HttpCode(201)
  @EdgeRoute({ tier: 'read', takesNoCookie: true, isQuiet: true })
  create(@Req() request: FastifyRequest): { readonly url: string; readonly expires_at: string } {
    const presented = readCredential(request.headers.authorization ?? '');
    if (!presented) throw new ServiceError('UNAUTHENTICATED', 'This route needs a bearer token.');
    const { code, expiresAtMs } = this.links.make(presented);
    const address = this.parts.settings.publicUrl ?? `http://${request.headers.host}`;
    return {
      url: `${address.replace(/\/$/, '')}${PAGE_PATH}#code=${code}`,
      expires_at: new Date(expiresAtMs).toISOString(),
    };
  }
}
