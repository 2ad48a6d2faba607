import { type AccessLevel, type AccessRequest, type RawJson, ServiceError } from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import { authorOf } from '../shared/caller.js';
import { DECIDE_REQUEST, REQUEST_BY_ID, REQUEST_FOR_CHANGE } from './request.statements.js';

export interface RequestRow {
  readonly id: string;
  readonly node_id: string;
  readonly user_id: string;
  readonly access: AccessLevel;
  readonly state: AccessRequest['state'];
  /** The name of the user who asks, if they are disabled. */
  readonly disabled_name: string | null;
}

interface Decision {
  readonly state: 'approved' | 'refused' | 'withdrawn';
  readonly note?: string | undefined;
}

export function requestNotFound(id: string): ServiceError {
  return new ServiceError('ACCESS_REQUEST_NOT_FOUND', `There is no access request ${id} that you may decide.`, {
    access_request_id: id,
  });
}

export async function readRequest(tx: Transaction, id: string): Promise<RawJson> {
  const request = await tx.json(REQUEST_BY_ID, [id]);
  if (!request) throw requestNotFound(id);
  return request;
}

/** Locks a request that is still to be decided; with `ofUser` only one of that user. */
export async function lockPending(tx: Transaction, id: string, ofUser?: string): Promise<RequestRow> {
  const row = await tx.row<RequestRow>(REQUEST_FOR_CHANGE, [id]);
  if (!row || (ofUser !== undefined && row.user_id !== ofUser)) throw requestNotFound(id);
  if (row.state !== 'pending') {
    throw new ServiceError('CONFLICT', `The access request is already ${row.state}.`, {
      current: (await readRequest(tx, id)).parse(),
    });
  }
  return row;
}

/** Closes a locked request. */
export async function decide(
  tx: Transaction,
  action: string,
  request: RequestRow,
  { state, note }: Decision,
): Promise<void> {
  await tx.execute(DECIDE_REQUEST, [request.id, state, authorOf(tx.context.caller), note ?? null]);
  tx.audit({
    action,
    targetKind: 'access_request',
    targetId: request.id,
    concerns: [request.node_id],
    before: { state: request.state },
    after: { state, ...(note === undefined ? {} : { decision_note: note }) },
  });
}
