import {
  type ParsedInputOf,
  type RawJson,
  ServiceError,
  setAccess,
  validationFailed,
} from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { lockNode } from '../nodes/node.repository.js';
import { rawObject } from '../shared/raw-json.js';
import { isRestricted, type OwnSetting, readAccess, readOwnSetting, storeSetting } from './access.repository.js';
import { MISSING_RECIPIENTS } from './access.statements.js';

type Input = ParsedInputOf<typeof setAccess>;

/** Sets or drops the own setting of a node. The answer holds the sharing as it is stored then. */
export async function set(tx: Transaction, input: Input): Promise<RawJson> {
  refuseMisfits(input);
  await lockAccess(tx);
  const node = await lockNode(tx, input.node_id);
  if (input.expected_version !== undefined && input.expected_version !== node.version) {
    const current: unknown = (await readAccess(tx, node.id)).parse();
    throw new ServiceError('CONFLICT', `The node now has version ${node.version}, not ${input.expected_version}.`, {
      current,
    });
  }
  await refuseUnknownRecipients(tx, input);
  const unchanged = await readAccess(tx, node.id);
  const before = await readOwnSetting(tx, node);
  const after: OwnSetting = { visibility: input.visibility, recipients: input.recipients };
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed, dryRun: input.dry_run },
    async () => {
      await storeSetting(tx, setAccess.name, node.id, { before, after });
      return { result: null, ...reachOf(node.id, before, after) };
    },
    (unconfirmed) => rawObject({ applied: false, preview: unconfirmed, access: unchanged }),
  );
  return rawObject({ applied: true, preview, access: await readAccess(tx, node.id) });
}

/** A node that stays a gate stays in the sets it is in: only who passes it changes. */
function reachOf(nodeId: string, before: OwnSetting, after: OwnSetting): { refresh: string[]; regrant?: string[] } {
  const staysGate = isRestricted(before.visibility) && isRestricted(after.visibility);
  if (staysGate) return { refresh: [], regrant: [nodeId] };
  return { refresh: before.visibility === after.visibility ? [] : [nodeId] };
}

function refuseMisfits({ visibility, recipients }: Input): void {
  if (recipients.length > 0 && visibility !== 'group') {
    throw validationFailed([{ path: 'recipients', message: 'only a node with visibility group has recipients' }]);
  }
  const twice = recipients.findIndex((one, index) => recipients.findIndex((other) => other.id === one.id) < index);
  if (twice >= 0) throw validationFailed([{ path: `recipients.${twice}.id`, message: 'is in the list twice' }]);
}

async function refuseUnknownRecipients(tx: Transaction, { recipients }: Input): Promise<void> {
  if (recipients.length === 0) return;
  const missing = await tx.row<{ kind: 'user' | 'group'; id: string; place: number }>(MISSING_RECIPIENTS, [
    JSON.stringify(recipients),
  ]);
  if (!missing) return;
  const code = missing.kind === 'user' ? 'USER_NOT_FOUND' : 'GROUP_NOT_FOUND';
  throw new ServiceError(code, `There is no ${missing.kind} ${missing.id}.`, {
    [`${missing.kind}_id`]: missing.id,
    path: `recipients.${missing.place}.id`,
  });
}
