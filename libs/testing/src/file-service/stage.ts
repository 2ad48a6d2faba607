import { createHash } from 'node:crypto';
import {
  applyFileChanges,
  type Caller,
  type FileChange,
  type FileChangeResult,
  type FileRecord,
  findFiles,
  listNodeRecords,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import type { FileServiceWorld } from './file-service-world.js';

/** Content of a text, as a device tells it. */
export const contentOf = (text: string) => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  size_bytes: Buffer.byteLength(text),
  mime_type: 'text/plain',
  modified_at: '2026-05-04T10:00:00.000Z',
});

export const registering = (path: string, text = path): FileChange => ({ kind: 'register', path, ...contentOf(text) });

/** One node of a file service and what is done to its files by the device itself, unless a caller is given. */
export interface NodeStage {
  readonly world: FileServiceWorld;
  readonly nodeId: string;
  apply(changes: readonly FileChange[], options?: ApplyOptions): Promise<FileChangeResult[]>;
  /** Registers a file that must be taken. */
  register(path: string, text?: string): Promise<FileRecord>;
  /** Paths of the node's records, sorted. */
  paths(): Promise<string[]>;
  find(id: string): Promise<FileRecord | undefined>;
}

interface ApplyOptions {
  readonly strict?: boolean;
  readonly caller?: Caller | null;
}

export async function stageNode(world: FileServiceWorld): Promise<NodeStage> {
  return stageOf(world, await world.node({ name: `node-${newId()}` }));
}

export function stageOf(world: FileServiceWorld, nodeId: string): NodeStage {
  const apply: NodeStage['apply'] = async (changes, { strict = false, caller = null } = {}) =>
    (await world.call(applyFileChanges, { node_id: nodeId, action: 'spec', changes: [...changes], strict }, caller))
      .results;
  return {
    world,
    nodeId,
    apply,
    register: async (path, text) => taken((await apply([registering(path, text)]))[0]),
    paths: async () => {
      const { files } = await world.call(listNodeRecords, { node_id: nodeId }, null);
      return files.map(({ path }) => path).sort();
    },
    find: async (id) => (await world.call(findFiles, { ids: [id] }, null)).files[0]?.file,
  };
}

/** The record of a change that must have been carried out. */
export function taken(result: FileChangeResult | undefined): FileRecord {
  if (!result || 'refused' in result || !result.file) throw new Error(`No record: ${JSON.stringify(result)}`);
  return result.file;
}
