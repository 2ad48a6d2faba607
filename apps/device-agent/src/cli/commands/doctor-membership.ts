import type { Finding } from '@workspace-graph/contracts';
import { reasonOf } from '../../joined/join-centre.js';
import { endsSoon, howToJoinAgain, type Membership, readDeviceToken, readMembership } from '../../joined/membership.js';
import type { WorkspacePaths } from '../../workspace/workspace-paths.js';
import { CliError } from '../cli-error.js';

const check = 'centre';
const ANSWER_MS = 5_000;
const [OK, UNAUTHENTICATED] = [200, 401];
const OFFLINE = 'Folders can be worked in meanwhile; the centre is told afterwards.';

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
  let status: number;
  try {
    ({ status } = await fetch(`${url}/me`, { headers, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) }));
  } catch (error) {
    const found = `${url} cannot be reached: ${reasonOf(error)}`;
    return { check, state: 'warning', found, advice: `Check your network. ${OFFLINE}` };
  }
  if (status === UNAUTHENTICATED)
    return {
      check,
      state: 'failed',
      found: `${url} does not take this workstation as a device any more`,
      advice: `${howToJoinAgain(url)} Where the device was revoked, leave before with \`svc leave\`.`,
    };
  if (status !== OK)
    return {
      check,
      state: 'warning',
      found: `${url} answers ${status}`,
      advice: `Ask who runs it, if that lasts. ${OFFLINE}`,
    };
  const found = `a device of ${url}: ${device.name}, until ${token_expires_at.slice(0, 10)}`;
  if (endsSoon({ token_expires_at })) return { check, state: 'warning', found, advice: howToJoinAgain(url) };
  return { check, state: 'ok', found };
}
