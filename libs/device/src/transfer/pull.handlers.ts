import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  type FileRecord,
  LIMITS,
  listNodeRecords,
  lookAtRemote,
  type OutputOf,
  type ParsedInputOf,
  pullFile,
  type RemoteLook,
  validationFailed,
} from '@workspace-graph/contracts';
import { locate } from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { NodeFolders } from '../files/node-folders.js';
import type { MirrorRow } from '../store/device-store.js';
import { LocalFiles } from './local-files.js';
import { Transfers } from './transfers.js';

type Output = OutputOf<typeof pullFile>;
type Preview = NonNullable<Output['preview']>;
type Classified = Preview['files'][number];

/** Files that are brought from their remote into the folder of their node. */
@Controller()
export class PullHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
  ) {}

  @Handles(pullFile)
  async pull(
    { file_id, node_id, force }: ParsedInputOf<typeof pullFile>,
    { envelope, signal }: OperationContext,
  ): Promise<Output> {
    if (file_id !== undefined && node_id === undefined)
      return { pulled: await this.pullOne(file_id, force, { envelope, signal }), preview: null };
    if (node_id !== undefined && file_id === undefined)
      return { pulled: null, preview: await this.preview(node_id, { envelope, signal }) };
    throw validationFailed([{ path: '', message: 'needs file_id, to pull a file, or node_id, to preview a node' }]);
  }

  private async pullOne(
    fileId: string,
    force: boolean,
    transferring: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<Output['pulled']> {
    const { sha256, changed } = await this.transfers.pull(fileId, { force }, transferring);
    const placed = await this.folders.file(fileId, transferring.envelope);
    const folder = await this.parts.localPaths.folderOf(placed.place, transferring.envelope);
    const local_path = folder === null ? null : (await locate(folder, placed.file.path)).absolute;
    return { file_id: fileId, local_path, hash: sha256, changed };
  }

  private async preview(
    nodeId: string,
    { envelope, signal }: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<Preview> {
    const row = await this.folders.writable(nodeId, envelope);
    const input = { node_id: nodeId, limit: LIMITS.filesMax + 1 };
    const { files } = await this.parts.service.call(listNodeRecords, input, envelope);
    const stored = files.slice(0, LIMITS.filesMax).filter(({ remote_name }) => remote_name !== null);
    const classes: Classified[] = [];
    for (let start = 0; start < stored.length; start += LIMITS.looksPerCall) {
      const part = stored.slice(start, start + LIMITS.looksPerCall);
      const file_ids = part.map(({ id }) => id);
      const { looks } = await this.parts.service.call(lookAtRemote, { file_ids }, envelope, signal);
      const byId = new Map(looks.map((look) => [look.file_id, look]));
      for (const file of part) classes.push(await this.classOf(row, { file, look: byId.get(file.id) }, signal));
    }
    return { node_id: nodeId, files: classes, complete: files.length <= LIMITS.filesMax };
  }

  private async classOf(
    row: MirrorRow,
    { file, look }: { readonly file: FileRecord; readonly look: RemoteLook | undefined },
    signal: AbortSignal,
  ): Promise<Classified> {
    const told = { file_id: file.id, path: file.path };
    if (file.is_native_format) return { ...told, class: 'native' };
    // What is not told of any more is gone, or hidden from this caller since.
    if (!look || look.state === 'missing') return { ...told, class: 'remote_missing' };
    if (look.state === 'error')
      return { ...told, class: 'remote_error', ...(look.message === undefined ? {} : { message: look.message }) };
    const { state, sha256 } = await this.files.look(row, file, signal);
    if (sha256 !== null && sha256 === look.sha256) return { ...told, class: 'unchanged' };
    return { ...told, class: sha256 === null || sha256 === state?.lastSyncedHash ? 'updated' : 'conflict' };
  }
}
