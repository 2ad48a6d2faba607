import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { currentConnection } from './connection.js';
import { protocolError } from './protocol-errors.js';
import { checkParams } from './request-params.js';

type Handler = Parameters<Server['_wrapHandler']>[1];

/** The library's server, which tells in words what is wrong with the parameters of a request. */
export class WordedServer extends Server {
  // Runs before the library looks at a request itself; it would answer what its validator says, as a failure of the server.
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const serve = super._wrapHandler(method, handler);
    return async (request, ctx: ServerContext) => {
      try {
        checkParams(method, request.params);
      } catch (error) {
        throw protocolError(error, currentConnection().requestId);
      }
      return serve(request, ctx);
    };
  }
}
