import { randomUUID } from 'node:crypto';

const NAME = /^\.svc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A name for a file that is being written beside the one that it becomes; the ignore rules skip such names. */
export function temporaryName(): string {
  return `.svc-${randomUUID()}`;
}

/** Whether a name is one of those, and nobody else's. */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}
