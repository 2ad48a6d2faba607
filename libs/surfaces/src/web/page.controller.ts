import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EdgeRoute } from '../edge/edge-route.js';
import { routeNotFound } from '../edge/error-answer.js';
import { chooseEncoding } from '../rest/compression.js';
import { FactsOfPage } from './facts-of-page.js';
import { PageFiles } from './page-files.js';
import { PAGE_PATH } from './page-path.js';

const YEAR_SECONDS = 31_536_000;

/** The page in the browser: files that tell nothing of the workspace. What they show they ask for like any other client. */
@Controller()
export class PageController {
  constructor(
    @Inject(PageFiles) private readonly files: PageFiles,
    @Inject(FactsOfPage) private readonly facts: FactsOfPage,
  ) {}

  @Get('app')
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async redirect(@Res() reply: FastifyReply): Promise<void> {
    await reply.redirect(PAGE_PATH, 308);
  }

  @Get('app/*')
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async get(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const path = (request.params as { '*'?: string })['*'] ?? '';
    const file = this.files.find(path);
    if (file) return this.sendFile(request, reply, file);
    // A view of the page has no dot in its name; a file that is gone is none.
    if (path.includes('.')) throw routeNotFound();
    const { html, nonce } = this.files.document(this.facts.at(request.headers.host));
    await reply.header('content-security-policy', policyOf(nonce)).type('text/html; charset=utf-8').send(html);
  }

  private async sendFile(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    file: NonNullable<ReturnType<PageFiles['find']>>,
  ): Promise<void> {
    reply
      .header('cache-control', file.isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
      .header('vary', 'Accept-Encoding')
      .header('etag', file.etag);
    if (headers['if-none-match'] === file.etag) return void (await reply.code(304).send());
    const { bytes, encoding } = file.encoded(chooseEncoding(headers['accept-encoding']));
    if (encoding) reply.header('content-encoding', encoding);
    await reply.type(file.type).send(bytes);
  }
}

/** Scripts and styles of this origin alone; the nonce is for the styles that the page makes itself. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self' blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
