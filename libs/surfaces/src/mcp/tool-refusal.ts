import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ErrorBody } from '@workspace-graph/contracts';

/** A refused tool call as agents read it: the error object as text and as structured content. */
export function refusal(body: ErrorBody): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: { ...body } };
}
