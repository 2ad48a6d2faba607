import { type addResponsibility, type OutputOf, ServiceError } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { seenBy } from '../shared/caller.js';
import { NODE_OF_RESPONSIBILITY, RESPONSIBILITIES, RESPONSIBILITY } from './responsibility.statements.js';

export type Responsibility = OutputOf<typeof addResponsibility>;

export function responsibilityNotFound(id: string): ServiceError {
  return new ServiceError('RESPONSIBILITY_NOT_FOUND', `There is no responsibility ${id} that you may see.`, {
    responsibility_id: id,
  });
}

/** The node that carries a responsibility; to be locked before anything of it is read. */
export async function nodeOfResponsibility(tx: Transaction, id: string): Promise<string> {
  const row = await tx.row<{ node_id: string }>(NODE_OF_RESPONSIBILITY, [...seenBy(tx.context.caller), id]);
  if (!row) throw responsibilityNotFound(id);
  return row.node_id;
}

/** @throws ServiceError RESPONSIBILITY_NOT_FOUND, when somebody else has just removed it */
export async function readResponsibility(tx: Transaction, id: string): Promise<Responsibility> {
  const row = await tx.row<{ responsibility: Responsibility }>(RESPONSIBILITY, [id]);
  if (!row) throw responsibilityNotFound(id);
  return row.responsibility;
}

/** All responsibilities of a node in their order. */
export async function readResponsibilities(tx: Transaction, nodeId: string): Promise<Responsibility[]> {
  return (await tx.row<{ responsibilities: Responsibility[] }>(RESPONSIBILITIES, [nodeId]))?.responsibilities ?? [];
}
