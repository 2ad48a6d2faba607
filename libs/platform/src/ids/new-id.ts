import { v7 } from 'uuid';

/**
 * A new id: a UUID of version 7 (RFC 9562), greater than every one that this process made before, also within one
 * millisecond and after the clock was set back. What is ordered by id is therefore in the order of its making.
 */
export function newId(): string {
  return v7();
}
