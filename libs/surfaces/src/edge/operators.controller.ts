import { Controller, Get, HttpStatus, Inject, Req, Res } from '@nestjs/common';
import { ServiceError, scopeIncludes } from '@workspace-graph/contracts';
import { mayReadMetrics } from '@workspace-graph/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EdgeAuthenticator } from './authenticator.js';
import { EDGE_PARTS, type EdgeParts } from './edge-parts.js';
import { EdgeRoute } from './edge-route.js';

/** For who runs the service: alive, ready, metrics. */
@Controller()
export class OperatorsController {
  constructor(
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
    @Inject(EdgeAuthenticator) private readonly authenticator: EdgeAuthenticator,
  ) {}

  @Get('health/live')
  @EdgeRoute({ tier: 'public', unlimited: true })
  live(): { readonly status: string } {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @EdgeRoute({ tier: 'public' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ readonly status: string }> {
    if (await this.parts.health.ready()) return { status: 'ok' };
    reply.status(HttpStatus.SERVICE_UNAVAILABLE);
    return { status: 'unavailable' };
  }

  /** Opens to the metrics token, to this machine where none is set, and to the scope manage. */
  @Get('metrics')
  @EdgeRoute({ tier: 'public' })
  async metrics(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { metrics, settings } = this.parts;
    const { headers, socket } = request;
    if (!mayReadMetrics({ headers, remoteAddress: socket.remoteAddress }, settings.metricsToken))
      await this.requireManage(request);
    await reply.header('content-type', metrics.contentType).send(await metrics.text());
  }

  private async requireManage({ headers, id }: FastifyRequest): Promise<void> {
    const { caller } = await this.authenticator.authenticate(headers.authorization, { requestId: id });
    if (!scopeIncludes(caller.scope, 'manage')) {
      throw new ServiceError('FORBIDDEN', 'The metrics need the scope manage.', { required_scope: 'manage' });
    }
  }
}
