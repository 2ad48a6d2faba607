import { chmod } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import type { Database } from '@workspace-graph/database';
import type { DeviceIdentity } from '@workspace-graph/device';
import { replaceText } from '@workspace-graph/platform';
import { ensureLocalDevice, ensureLocalOwner } from '@workspace-graph/service-identity';
import { readTokenFile } from './token-file.js';

const OWNER_ONLY = 0o600;

/**
 * Makes sure that this user has a working credential in a file that only they can read, and that this device is theirs.
 */
export async function ensureOwner(database: Database, path: string): Promise<DeviceIdentity> {
  const secret = await readTokenFile({ token: path });
  const owner = await ensureLocalOwner(database, { name: nameOfUser(), secret });
  if (owner.secret !== secret) await replaceText(path, `${owner.secret}\n`);
  await chmod(path, OWNER_ONLY);
  const deviceId = await ensureLocalDevice(database, { userId: owner.user_id, name: hostname() || 'this device' });
  return { deviceId, userId: owner.user_id };
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'owner';
  }
}
