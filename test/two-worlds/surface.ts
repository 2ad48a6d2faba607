import type { InputOf, Operation, OutputOf } from '@workspace-graph/contracts';

/** Who speaks: Rita with a credential of scope read, Wil with one of scope write. */
export type Role = 'reader' | 'writer';

/** An answer as the caller gets it: all of its text, and its value when the call was accepted. */
export interface Told {
  readonly text: string;
  readonly value: unknown;
}

/** The product behind one of its surfaces, over a migrated database that holds nothing yet. */
export interface Surface {
  /** Runs statements in the database behind it. */
  sql(text: string): Promise<void>;
  /** Carries an operation out as Ada, who manages; it must be accepted. */
  manage<Op extends Operation>(operation: Op, input: InputOf<Op>): Promise<OutputOf<Op>>;
  /** Calls an operation in a role; refusals are answers. */
  tell(operation: Operation, input: unknown, role: Role): Promise<Told>;
}
