import {
  isJSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
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

/**
 * A message as the protocols with a handshake have it: a resource that is not there has a code of its own. The newest
 * one took that away, and the library speaks like it to everybody.
 */
export function inHandshakeTerms(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message)) return message;
  const { code, message: text, data } = message.error;
  const absent = ProtocolError.fromError(code, text, data) instanceof ResourceNotFoundError;
  return absent ? { ...message, error: { ...message.error, code: ProtocolErrorCode.ResourceNotFound } } : message;
}
