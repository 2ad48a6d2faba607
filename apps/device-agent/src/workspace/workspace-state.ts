import { readFile, rm } from 'node:fs/promises';
import { EmbeddedDatabaseError, findOwner, type Owner } from '@workspace-graph/database/embedded';
import { replaceText } from '@workspace-graph/platform/disk';
import { z } from 'zod';
import { folderError, isNoRight } from './workspace-folders.js';
import type { WorkspacePaths } from './workspace-paths.js';

/** The running process of a workspace, as its state file tells. */
const WorkspaceState = z.object({
  pid: z.int().positive(),
  url: z.url(),
  started_at: z.iso.datetime(),
  version: z.string(),
  /** Where the embedded database keeps its data; null with a database of the user's. */
  database_folder: z.string().nullable(),
});
export type WorkspaceState = z.infer<typeof WorkspaceState>;

/** What any of our processes says to a credential: who it belongs to, or why it cannot tell. */
const Reply = z.union([
  z.object({ credential_id: z.string() }),
  z.object({
    code: z.string(),
    message: z.string(),
    request_id: z.string(),
    details: z.object({ device_id: z.string() }).optional().catch(undefined),
  }),
]);
/** `disowned`: it is a device that its centre does not take any more. `silent`: nothing of ours answers at its address, or not in time. */
type Answer = 'accepts' | 'refuses' | 'disowned' | 'silent';
const UNAUTHENTICATED = 401;
const ANSWER_MS = 2_000;

export async function writeState(path: string, state: WorkspaceState): Promise<void> {
  await replaceText(path, `${JSON.stringify(state, null, 2)}\n`);
}

/** The process that serves a workspace, and what is known of it. */
export interface FoundWorkspace {
  /** The process that holds the folder; null in the moment before it has written its number. */
  readonly pid: number | null;
  /** What its state file tells; null while it starts or stops, and when the file is damaged. */
  readonly state: WorkspaceState | null;
  /** What it says to the kept credential. */
  readonly answer: Answer;
  /** Why it refuses, in its words. */
  readonly message?: string;
}

type StatePaths = Pick<WorkspacePaths, 'own' | 'state' | 'token'>;

/**
 * Who serves this workspace; null when nobody does, even if a killed process left its files and others have its port
 * and its process id by now: only the lock on the folder counts, which ends with its process.
 * @throws CliError FOLDER_UNUSABLE
 */
export async function findWorkspace(paths: StatePaths): Promise<FoundWorkspace | null> {
  const owner = ownerOf(paths);
  if (owner === null) return null;
  const { pid } = owner;
  const text = await readIfThere(paths, paths.state);
  const parsed = WorkspaceState.safeParse(parseJson(text ?? ''));
  if (!parsed.success || parsed.data.pid !== pid) return { pid, state: null, answer: 'silent' };
  const credential = (await readIfThere(paths, paths.token)) ?? '';
  return { pid, state: parsed.data, ...(await answerOf(parsed.data, credential.trim())) };
}

/** The state of a workspace that runs and takes the kept credential, else null. */
export async function readState(paths: StatePaths): Promise<WorkspaceState | null> {
  const found = await findWorkspace(paths);
  return found?.answer === 'accepts' ? found.state : null;
}

function ownerOf(paths: StatePaths): Owner | null {
  try {
    return findOwner(paths.own);
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw folderError(paths, error.cause as NodeJS.ErrnoException);
    throw folderError(paths, error as NodeJS.ErrnoException);
  }
}

/** Removes the state file if it is this process's own. */
export async function removeState(path: string): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const parsed = WorkspaceState.safeParse(parseJson(text));
  if (parsed.success && parsed.data.pid === process.pid) await rm(path, { force: true });
}

/** Being too busy to look at a credential is told with a code of the product, and is no refusal. */
async function answerOf(
  state: WorkspaceState,
  credential: string,
): Promise<Pick<FoundWorkspace, 'answer' | 'message'>> {
  try {
    const headers = isSendable(credential) ? { authorization: `Bearer ${credential}` } : {};
    const response = await fetch(new URL('/me', state.url), { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    const { data } = Reply.safeParse(parseJson(await response.text()));
    if (!data) return { answer: 'silent' };
    if (response.status !== UNAUTHENTICATED) return { answer: 'accepts' };
    if ('details' in data && data.details) return { answer: 'disowned', message: data.message };
    return { answer: 'refuses' };
  } catch {
    return { answer: 'silent' };
  }
}

/** A damaged file may hold what no header can carry. */
export function isSendable(credential: string): boolean {
  return /^[\x21-\x7e]+$/.test(credential);
}

async function readIfThere(paths: StatePaths, file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
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
