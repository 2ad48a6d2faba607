import { hash, randomUUID } from 'node:crypto';
import { type Caller, validationFailed } from '@workspace-graph/contracts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The identity of a call. A client that repeats a request with the same Idempotency-Key gets the same one, so a change
 * is applied once; keys of different credentials and operations never meet. Whether the kept reply may still be told is
 * decided where it is kept.
 * @throws ServiceError VALIDATION_FAILED
 */
export function callIdOf(key: string | string[] | undefined, caller: Caller, operation: string): string {
  if (key === undefined) return randomUUID();
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw validationFailed([
      { path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters without spaces' },
    ]);
  }
  return asUuid(hash('sha256', JSON.stringify([caller.user_id, caller.credential_id, operation, key]), 'hex'));
}

/** The first 122 bits of a hash as a UUID of version 8, which is made for that. */
function asUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
