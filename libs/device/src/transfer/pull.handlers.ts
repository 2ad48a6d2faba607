import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  errorOf,
  type FileRecord,
  findFiles,
  LIMITS,
  listNodeRecords,
  lookAtRemote,
  type OutputOf,
  type ParsedInputOf,
  pullFile,
  pullFiles,
  type RemoteLook,
  refusalOf,
  validationFailed,
} from '@workspace-graph/contracts';
import { fileNotFound, PathFinder } from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { NodeFolders } from '../files/node-folders.js';
import type { MirrorRow } from '../store/device-store.js';
import { outcomeOf } from './batch-outcomes.js';
import { BatchPulls, type PulledFile } from './batch-pulls.js';
import { LocalFiles } from './local-files.js';

type Output = OutputOf<typeof pullFile>;
type Preview = NonNullable<Output['preview']>;
type Classified = Preview['files'][number];

const CHANGED_HERE = 'It was changed here and not uploaded: store it, or pull it with force.';
const CHANGED_ON_BOTH =
  'It was changed here and on the remote: pull it with force, which puts what is here into the trash, and restore that under another path.';

/** Files that are brought from their remote into the folder of their node. */
@Controller()
export class PullHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(BatchPulls) private readonly pulls: BatchPulls,
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

  @Handles(pullFiles)
  async pullAll(
    { node_id, file_ids, force }: ParsedInputOf<typeof pullFiles>,
    { envelope, signal }: OperationContext,
  ): Promise<OutputOf<typeof pullFiles>> {
    const row = await this.folders.writable(node_id, envelope);
    const { files } = await this.parts.service.call(findFiles, { ids: file_ids }, envelope);
    const found = files.filter(({ file }) => file.node_id === node_id);
    const records = found.map(({ file }) => file);
    const outcomes = await this.pulls.pull(row, { files: records, force }, { envelope, signal });
    const folder = found[0] ? await this.parts.localPaths.folderOf(found[0].place, envelope) : null;
    const here = folder === null ? null : new PathFinder(folder);
    const answer: OutputOf<typeof pullFiles> = { pulled: [], refused: [] };
    const paths = new Map(records.map(({ id, path }) => [id, path]));
    for (const file_id of new Set(file_ids)) {
      const outcome = outcomes.get(file_id) ?? { refused: refusalOf(fileNotFound({ file_id })) };
      if ('refused' in outcome) answer.refused.push({ file_id, ...outcome.refused });
      else answer.pulled.push(await toldOf(file_id, { here, path: paths.get(file_id) ?? '' }, outcome.done));
    }
    return answer;
  }

  private async pullOne(
    fileId: string,
    force: boolean,
    { envelope, signal }: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<Output['pulled']> {
    const { file, row } = await this.files.changeable(fileId, envelope);
    const outcome = (await this.pulls.pull(row, { files: [file], force }, { envelope, signal })).get(fileId);
    if (!outcome) throw fileNotFound({ file_id: fileId });
    if ('refused' in outcome) throw errorOf(outcome.refused);
    const now = await this.folders.file(fileId, envelope);
    const folder = await this.parts.localPaths.folderOf(now.place, envelope);
    const here = folder === null ? null : new PathFinder(folder);
    return toldOf(fileId, { here, path: now.file.path }, outcome.done);
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
    const found = await outcomeOf(() => this.files.look(row, file, signal));
    if ('refused' in found) return { ...told, class: 'conflict', message: found.refused.message };
    const { state, sha256 } = found.done;
    if (sha256 !== null && sha256 === look.sha256) return { ...told, class: 'unchanged' };
    const known = state && this.parts.store.sent.inCommon(state, look.sha256);
    const isDeleted = sha256 === null && known === look.sha256 && this.files.isDeletedHere(file, state);
    if (isDeleted) return { ...told, class: 'updated', deleted_here: true };
    if (sha256 === null || sha256 === known || this.files.isUnedited(file, found.done))
      return { ...told, class: 'updated' };
    return { ...told, class: 'conflict', message: look.sha256 === known ? CHANGED_HERE : CHANGED_ON_BOTH };
  }
}

async function toldOf(
  file_id: string,
  { here, path }: { readonly here: PathFinder | null; readonly path: string },
  { sha256: hash, changed, absolute }: PulledFile,
): Promise<NonNullable<Output['pulled']>> {
  return { file_id, local_path: here && (absolute ?? (await here.locate(path)).absolute), hash, changed };
}
