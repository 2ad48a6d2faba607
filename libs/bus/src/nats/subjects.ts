import type { Operation, Owner } from '@workspace-graph/contracts';

/** One word of a subject: no dot, no wildcard, no space. */
const TOKEN = /^[A-Za-z0-9_-]{1,100}$/;

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Every subject that this product uses on NATS. */
export const SUBJECTS = {
  operation: (operation: Pick<Operation, 'owner' | 'name'>) => `svc.op.${operation.owner}.${operation.name}`,
  event: (type: string) => `svc.event.${type}`,
  /** Heard by every instance of an owner; the body is the id of the call given up. */
  cancel: (owner: Owner) => `svc.cancel.${owner}`,
  /** Heard by every instance of an owner; the body is the name of an operation. Those that would take it answer. */
  find: (owner: Owner) => `svc.find.${owner}`,
  /** Heard by one instance: a call for it alone. */
  direct: (instance: InstanceAddress, name: string) => `svc.to.${instance.owner}.${instance.id}.${name}`,
  /** Heard by one instance: how much of a large reply has arrived. */
  flow: (instance: InstanceAddress, transfer: string) => `svc.flow.${instance.owner}.${instance.id}.${transfer}`,
  /** Where answers arrive; `user` is the name of the NATS user. */
  inbox: (user: string) => `svc.inbox.${user}`,
} as const;

export interface InstanceAddress {
  readonly owner: Owner;
  readonly id: string;
}
