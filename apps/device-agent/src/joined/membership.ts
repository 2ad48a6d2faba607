import { readFile, rm } from 'node:fs/promises';
import { Scope, Timestamp, whoami } from '@workspace-graph/contracts';
import { keepOwner } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { z } from 'zod';
import { CliError } from '../cli/cli-error.js';
import { folderError, isNoRight } from '../workspace/workspace-folders.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';

/** What a workstation knows of the central workspace that it belongs to. Its token lies in a file of its own. */
export const Membership = z.strictObject({
  format: z.literal(1),
  /** Where the gateways answer, without a slash at the end. */
  url: z.url(),
  device: z.strictObject({ id: z.uuid(), name: z.string() }),
  user: z.strictObject({ id: z.uuid(), name: z.string() }),
  /** Of the device when it joined. */
  scope: Scope,
  /** What the person was last told to be, and may do; null before the first connection. */
  me: whoami.output.nullable(),
  joined_at: Timestamp,
  /** When the token ends. */
  token_expires_at: Timestamp,
});
export type Membership = z.infer<typeof Membership>;

type Files = Pick<WorkspacePaths, 'own' | 'joined' | 'deviceToken'>;

/** The membership of the workspace in a folder; null for a local workspace. @throws CliError MEMBERSHIP_DAMAGED, FOLDER_UNUSABLE */
export async function readMembership(paths: Pick<Files, 'own' | 'joined'>): Promise<Membership | null> {
  const { joined } = paths;
  const text = await readIfThere(joined, paths);
  if (text === null) return null;
  const read = Membership.safeParse(parseJson(text));
  if (read.success) return read.data;
  throw new CliError(
    'MEMBERSHIP_DAMAGED',
    `${joined} is damaged: it does not tell which workspace this folder belongs to.`,
    {
      hint: 'Restore the file from a backup, or leave with `svc leave --offline` and join again: files in the folders of nodes stay where they are.',
    },
  );
}

export async function writeMembership(paths: Pick<Files, 'own' | 'joined'>, membership: Membership): Promise<void> {
  await replaceText(paths.joined, `${JSON.stringify(membership, null, 2)}\n`);
  keepOwner(paths.own, paths.joined);
}

export async function readDeviceToken(paths: Pick<Files, 'own' | 'deviceToken'>): Promise<string> {
  const { deviceToken } = paths;
  const token = (await readIfThere(deviceToken, paths))?.trim();
  if (token) return token;
  throw new CliError('MEMBERSHIP_DAMAGED', `${deviceToken} is missing: it holds the token of this device.`, {
    hint: 'Leave with `svc leave --offline` and join again: files in the folders of nodes stay where they are.',
  });
}

/** The token first: what tells of a membership without one could not be used. */
export async function storeMembership(paths: Files, membership: Membership, token: string): Promise<void> {
  await replaceText(paths.deviceToken, `${token}\n`);
  keepOwner(paths.own, paths.deviceToken);
  await writeMembership(paths, membership);
}

/** From here on the folder belongs to no central workspace. */
export async function forgetMembership({ joined, deviceToken }: Files): Promise<void> {
  await rm(joined, { force: true });
  await rm(deviceToken, { force: true });
}

async function readIfThere(path: string, paths: Pick<Files, 'own'>): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw isNoRight(error) ? folderError(paths, error) : error;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
