import { fileStatus, Id, STATUS_BUCKETS, type StatusEntry } from '@workspace-graph/contracts';
import { parseFilePath } from '@workspace-graph/domain';
import { CliError } from './cli-error.js';
import type { WorkspaceClient } from './workspace-client.js';

/**
 * The id of a tracked file that somebody names on the command line, by its id or by its path within the node.
 * @throws CliError with exit code 2 for what is no path
 */
export async function resolveFile(
  client: Pick<WorkspaceClient, 'call'>,
  nodeId: string,
  text: string,
): Promise<string> {
  const id = Id.safeParse(text);
  if (id.success) return id.data;
  const path = filePath(text).path;
  const status = await client.call(fileStatus, { node_id: nodeId, path_prefix: path, include_discovery: false });
  const told: StatusEntry[] = STATUS_BUCKETS.flatMap((bucket) => status[bucket]);
  const found = told.find((entry) => entry.path === path && entry.file_id !== null)?.file_id ?? null;
  if (found === null)
    throw new CliError('FILE_NOT_FOUND', `There is no tracked file ${path} in this node.`, {
      hint: '`svc files list NODE` lists the tracked files, `svc files adopt` tracks a new one.',
    });
  return found;
}

/** A path on the command line, taken apart; one without a section lies in wip. @throws CliError with exit code 2 */
export function filePath(text: string) {
  const parsed = parseFilePath(text, { section: 'wip' });
  if ('value' in parsed) return parsed.value;
  throw new CliError('PATH_INVALID', `The path "${text}" ${parsed.problem}.`, {
    hint: 'A path is section/folders/name, such as wip/notes/plan.md.',
  });
}
