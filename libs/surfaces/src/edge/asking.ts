import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import { type Caller, type InputOf, type Operation, type OutputOf, RawJson } from '@workspace-graph/contracts';

/** Calls an operation and answers what it says, parsed. */
export async function ask<Op extends Operation>(
  bus: Pick<Bus, 'call'>,
  operation: Op,
  input: InputOf<Op>,
  { caller, requestId = randomUUID() }: { readonly caller: Caller | null; readonly requestId?: string },
): Promise<OutputOf<Op>> {
  const reply = await bus.call(operation, input, { callId: randomUUID(), requestId, caller });
  return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
}
