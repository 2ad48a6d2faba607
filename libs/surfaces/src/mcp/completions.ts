import {
  type CompleteRequestParams,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { RawJson, suggestNodes } from '@workspace-graph/contracts';
import { currentConnection, envelopeOf } from './connection.js';
import { NODE_URI_TEMPLATE } from './node-uri.js';
import type { OperationBus } from './operation-bus.js';
import { findPrompt } from './prompts.js';
import { protocolError } from './protocol-errors.js';

/** The protocol takes no more values than this in one answer. */
const MAX_VALUES = 100;
const TEXT_MAX = 200;

/** Completes ids of nodes from their names; only visible nodes are offered. */
export class Completions {
  constructor(private readonly bus: OperationBus) {}

  /** @throws ProtocolError for a reference to a prompt or resource that does not exist */
  async complete(params: CompleteRequestParams, signal: AbortSignal): Promise<CompleteResult> {
    const completable = argumentsOf(params.ref);
    if (!completable.includes(params.argument.name)) return { completion: { values: [] } };
    return params.argument.name === 'node_id'
      ? this.nodeIds(params.argument.value, signal)
      : { completion: { values: [] } };
  }

  private async nodeIds(text: string, signal: AbortSignal): Promise<CompleteResult> {
    const connection = currentConnection();
    try {
      const input = { text: text.slice(0, TEXT_MAX), limit: MAX_VALUES };
      const reply = await this.bus.call(suggestNodes, input, envelopeOf(connection), { signal });
      const { items, total } = reply instanceof RawJson ? suggestNodes.output.parse(reply.parse()) : reply;
      return { completion: { values: items.map((item) => item.id), total, hasMore: total > items.length } };
    } catch (error) {
      throw protocolError(error, connection.requestId);
    }
  }
}

function argumentsOf(ref: CompleteRequestParams['ref']): readonly string[] {
  switch (ref.type) {
    case 'ref/resource':
      if (ref.uri !== NODE_URI_TEMPLATE)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource template: ${ref.uri}`);
      return ['node_id'];
    case 'ref/prompt': {
      const prompt = findPrompt(ref.name);
      if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${ref.name}`);
      return (prompt.arguments ?? []).map((argument) => argument.name);
    }
  }
}
