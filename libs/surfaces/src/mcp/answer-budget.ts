import { LIMITS, MaxTokens, type Operation, RawJson, readInput } from '@workspace-graph/contracts';
import { estimateTokens } from '@workspace-graph/domain';
import { z } from 'zod';
import { shortenAnswer } from './shorten-answer.js';

/** The answer of a tool: its value, and that as compact JSON. */
export interface ToolAnswer {
  readonly value: unknown;
  readonly text: string;
}

type Arguments = Readonly<Record<string, unknown>>;
type Ask = (input: Arguments) => Promise<unknown>;

/** Where to find the rest of what a change answers, where its operation does not say it. */
const READ_IT = 'the tools that read what was changed';

/** What every reading tool takes beside the input of its operation. */
export const BUDGET_INPUT = { max_tokens: MaxTokens };
const Budget = z.object(BUDGET_INPUT);
const ATTEMPTS = 4;
const LARGER = 'a larger max_tokens';
/** Items of the last answer are asked for again up to this share: the cursor after them may be longer. */
const FILL = 0.9;

/** Whether a tool takes `max_tokens` here: it is called for its answer, has no such input of its own, and may be told in part. */
export function isBudgeted({ readOnly, input, mcp }: Operation): boolean {
  return (readOnly || mcp?.budgeted === true) && mcp?.whole !== true && !('max_tokens' in input.shape);
}

export function answerOf(reply: unknown): ToolAnswer {
  const value = reply instanceof RawJson ? reply.parse() : reply;
  return { value, text: JSON.stringify(value) };
}

/** The answer of a change: it is made, so what is too long to tell whole is told in part. */
export function answerOfChange({ mcp }: Operation, reply: unknown): ToolAnswer {
  const whole = answerOf(reply);
  return tokensOf(whole) <= LIMITS.tokensDefault ? whole : inPart(whole, LIMITS.tokensDefault, mcp?.more ?? READ_IT);
}

/**
 * Asks, and asks for fewer items when the answer is too long; what is still too long then is told in part. `larger` is
 * how to ask for more of it, where the question itself takes no `max_tokens`.
 * @throws ServiceError VALIDATION_FAILED for a `max_tokens` out of range; whatever `ask` throws
 */
export async function askWithin(
  operation: Operation,
  given: Arguments,
  ask: Ask,
  larger = LARGER,
): Promise<ToolAnswer> {
  const { max_tokens: asked, ...input } = given;
  const mostTokens = mostTokensOf(asked);
  const hintOf = (answer?: unknown): string => waysToRest(operation, larger, answer);
  const whole = answerOf(await ask(input));
  if (tokensOf(whole) <= mostTokens) return whole;
  const room = roomWithin(mostTokens, hintOf());
  const fewer = 'limit' in operation.input.shape ? await askForFewer(whole, { input, ask, room }) : whole;
  if (fewer === whole || tokensOf(fewer) > room) return inPart(fewer, mostTokens, hintOf(fewer.value), fewer !== whole);
  return answerOf({
    ...(fewer.value as object),
    left_out: { shortened: [], how_to_get: hintOf(fewer.value) },
  });
}

/** An answer in part, which says so; as it is where nothing of it can be left out, and no `isFewer` items were. */
function inPart(answer: ToolAnswer, mostTokens: number, how_to_get: string, isFewer = false): ToolAnswer {
  const { value, shortened } = shortenAnswer(answer.value, roomWithin(mostTokens, how_to_get));
  if (shortened.length === 0 && !isFewer) return answer;
  return answerOf({ ...(value as object), left_out: { shortened, how_to_get } });
}

/** Room beside what says that something was left out. */
function roomWithin(mostTokens: number, how_to_get: string): number {
  return mostTokens - estimateTokens(JSON.stringify({ left_out: { shortened: [], how_to_get } }));
}

async function askForFewer(
  whole: ToolAnswer,
  { input, ask, room }: { readonly input: Arguments; readonly ask: Ask; readonly room: number },
): Promise<ToolAnswer> {
  let answer = whole;
  let limit = longestList(whole.value);
  for (let attempt = 0; attempt < ATTEMPTS && limit > 1 && tokensOf(answer) > room; attempt += 1) {
    limit = itemsWithin(answer.value, room * FILL, input['newest'] === true);
    answer = answerOf(await ask({ ...input, limit }));
  }
  return answer;
}

function mostTokensOf(asked: unknown): number {
  return readInput(Budget, { max_tokens: asked }).max_tokens;
}

/** How to get the rest; of an answer without a cursor there is no next page. */
function waysToRest({ input, mcp }: Operation, larger: string, answer: unknown = { next_cursor: '' }): string {
  const hasMore = typeof (answer as { next_cursor?: unknown }).next_cursor === 'string';
  const ways = [
    'cursor' in input.shape && hasMore ? 'the next page by next_cursor' : '',
    'offset' in input.shape ? 'the rest by offset' : '',
    mcp?.more ?? '',
    larger,
  ];
  return ways.filter((way) => way !== '').join('; ');
}

/** The most items that the lists of an answer may have, from their beginning or `fromEnd`, for it to fit: fewer than there are, and at least one. */
function itemsWithin(value: unknown, room: number, fromEnd: boolean): number {
  let [low, high] = [1, Math.max(1, longestList(value) - 1)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (tokensOf(answerOf(withFewer(value, middle, fromEnd))) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}

function withFewer(value: unknown, limit: number, fromEnd: boolean): unknown {
  const of = (list: unknown[]): unknown[] => (fromEnd ? list.slice(-limit) : list.slice(0, limit));
  const parts = Object.entries(value as object);
  return Object.fromEntries(parts.map(([name, part]) => [name, Array.isArray(part) ? of(part) : part]));
}

function longestList(value: unknown): number {
  const lists = Object.values(value as object).filter((part): part is unknown[] => Array.isArray(part));
  return Math.max(0, ...lists.map(({ length }) => length));
}

function tokensOf({ text }: ToolAnswer): number {
  return estimateTokens(text);
}
