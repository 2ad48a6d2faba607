import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { Refusal, Unreachable } from '@workspace-graph/client';
import type { InputOf, Operation, OutputOf } from '@workspace-graph/contracts';
import { client, queries } from './client';

/** How often a change that nobody answered is sent again; its key makes it happen once. */
const AGAIN = 2;

/** How long a change whose outcome is not known is the same one when it is sent again. */
const SAME_MS = 5 * 60_000;

/** Keys of changes whose outcome is not known, by what they are. */
const unanswered = new Map<string, { readonly key: string; readonly endMs: number }>();

/** A change that was begun, and goes on by itself; its message is what the workspace says of it. */
export class HalfDone extends Error {}

/** What was to be replaced is not what stands there any more: somebody else has changed it. */
export class ChangedMeanwhile extends Error {}

/**
 * Sends a change, once however often the way to the workspace breaks, also where somebody sends it again after that.
 * @throws Refusal, Unreachable, UnexpectedAnswer
 */
export async function change<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>> {
  const what = `${operation.name} ${JSON.stringify(input)}`;
  const key = keyOf(what);
  try {
    const output = await send(operation, input, key);
    unanswered.delete(what);
    return output;
  } catch (error) {
    if (isAnswer(error)) unanswered.delete(what);
    else unanswered.set(what, { key, endMs: performance.now() + SAME_MS });
    throw error;
  }
}

async function send<Op extends Operation>(operation: Op, input: InputOf<Op>, key: string): Promise<OutputOf<Op>> {
  for (let tries = 0; ; tries++) {
    try {
      return await client.call(operation, input, { key });
    } catch (error) {
      if (!(error instanceof Unreachable) || tries >= AGAIN) throw error;
    }
  }
}

function keyOf(what: string): string {
  const known = unanswered.get(what);
  return known && known.endMs > performance.now() ? known.key : newKey();
}

/** Whether the workspace itself has refused a change; otherwise it may have been carried out. */
function isAnswer(error: unknown): boolean {
  return error instanceof Refusal && error.status < 500;
}

/** A change of a node: what is shown of it, and the graph, are asked for again when it has been carried out. */
export function useChange<Op extends Operation>(
  operation: Op,
  nodeId: string | null,
): UseMutationResult<OutputOf<Op>, unknown, InputOf<Op>> {
  return useMutation({
    mutationFn: (input: InputOf<Op>) => change(operation, input),
    onSettled: () => (nodeId === null ? undefined : refreshNode(nodeId)),
  });
}

/** Asks again for what is shown of a node. */
export async function refreshNode(nodeId: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['node', nodeId] });
}

/** Whether a change was based on a version that is not the last one any more. */
export function isConflict(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'CONFLICT';
}

/** An idempotency key; also where the page is not served over a secure connection. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
