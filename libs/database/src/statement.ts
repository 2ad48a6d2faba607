/** A hand-written SQL text with a name, so that the server plans it once per connection. */
export interface Statement {
  /** Unique in a process, at most 63 characters. */
  readonly name: string;
  /** SQL with the parameters `$1`, `$2`, …. */
  readonly text: string;
}

/** The server cuts longer names off. */
const NAME_LENGTH = 63;

const names = new Set<string>();

/** Declares a hand-written statement. Parameters are `$1`, `$2`, …; names are unique in a process. */
export function statement(name: string, text: string): Statement {
  if (name.length > NAME_LENGTH)
    throw new Error(`The name of statement ${name} is longer than the server can distinguish`);
  if (names.has(name)) throw new Error(`Statement ${name} is declared twice`);
  names.add(name);
  return { name, text };
}
