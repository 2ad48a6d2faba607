import { buffer } from 'node:stream/consumers';
import { Inject, Injectable } from '@nestjs/common';
import { type Framed, LIMITS, type Push, type PushedFile, refusalOf } from '@workspace-graph/contracts';
import pMap from 'p-map';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { eachAlone, type Outcomes, orRefused, portions, REQUESTS } from './batch-outcomes.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { LocalFiles, type WholeLocal } from './local-files.js';
import { pushOf, type Transferring, Transfers } from './transfers.js';

/** Some files on their way, and what is known of them. */
interface Sending {
  readonly ids: readonly string[];
  /** What was told of those that were sent. */
  readonly sent: Map<string, Push>;
  readonly outcomes: Outcomes<PushedFile>;
}

/** Contents that are read together, and held until they are sent. */
const GROUP = LIMITS.filesPerBatch;
const GROUP_BYTES = 1_048_576;

/**
 * Many files of one folder on their way to their remotes: small ones together in one request, larger ones each by itself.
 * What is refused of one is told of it, and the others go on.
 */
@Injectable()
export class BatchPushes {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(CENTRAL_FILES) private readonly centre: CentralFiles,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
  ) {}

  /** Sends what lies in a folder of files of its node, by their ids. @throws what is no refusal; the reason of the signal */
  async push(row: MirrorRow, fileIds: readonly string[], transferring: Transferring): Promise<Outcomes<PushedFile>> {
    const outcomes: Outcomes<PushedFile> = new Map();
    const known = this.parts.store.files(fileIds);
    const sizeOf = (fileId: string): number => known.get(fileId)?.sizeBytes ?? 0;
    const small = fileIds.filter((fileId) => sizeOf(fileId) <= LIMITS.batchedFileBytes);
    const together = (ids: readonly string[]): Promise<void> => this.together(row, ids, outcomes, transferring.signal);
    await pMap(portions(small, sizeOf), together, { concurrency: REQUESTS });
    await eachAlone(fileIds, outcomes, (fileId) => this.transfers.push(fileId, transferring));
    return outcomes;
  }

  /** Files that have grown meanwhile get no outcome. */
  private async together(
    row: MirrorRow,
    ids: readonly string[],
    outcomes: Outcomes<PushedFile>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.transfers.inTurn(ids, async () => {
      const sent = new Map<string, Push>();
      const contents = this.read(row, { ids, sent, outcomes }, signal);
      const told = await orRefused(ids, outcomes, () => this.centre.pushAll(row.nodeId, contents, signal));
      for (const { file_id, pushed, refused } of told ?? []) {
        if (pushed) outcomes.set(file_id, { done: pushed });
        else if (refused) outcomes.set(file_id, { refused });
      }
      await this.transfers.noteSynced(row.nodeId, this.thereNow(sent, outcomes));
    });
  }

  /**
   * What the remote is known to have, by the ids of the files. Those that were refused for what this device sent before
   * have no outcome any more: they are sent once more, building on that.
   */
  private thereNow(sent: ReadonlyMap<string, Push>, outcomes: Outcomes<PushedFile>): Map<string, string> {
    const there = new Map<string, string>();
    for (const [fileId, push] of sent) {
      const outcome = outcomes.get(fileId);
      if (!outcome) continue;
      const sha256 = 'done' in outcome ? push.sha256 : this.transfers.sentBefore(push, outcome.refused);
      if (sha256 === null) continue;
      there.set(fileId, sha256);
      if ('refused' in outcome) outcomes.delete(fileId);
    }
    return there;
  }

  private async *read(
    row: MirrorRow,
    { ids, sent, outcomes }: Sending,
    signal: AbortSignal,
  ): AsyncGenerator<Framed<Push>> {
    const sizeOf = ({ sizeBytes }: FileState): number => sizeBytes;
    const states = [...this.parts.store.files(ids).values()];
    for (const group of portions(states, sizeOf, { items: GROUP, bytes: GROUP_BYTES })) {
      const contents = await this.files.readWhole(row, group, LIMITS.batchedFileBytes);
      this.transfers.noteSent(row, [...contents.values()].map(headerOf));
      for (const { fileId } of group) {
        signal.throwIfAborted();
        try {
          const content = contents.get(fileId) ?? (await this.readAlone(row, fileId, signal));
          if (!content) continue;
          const header = headerOf(content);
          if (!contents.has(fileId)) this.transfers.noteSent(row, [header]);
          sent.set(fileId, header);
          yield { header, bytes: content.bytes };
        } catch (error) {
          signal.throwIfAborted();
          outcomes.set(fileId, { refused: refusalOf(error) });
        }
      }
    }
  }

  /** Null for one that has grown. @throws ServiceError as `LocalFiles.open` */
  private async readAlone(row: MirrorRow, fileId: string, signal: AbortSignal): Promise<WholeLocal | null> {
    await using content = await this.files.open(row, fileId, signal);
    const { state, sha256, modifiedAt, sizeBytes } = content;
    if (sizeBytes > LIMITS.batchedFileBytes) return null;
    return { state, sha256, modifiedAt, bytes: await buffer(content.bytes()) };
  }
}

function headerOf(content: WholeLocal): Push {
  return pushOf({ ...content, sizeBytes: content.bytes.length });
}
