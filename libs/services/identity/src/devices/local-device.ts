import { RawJson } from '@workspace-graph/contracts';
import { type Database, runCommand, systemContext } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { DEVICE_OF_USER, INSERT_DEVICE } from './device.statements.js';

const ACTION = 'join_device';

/** The id of the one device of a local workspace, which acts for its owner; made on first sight under the name given. */
export async function ensureLocalDevice(
  database: Database,
  { userId, name }: { readonly userId: string; readonly name: string },
): Promise<string> {
  const known = await database.row<{ id: string }>(DEVICE_OF_USER, [userId]);
  if (known) return known.id;
  const made = await runCommand(database, systemContext(ACTION), async (tx) => {
    const id = newId();
    await tx.execute(INSERT_DEVICE, [id, userId, name]);
    tx.audit({ action: ACTION, targetKind: 'device', targetId: id, after: { name, user_id: userId } });
    return { id };
  });
  if (made instanceof RawJson) throw new Error('A call id was used twice');
  return made.id;
}
