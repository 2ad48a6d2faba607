import { Controller, Inject } from '@nestjs/common';
import {
  errorOf,
  type FileRefusal,
  type OutputOf,
  type ParsedInputOf,
  type PushedFile,
  ServiceError,
  storeFile,
  storeFiles,
} from '@workspace-graph/contracts';
import { PathFinder } from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { NodeFolders } from '../files/node-folders.js';
import type { MirrorRow } from '../store/device-store.js';
import type { Outcomes } from './batch-outcomes.js';
import { BatchPushes } from './batch-pushes.js';
import { type Intake, Intakes, type Section, type TakenIn } from './intake.js';
import type { Transferring } from './transfers.js';

type Output = OutputOf<typeof storeFiles>;
type Stored = Output['stored'][number];

/** Files of this machine that are brought into the folder of a node and to its remote. */
@Controller()
export class StoreHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(NodeFolders) private readonly folders: NodeFolders,
    @Inject(Intakes) private readonly intakes: Intakes,
    @Inject(BatchPushes) private readonly pushes: BatchPushes,
  ) {}

  @Handles(storeFile)
  async store(
    { local_path, ...input }: ParsedInputOf<typeof storeFile>,
    context: OperationContext,
  ): Promise<OutputOf<typeof storeFile>> {
    const { stored, refused } = await this.storeAll({ ...input, local_paths: [local_path] }, context);
    const [file] = stored;
    if (!file) throw refused[0] ? errorOf(refused[0]) : new ServiceError('INTERNAL', 'Nothing became of the file.');
    const { given, ...told } = file;
    return told;
  }

  @Handles(storeFiles)
  async storeAll(
    { node_id, local_paths, ...section }: ParsedInputOf<typeof storeFiles>,
    { envelope, signal }: OperationContext,
  ): Promise<Output> {
    if (!this.parts.localPaths.areShownTo(envelope))
      throw new ServiceError('FORBIDDEN', 'Only the person of this device stores files of it.');
    const row = await this.folders.writable(node_id, envelope);
    const { intake, pushed } = await this.push(row, { given: local_paths, section }, { envelope, signal });
    const ids = idsOf(intake.values());
    const place = await this.parts.service.place(node_id, envelope);
    const folder = await this.parts.localPaths.folderOf(place, envelope);
    const paths = folder === null ? null : new PathFinder(folder);
    const known = this.parts.store.files(ids);
    const answer: Output = { stored: [], refused: [] };
    for (const [given, taken] of intake) {
      const outcome = 'fileId' in taken ? pushed.get(taken.fileId) : taken;
      if (!outcome) continue;
      if ('refused' in outcome) answer.refused.push({ given, ...outcome.refused });
      else if ('fileId' in taken) {
        const hash = known.get(taken.fileId)?.lastSyncedHash ?? outcome.done.file.sha256 ?? '';
        const local_path = paths && (taken.absolute ?? (await paths.locate(taken.path)).absolute);
        answer.stored.push({ given, ...pushedTo(outcome.done), local_path, hash });
      }
    }
    return answer;
  }

  /** What was taken in, and what became of it by the ids of the files. */
  private async push(
    row: MirrorRow,
    wanted: { readonly given: readonly string[]; readonly section: Section },
    transferring: Transferring,
  ): Promise<{ readonly intake: Intake; readonly pushed: Outcomes<PushedFile> }> {
    const intake = await this.intakes.take(row, wanted, transferring);
    const pushed = await this.pushes.push(row, idsOf(intake.values()), transferring);
    const isLost = (each: TakenIn): boolean => {
      const outcome = pushed.get(each.fileId);
      return outcome !== undefined && 'refused' in outcome && outcome.refused.code === 'FILE_NOT_FOUND';
    };
    const lost = [...intake.values()].filter((each) => 'fileId' in each && isLost(each)) as TakenIn[];
    if (lost.length === 0) return { intake, pushed };
    const renewed = await this.intakes.renew(row, lost, transferring);
    const again = await this.pushes.push(row, idsOf(renewed.values()), transferring);
    const now = [...intake].map(
      ([given, each]) => [given, ('fileId' in each && renewed.get(each.fileId)) || each] as const,
    );
    return { intake: new Map(now), pushed: new Map([...pushed, ...again]) };
  }
}

function idsOf(intake: Iterable<TakenIn | { readonly refused: FileRefusal }>): string[] {
  return [...new Set([...intake].flatMap((each) => ('fileId' in each ? each.fileId : [])))];
}

function pushedTo({ file, remote_path }: PushedFile): Pick<Stored, 'file_id' | 'remote_name' | 'remote_path'> {
  return { file_id: file.id, remote_name: file.remote_name ?? '', remote_path };
}
