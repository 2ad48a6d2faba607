import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ErrorBody, LIMITS } from '@workspace-graph/contracts';
import { estimateTokens } from '@workspace-graph/domain';
import { shortenAnswer } from './shorten-answer.js';

const READ_IT = 'the tools that read it';

/** A refused tool call as agents read it: the error object as text and as structured content. */
export function refusal(body: ErrorBody): CallToolResult {
  const told = withinBudget(body);
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: { ...told } };
}

/** A record that has changed comes with its refusal: of a long one, a part. */
function withinBudget(body: ErrorBody): ErrorBody {
  if (body.details === undefined || estimateTokens(JSON.stringify(body)) <= LIMITS.tokensDefault) return body;
  const around = { ...body, details: { left_out: { shortened: [], how_to_get: READ_IT } } };
  const { value, shortened } = shortenAnswer(
    body.details,
    LIMITS.tokensDefault - estimateTokens(JSON.stringify(around)),
  );
  if (shortened.length === 0) return body;
  return { ...body, details: { ...(value as object), left_out: { shortened, how_to_get: READ_IT } } };
}
