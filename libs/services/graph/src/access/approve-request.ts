import {
  type AccessLevel,
  approveAccessRequest,
  type ParsedInputOf,
  type RawJson,
  ServiceError,
  type Visibility,
} from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { lockNode } from '../nodes/node.repository.js';
import { rawObject } from '../shared/raw-json.js';
import { readOwnSetting, type Share, storeSetting } from './access.repository.js';
import { decide, lockPending, type RequestRow, readRequest } from './request.repository.js';
import { SHUTTING_GATES } from './request.statements.js';

type Input = ParsedInputOf<typeof approveAccessRequest>;

interface Gate {
  readonly id: string;
  readonly visibility: Visibility;
}

/** Adds the requester to every list that shuts them out and closes the request. Unconfirmed it answers what they gain. */
export async function approveRequest(tx: Transaction, input: Input): Promise<RawJson> {
  await lockAccess(tx);
  const request = await lockPending(tx, input.access_request_id);
  await lockNode(tx, request.node_id);
  const unchanged = await readRequest(tx, request.id);
  refuseDisabled(request, unchanged);
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed, dryRun: !input.confirmed },
    async () => {
      const gates = await tx.rows<Gate>(SHUTTING_GATES, [
        request.node_id,
        request.user_id,
        request.access === 'write' ? 2 : 1,
      ]);
      for (const gate of gates) await admit(tx, gate, request.user_id, request.access);
      return { result: null, refresh: [], regrant: gates.map((gate) => gate.id) };
    },
    (unconfirmed) => rawObject({ applied: false, preview: unconfirmed, access_request: unchanged }),
  );
  await decide(tx, approveAccessRequest.name, request, { state: 'approved', note: input.note });
  return rawObject({ applied: true, preview, access_request: await readRequest(tx, request.id) });
}

/** What somebody gets while they are disabled would be theirs unseen, once they are enabled for another reason. */
function refuseDisabled({ user_id, disabled_name }: RequestRow, request: RawJson): void {
  if (disabled_name === null) return;
  throw new ServiceError(
    'CONFLICT',
    `The user ${disabled_name} is disabled: refuse the access request, or enable the user first.`,
    { user_id, current: request.parse() },
  );
}

/** Puts a user on the list of a gate. A private one becomes a list; its owner and creator pass as before. */
async function admit(tx: Transaction, gate: Gate, userId: string, access: AccessLevel): Promise<void> {
  const before = await readOwnSetting(tx, gate);
  const line: Share = { kind: 'user', id: userId, access };
  const recipients = [...before.recipients.filter((recipient) => recipient.id !== userId), line];
  await storeSetting(tx, approveAccessRequest.name, gate.id, { before, after: { visibility: 'group', recipients } });
}
