import type { CallToolResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type ErrorBody, ServiceError, scopeIncludes } from '@workspace-graph/contracts';
import { answerOf, askWithin, type ToolAnswer } from './answer-budget.js';
import { currentConnection, envelopeOf } from './connection.js';
import type { OperationBus } from './operation-bus.js';
import type { ToolEntry, ToolTable } from './tool-table.js';

/** `legacy`: protocols with a handshake. `modern`: the ones without. */
export type Era = 'legacy' | 'modern';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborted when the client gives the call up or the connection ends. */
  readonly signal: AbortSignal;
  readonly era: Era;
}

/** Carries tool calls out as operations on the bus. */
export class ToolCalls {
  constructor(
    private readonly table: ToolTable,
    private readonly bus: OperationBus,
  ) {}

  /**
   * Answers with the output as structured content and as compact JSON text. A refusal is a result with `isError`
   * whose text is the error object.
   * @throws ProtocolError InvalidParams for a tool that does not exist
   */
  async call(call: ToolCall): Promise<CallToolResult> {
    const entry = this.table.find(call.name);
    if (!entry) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${call.name}`);
    const connection = currentConnection();
    try {
      requireScope(entry);
      const { operation } = entry;
      const ask = (input: ToolCall['arguments']): Promise<unknown> =>
        this.bus.call(operation, input, envelopeOf(connection), { signal: call.signal });
      const answer = entry.isBudgeted
        ? await askWithin(operation, call.arguments, ask)
        : answerOf(await ask(call.arguments));
      return success(answer);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return refusal(error.toBody(connection.requestId), call.era);
    }
  }
}

function requireScope(entry: ToolEntry): void {
  if (scopeIncludes(currentConnection().caller.scope, entry.scope)) return;
  throw new ServiceError('FORBIDDEN', `${entry.tool.name} needs the scope ${entry.scope}.`, {
    required_scope: entry.scope,
  });
}

function success({ value, text }: ToolAnswer): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent: value };
}

function refusal(body: ErrorBody, era: Era): CallToolResult {
  const result: CallToolResult = { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
  // Clients of the handshake protocols hold structured content against the output schema even when the call failed.
  return era === 'modern' ? { ...result, structuredContent: { ...body } } : result;
}
