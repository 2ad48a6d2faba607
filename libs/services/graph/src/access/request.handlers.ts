import { Controller } from '@nestjs/common';
import {
  approveAccessRequest,
  listAccessRequests,
  type ParsedInputOf,
  type RawJson,
  refuseAccessRequest,
  requestAccess,
  ServiceError,
  withdrawAccessRequest,
} from '@workspace-graph/contracts';
import { Database, runCommand, type Transaction } from '@workspace-graph/database';
import { Handles, newId, type OperationContext } from '@workspace-graph/platform';
import { approveRequest } from './approve-request.js';
import { decide, lockPending, readRequest } from './request.repository.js';
import {
  INSERT_REQUEST,
  LOCK_REQUESTER,
  PENDING_MAX,
  REQUEST_CURSOR,
  REQUEST_PAGE,
  REQUEST_SITUATION,
  REQUEST_START,
} from './request.statements.js';

interface Situation {
  readonly pending_id: string | null;
  readonly pending_count: number;
  readonly level: number;
}

/** Asking for access and deciding about it. */
@Controller()
export class AccessRequestHandlers {
  constructor(private readonly database: Database) {}

  @Handles(requestAccess)
  request(input: ParsedInputOf<typeof requestAccess>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => ask(tx, input));
  }

  @Handles(listAccessRequests)
  async list(input: ParsedInputOf<typeof listAccessRequests>, { caller }: OperationContext): Promise<RawJson> {
    if (!input.mine && caller.scope !== 'manage') {
      throw new ServiceError('FORBIDDEN', 'Listing the requests of others needs the scope manage.', {
        required_scope: 'manage',
      });
    }
    const page = await this.database.json(REQUEST_PAGE, [
      input.mine ? caller.user_id : null,
      input.state ?? null,
      ...REQUEST_CURSOR.read(input.cursor, REQUEST_START),
      input.limit,
    ]);
    if (!page) throw new Error('A page returns one row');
    return page;
  }

  @Handles(approveAccessRequest)
  approve(input: ParsedInputOf<typeof approveAccessRequest>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, (tx) => approveRequest(tx, input));
  }

  @Handles(refuseAccessRequest)
  refuse(input: ParsedInputOf<typeof refuseAccessRequest>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, async (tx) => {
      const request = await lockPending(tx, input.access_request_id);
      await decide(tx, refuseAccessRequest.name, request, { state: 'refused', note: input.note });
      return readRequest(tx, request.id);
    });
  }

  @Handles(withdrawAccessRequest)
  withdraw(input: ParsedInputOf<typeof withdrawAccessRequest>, context: OperationContext): Promise<RawJson> {
    return runCommand(this.database, context, async (tx) => {
      const request = await lockPending(tx, input.access_request_id, context.caller.user_id);
      await decide(tx, withdrawAccessRequest.name, request, { state: 'withdrawn' });
      return readRequest(tx, request.id);
    });
  }
}

/** Stores a request, whether its node exists or not; answers the pending one when there is one. */
async function ask(tx: Transaction, input: ParsedInputOf<typeof requestAccess>): Promise<RawJson> {
  const { caller } = tx.context;
  await tx.execute(LOCK_REQUESTER, [caller.user_id]);
  const situation = await tx.row<Situation>(REQUEST_SITUATION, [
    caller.user_id,
    input.node_id,
    caller.scope === 'manage',
  ]);
  if (!situation) throw new Error('A request situation returns one row');
  if (situation.level >= (input.access === 'write' ? 2 : 1)) {
    throw new ServiceError('CONFLICT', `You already have ${input.access} access to the node ${input.node_id}.`, {
      node_id: input.node_id,
    });
  }
  if (situation.pending_id !== null) return readRequest(tx, situation.pending_id);
  if (situation.pending_count >= PENDING_MAX) {
    throw new ServiceError('CONFLICT', `You have ${PENDING_MAX} pending access requests; withdraw one first.`, {
      limit: PENDING_MAX,
    });
  }
  const id = newId();
  await tx.execute(INSERT_REQUEST, [id, input.node_id, caller.user_id, input.access, input.reason]);
  tx.audit({
    action: requestAccess.name,
    targetKind: 'access_request',
    targetId: id,
    concerns: [input.node_id],
    after: { node_id: input.node_id, access: input.access },
  });
  return readRequest(tx, id);
}
