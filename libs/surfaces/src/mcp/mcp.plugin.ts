import { ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeRouteConfig } from '../edge/index.js';
import { MalformedRequest } from './answers.js';
import type { McpEndpoint } from './mcp-endpoint.js';

const INVALID_REQUEST = -32600;
/** Reading is what every tool needs at least; each tool asks for its own scope beyond that. */
const CONFIG: EdgeRouteConfig = { tier: 'read', endsStreams: true, takesNoCookie: true };

/** The routes of the MCP endpoint. Bodies stay bytes, since it is the protocol that says what is wrong with them. */
export function mcpRoutes(endpoint: McpEndpoint, url: string, bodyBytes: number) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.removeAllContentTypeParsers();
    const asBytes = { parseAs: 'buffer', bodyLimit: bodyBytes } as const;
    scope.addContentTypeParser('*', asBytes, (_request, body, done) => done(null, body));
    scope.setErrorHandler((error: FastifyError, request, reply) =>
      endpoint.fail(asMalformed(error, bodyBytes), request, reply),
    );
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url,
      config: CONFIG,
      exposeHeadRoute: false,
      bodyLimit: bodyBytes,
      handler: (request, reply) => endpoint.handle(request, reply),
    });
    scope.route({ method: ['PUT', 'PATCH', 'HEAD'], url, config: CONFIG, handler: methodNotAllowed });
  };
}

async function methodNotAllowed(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const error = { code: INVALID_REQUEST, message: `${request.method} is not allowed here` };
  await reply.code(405).header('allow', 'GET, POST, DELETE').send({ jsonrpc: '2.0', id: null, error });
}

/** What the server itself refused before the endpoint saw it, in the product's words. */
function asMalformed(error: FastifyError, bodyBytes: number): unknown {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const message = `The body is larger than ${bodyBytes} bytes.`;
    const refusal = new ServiceError('PAYLOAD_TOO_LARGE', message, { limit_bytes: bodyBytes });
    return new MalformedRequest(INVALID_REQUEST, refusal);
  }
  if (error.statusCode === undefined || error.statusCode >= 500) return error;
  const issue = { path: '', message: 'The request could not be read.' };
  return new MalformedRequest(INVALID_REQUEST, validationFailed([issue]));
}
