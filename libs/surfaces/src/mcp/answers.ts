import type { RequestId } from '@modelcontextprotocol/server';
import type { ServiceError } from '@workspace-graph/contracts';

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A request that breaks the protocol before it is a call. `code` is the JSON-RPC code. */
export class MalformedRequest extends Error {
  constructor(
    readonly code: number,
    readonly error: ServiceError,
  ) {
    super(error.message);
    this.name = 'MalformedRequest';
  }

  /** A JSON-RPC error with the product's error object in `data`. */
  toResponse(requestId: string): Response {
    const { message, status } = this.error;
    return rpcError(status, { code: this.code, message, data: this.error.toBody(requestId) });
  }
}

/** A JSON-RPC error as an HTTP answer. `id` is that of the request, when it is known. */
export function rpcError(status: number, error: RpcError, id: RequestId | null = null): Response {
  return Response.json({ jsonrpc: '2.0', id, error }, { status });
}
