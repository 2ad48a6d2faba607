import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ServiceError } from '@workspace-graph/contracts';

/** A refusal as a JSON-RPC error that carries the error object in `data`. Anything else is passed through. */
export function protocolError(error: unknown, requestId: string): unknown {
  if (!(error instanceof ServiceError)) return error;
  const code = error.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, error.message, error.toBody(requestId));
}

/** As `protocolError`; a node that is absent or not visible is a resource that is not there. */
export function resourceError(error: unknown, uri: string, requestId: string): unknown {
  const absent = error instanceof ServiceError && error.code === 'NODE_NOT_FOUND';
  return absent ? new ResourceNotFoundError(uri) : protocolError(error, requestId);
}
