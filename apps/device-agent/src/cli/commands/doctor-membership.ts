import type { Finding } from '@workspace-graph/contracts';
import { type Membership, readDeviceToken, readMembership } from '../../joined/membership.js';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';
import { CliError } from '../cli-error.js';

const check = 'centre';
const ANSWER_MS = 5_000;
const UNAUTHENTICATED = 401;

/** Looks whether the central workspace of a joined folder takes its device; null in the folder of a local workspace. */
export async function checkMembership(paths: WorkspacePaths): Promise<Finding[] | null> {
  try {
    const membership = await readMembership(paths);
    return membership && [await look(membership, await readDeviceToken(paths, membership))];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    // The finding about the folder tells that.
    if (error.code === 'FOLDER_UNUSABLE') return null;
    return [{ check, state: 'failed', found: error.message, advice: error.options.hint ?? '' }];
  }
}

async function look({ url, device, token_expires_at }: Membership, token: string): Promise<Finding> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/me`, { headers, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ status }) => status,
    () => null,
  );
  if (answer === null)
    return {
      check,
      state: 'warning',
      found: `${url} cannot be reached`,
      advice: 'Check your network. Folders can be worked in meanwhile; the centre is told afterwards.',
    };
  if (answer === UNAUTHENTICATED)
    return {
      check,
      state: 'failed',
      found: `${url} does not take this workstation as a device any more`,
      advice: 'Leave with `svc leave` and join again with a new code; files in the folders of nodes stay.',
    };
  return {
    check,
    state: 'ok',
    found: `a device of ${url}: ${device.name}, until ${token_expires_at.slice(0, 10)}`,
  };
}
