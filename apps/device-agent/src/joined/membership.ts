import { readFile, rm } from 'node:fs/promises';
import { Scope, Timestamp, whoami } from '@workspace-graph/contracts';
import { keepOwner } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { z } from 'zod';
import { CliError } from '../cli/cli-error.js';
import { folderError, isNoRight } from '../workspace/workspace-folders.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';
import { deviceTokens, TOKEN_STORES } from './device-token-stores.js';

/** What a workstation knows of the central workspace that it belongs to. Its token lies elsewhere. */
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
  /** Where it lies. */
  token_store: z.enum(TOKEN_STORES).default('file'),
});
export type Membership = z.infer<typeof Membership>;

const SOON_MS = 14 * 24 * 60 * 60 * 1_000;

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

/** @throws CliError MEMBERSHIP_DAMAGED, KEYCHAIN_UNAVAILABLE, FOLDER_UNUSABLE */
export async function readDeviceToken(paths: Files, { url, device, token_store }: Membership): Promise<string> {
  const token = await deviceTokens(token_store, device.id, paths).read();
  if (token) return token;
  const place = token_store === 'file' ? `${paths.deviceToken} is missing` : 'The entry of the keychain is missing';
  throw new CliError('MEMBERSHIP_DAMAGED', `${place}: it holds the token of this device.`, {
    hint: howToJoinAgain(url),
  });
}

/** The token first: what tells of a membership without one could not be used. A token that lay elsewhere `before` goes. */
export async function storeMembership(
  paths: Files,
  membership: Membership,
  token: string,
  before: Membership | null,
): Promise<void> {
  await deviceTokens(membership.token_store, membership.device.id, paths).write(token);
  await writeMembership(paths, membership);
  if (before && before.token_store !== membership.token_store)
    await ignoringKeychain(deviceTokens(before.token_store, before.device.id, paths).remove());
}

/** What to do where the token of a device has ended, or is about to. */
export function howToJoinAgain(url: string): string {
  return `Make a new code with \`svc device invite\`, and join again in this folder with \`svc join ${url}\`: files, and what is known of them here, stay.`;
}

/** Whether the token of a device ends within two weeks. */
export function endsSoon({ token_expires_at }: Pick<Membership, 'token_expires_at'>): boolean {
  return Date.parse(token_expires_at) - Date.now() < SOON_MS;
}

/** From here on the folder belongs to no central workspace. */
export async function forgetMembership(paths: Files, membership: Membership | null): Promise<void> {
  await rm(paths.joined, { force: true });
  await rm(paths.deviceToken, { force: true });
  if (membership?.token_store !== 'keychain') return;
  await ignoringKeychain(deviceTokens('keychain', membership.device.id, paths).remove());
}

/** One that does not answer keeps what works nowhere any more. */
async function ignoringKeychain(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
  });
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
