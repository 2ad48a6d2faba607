import { Controller } from '@nestjs/common';
import {
  type OutputOf,
  type ParsedInputOf,
  type RemoteScaffold,
  SECTIONS,
  ServiceError,
  scaffoldRemote,
} from '@workspace-graph/contracts';
import { nodeFolder, ORGANIZATION_FOLDERS } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { onNode } from '../remotes/refusals.js';
import { type HeldRemote, RemotePool } from '../remotes/remote-pool.js';
import type { FileNode } from './remote-file.statements.js';
import { RemoteFiles } from './remote-files.js';

/** Folders of nodes on their remotes, so that whoever opens the storage itself finds where things belong. */
@Controller()
export class ScaffoldHandlers {
  constructor(
    private readonly files: RemoteFiles,
    private readonly pool: RemotePool,
  ) {}

  /** A convenience: what keeps it from being made is told, and keeps nothing else from being done. */
  @Handles(scaffoldRemote)
  async scaffold(
    { node_id }: ParsedInputOf<typeof scaffoldRemote>,
    { caller, signal }: OperationContext,
  ): Promise<OutputOf<typeof scaffoldRemote>> {
    const node = await this.files.node(node_id, caller);
    let remote_name: string | null = null;
    try {
      if (!node.is_writable) return { remote_name, folders: [], problem: null };
      const name = await this.files.remoteOf(node);
      remote_name = name;
      const folders = await onNode(name, node, () => this.pool.use(name, (held) => makeFolders(held, node, signal)));
      return { remote_name, folders, problem: null };
    } catch (error) {
      if (!(error instanceof ServiceError) || signal.aborted) throw error;
      return { remote_name, folders: [], problem: error.code === 'NO_REMOTE' ? null : error.message };
    }
  }
}

/** Answers those that were made, as whoever asks may be told of them. */
async function makeFolders(held: HeldRemote, node: FileNode, signal: AbortSignal): Promise<RemoteScaffold['folders']> {
  const { remote, confirmRoot } = held;
  if (!remote.capabilities.emptyFolders) return [];
  await confirmRoot();
  const names = node.place.type === 'organization' ? ORGANIZATION_FOLDERS : SECTIONS;
  const made: string[] = [];
  for (const name of names) {
    const path = `${node.folder}/${name}`;
    if ((await remote.stat(path, { signal })) !== null) continue;
    await remote.makeFolder(path, { signal });
    made.push(`${nodeFolder(node.place)}/${name}`);
  }
  return made;
}
