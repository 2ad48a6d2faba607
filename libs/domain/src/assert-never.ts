/** Ends an exhaustive switch: a new member of the union becomes a type error here. Throws when reached. */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
