import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { ServiceError } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import type { FastifyReply } from 'fastify';
import { EDGE_PARTS, type EdgeParts } from './edge-parts.js';
import { asRefusal, internalError, methodNotAllowed, sendRefusal } from './error-answer.js';
import { RouteTable } from './route-table.js';

/** Makes the one error object of whatever a handler throws. A surprise is told to the log alone. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger: Logger;

  constructor(
    @Inject(EDGE_PARTS) { logger }: EdgeParts,
    @Inject(RouteTable) private readonly routes: RouteTable,
  ) {
    this.logger = logger;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const refusal = asRefusal(error) ?? internalError(error);
    if (refusal.code === 'INTERNAL')
      this.logger.error({ request_id: reply.request.id, err: error }, 'a request failed unexpectedly');
    if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
    else sendRefusal(reply, reply.request.is404 ? this.withoutRoute(refusal, reply) : refusal);
  }

  /** A path that other methods know is there. */
  private withoutRoute(refusal: ServiceError, reply: FastifyReply): ServiceError {
    const { url, method } = reply.request;
    const methods = this.routes.methodsOf(url);
    if (methods.length === 0) return refusal;
    reply.header('allow', methods.join(', '));
    return methodNotAllowed(method, methods);
  }
}
