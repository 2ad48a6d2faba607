import type { Caller, ErrorBody, InputOf, Operation, OutputOf } from '@workspace-graph/contracts';
import type { AccessTable, World } from './world.js';

export type Refusal = Pick<ErrorBody, 'code' | 'message' | 'details'>;
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Refusal };

/** Calls an operation over whatever surface is under test; refusals are answers. */
export type Call = <Op extends Operation>(
  operation: Op,
  input: InputOf<Op>,
  caller: Caller,
) => Promise<Outcome<OutputOf<Op>>>;

/** A world, what the rules say about it, and the product that should agree. */
export interface Session {
  readonly world: World;
  readonly call: Call;
  table: AccessTable;
}

/** The value of a call that must be accepted. */
export async function accepted<Op extends Operation>(
  call: Call,
  operation: Op,
  input: InputOf<Op>,
  caller: Caller,
): Promise<OutputOf<Op>> {
  const outcome = await call(operation, input, caller);
  if (!outcome.ok) throw new Error(`${operation.name} was refused: ${JSON.stringify(outcome.error)}`);
  return outcome.value;
}

/** The refusal of a call that must be refused with a code. */
export async function refused<Op extends Operation>(
  call: Call,
  operation: Op,
  input: InputOf<Op>,
  caller: Caller,
): Promise<Refusal> {
  const outcome = await call(operation, input, caller);
  if (outcome.ok) throw new Error(`${operation.name} was accepted: ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}
