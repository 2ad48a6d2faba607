import { type Remote, RemoteFailure } from '@workspace-graph/remotes';

/**
 * Removes what lies at a path when it is a folder in which no file lies: files that left it leave it behind on most storages,
 * and a file is to have its name. Answers whether the path is free now.
 */
export async function freeOfFolder(remote: Remote, path: string, signal: AbortSignal): Promise<boolean> {
  const entry = await remote.stat(path, { signal });
  if (entry?.kind !== 'folder') return entry === null;
  const folders = await emptyFolders(remote, path, signal);
  if (folders === null) return false;
  try {
    for (const folder of folders) await remote.removeFolder(folder, { signal });
    return true;
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === 'exists') return false;
    throw error;
  }
}

/** A folder and those in it, the innermost first; null when anything else lies in one of them. */
async function emptyFolders(remote: Remote, path: string, signal: AbortSignal): Promise<string[] | null> {
  const folders: string[] = [];
  for await (const page of remote.list(path, { signal })) {
    for (const entry of page) {
      const inner = entry.kind === 'folder' ? await emptyFolders(remote, entry.path, signal) : null;
      if (inner === null) return null;
      folders.push(...inner);
    }
  }
  return [...folders, path];
}
