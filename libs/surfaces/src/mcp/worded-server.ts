import { Server, type ServerContext, type ServerOptions } from '@modelcontextprotocol/server';
import { ServiceError } from '@workspace-graph/contracts';
import { type Connection, currentConnection, runAs } from './connection.js';
import { protocolError } from './protocol-errors.js';
import { checkParams } from './request-params.js';
import { refusal } from './tool-refusal.js';

type Handler = Parameters<Server['_wrapHandler']>[1];
type Identity = ConstructorParameters<typeof Server>[0];

/** What a client asks before it is an agent at work. */
const PROBES = new Set(['initialize', 'ping', 'server/discover']);

/** Records the agent behind a connection, and answers the connection as one of its session. */
export type Enter = (connection: Connection, server: Server) => Promise<Connection>;

/**
 * The library's server, which tells in words what is wrong with the parameters of a request, and carries out each request
 * in the session of its agent: from the end of the handshake, or from the first request that says who asks.
 */
export class WordedServer extends Server {
  constructor(
    identity: Identity,
    options: ServerOptions,
    private readonly enter: Enter,
  ) {
    super(identity, options);
    // Should this fail, the next request says so.
    this.oninitialized = () => void this.enter(currentConnection(), this).catch(() => undefined);
  }

  // Runs before the library looks at a request itself; it would answer what its validator says, as a failure of the server.
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const serve = super._wrapHandler(method, handler);
    return async (request, ctx: ServerContext) => {
      const connection = currentConnection();
      try {
        checkParams(method, request.params);
      } catch (error) {
        throw protocolError(error, connection.requestId);
      }
      if (PROBES.has(method)) return serve(request, ctx);
      let within: Connection;
      try {
        within = await this.enter(connection, this);
      } catch (error) {
        // Agents read what a tool answers; what the protocol refuses, their programs do.
        if (method === 'tools/call' && error instanceof ServiceError)
          return refusal(error.toBody(connection.requestId));
        throw protocolError(error, connection.requestId);
      }
      return runAs(within, () => serve(request, ctx));
    };
  }
}
