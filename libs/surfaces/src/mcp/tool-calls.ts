import type { CallToolResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ServiceError, scopeIncludes } from '@workspace-graph/contracts';
import { withIds } from '../references/named-ids.js';
import { answerOf, answerOfChange, askWithin, type ToolAnswer } from './answer-budget.js';
import { askForIds } from './ask-for-ids.js';
import { currentConnection, envelopeOf } from './connection.js';
import type { OperationBus } from './operation-bus.js';
import { refusal } from './tool-refusal.js';
import type { ToolEntry, ToolTable } from './tool-table.js';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborted when the client gives the call up or the connection ends. */
  readonly signal: AbortSignal;
}

/** Carries tool calls out as operations on the bus. */
export class ToolCalls {
  constructor(
    private readonly table: ToolTable,
    private readonly bus: OperationBus,
  ) {}

  /**
   * Answers with the output as structured content and as compact JSON text. A refusal is a result with `isError` that
   * carries the error object in the same two forms.
   * @throws ProtocolError InvalidParams for a tool that does not exist
   */
  async call(call: ToolCall): Promise<CallToolResult> {
    const entry = this.table.find(call.name);
    if (!entry)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool: ${call.name}. tools/list returns all tools.`,
      );
    const connection = currentConnection();
    try {
      requireScope(entry);
      const { operation } = entry;
      const options = { signal: call.signal };
      const given = await withIds(call.arguments, askForIds(this.bus, connection, options));
      const ask = (input: ToolCall['arguments']): Promise<unknown> =>
        this.bus.call(operation, input, envelopeOf(connection), options);
      if (entry.isBudgeted) return success(await askWithin(operation, given, ask));
      const reply = await ask(given);
      return success(operation.readOnly ? answerOf(reply) : answerOfChange(operation, reply));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return refusal(error.toBody(connection.requestId));
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
