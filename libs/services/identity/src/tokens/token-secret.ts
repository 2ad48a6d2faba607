import { createHash, randomBytes } from 'node:crypto';
import type { Token } from '@workspace-graph/contracts';

const PREFIX = {
  personal: 'svc_pat_',
  device: 'svc_dev_',
  invitation: 'svc_join_',
} as const satisfies Record<Token['kind'] | 'invitation', string>;
const SECRET_BYTES = 32;

/** A fresh secret of 256 random bits. */
export function newSecret(kind: keyof typeof PREFIX): string {
  return `${PREFIX[kind]}${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** What is stored of a secret, and what finds it again: its SHA-256, 32 bytes. */
export function hashSecret(secret: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(createHash('sha256').update(secret).digest());
}
