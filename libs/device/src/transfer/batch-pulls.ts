import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  type FileRecord,
  type Framed,
  LIMITS,
  type Pull,
  type SentContent,
  ServiceError,
} from '@workspace-graph/contracts';
import { type MirrorPath, only, PathFinder } from '@workspace-graph/disk';
import pMap from 'p-map';
import type { FileState, MirrorRow } from '../store/device-store.js';
import { eachAlone, type Outcomes, orRefused, outcomeOf, portions, REQUESTS } from './batch-outcomes.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { LocalFiles } from './local-files.js';
import { Placements } from './placements.js';
import { type Transferring, Transfers } from './transfers.js';

/** What a folder has of a file after a pull. */
export interface PulledFile {
  readonly sha256: string;
  readonly changed: boolean;
  /** Where it was put on this machine just now; missing for one that was there before. */
  readonly absolute?: string;
}

/** Some files of one folder on their way to it. */
interface Pulling {
  readonly row: MirrorRow;
  readonly files: ReadonlyMap<string, FileRecord>;
  readonly force: boolean;
  readonly outcomes: Outcomes<PulledFile>;
}

type Content = Framed<SentContent>;

/** Files that are looked at, or replaced, at once. */
const FILES = 8;
/** Contents that are put into a folder together. */
const GROUP = LIMITS.filesPerBatch;
const GROUP_BYTES = 1_048_576;

/**
 * Many files of one node on their way from their remotes to its folder: small ones together in one request, larger ones and
 * those that are out of the ordinary each by itself. What is refused of one is told of it, and the others go on.
 */
@Injectable()
export class BatchPulls {
  constructor(
    @Inject(CENTRAL_FILES) private readonly centre: CentralFiles,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
    @Inject(Placements) private readonly placements: Placements,
  ) {}

  /** Lets a folder have what the remotes have of files of its node. @throws what is no refusal; the reason of the signal */
  async pull(
    row: MirrorRow,
    { files, force }: { readonly files: readonly FileRecord[]; readonly force: boolean },
    transferring: Transferring,
  ): Promise<Outcomes<PulledFile>> {
    const outcomes: Outcomes<PulledFile> = new Map();
    const sizeOf = (file: FileRecord): number => file.size_bytes ?? 0;
    const states = this.files.states(files);
    const small = files.filter(
      (file) => sizeOf(file) <= LIMITS.batchedFileBytes && this.isOrdinary(file, states.get(file.id) ?? null),
    );
    const together = (part: readonly FileRecord[]): Promise<void> => {
      const byId = new Map(part.map((file) => [file.id, file]));
      return this.transfers.inTurn([...byId.keys()], () =>
        this.together({ row, files: byId, force, outcomes }, transferring),
      );
    };
    await pMap(portions(small, sizeOf), together, { concurrency: REQUESTS });
    const ids = files.map(({ id }) => id);
    await eachAlone(ids, outcomes, (fileId) => this.transfers.pull(fileId, { force }, transferring));
    return outcomes;
  }

  /** Whether a file has bytes on a remote, and was not moved since it was here. */
  private isOrdinary(file: FileRecord, state: FileState | null): boolean {
    return !file.is_native_format && file.remote_name !== null && this.files.isInPlace(file, state);
  }

  /** What lies here is told, so that the same is not sent. Files that have grown meanwhile get no outcome. */
  private async together(pulling: Pulling, transferring: Transferring): Promise<void> {
    const { row, files, outcomes } = pulling;
    const { signal } = transferring;
    const known = { paths: new PathFinder(row.path), states: this.files.states([...files.values()]) };
    const pulls: Pull[] = [];
    const absent = new Map<string, MirrorPath>();
    const look = async (file: FileRecord): Promise<void> => {
      const found = await outcomeOf(() => this.files.look(row, file, signal, known));
      if ('refused' in found) return void outcomes.set(file.id, found);
      const { at, sha256: has } = found.done;
      pulls.push({ file_id: file.id, has });
      if (has === null) absent.set(file.id, at);
    };
    await pMap(files.values(), look, { concurrency: FILES });
    if (pulls.length === 0) return;
    await orRefused(files.keys(), outcomes, async () => {
      for await (const contents of groups(this.centre.pullAll(row.nodeId, pulls, signal))) {
        const isNew = ({ header }: Content): boolean => header.state === 'sent' && absent.has(header.file_id);
        const { fresh = [], others = [] } = Object.groupBy(contents, (each) => (isNew(each) ? 'fresh' : 'others'));
        await this.place(pulling, fresh, { absent, signal });
        await pMap(others, (content) => this.take(pulling, content, transferring), { concurrency: FILES });
      }
    });
  }

  /** Contents of files of which nothing lies here. One that came as another than was told is asked for by itself. */
  private async place(
    { row, files, outcomes }: Pulling,
    contents: readonly Content[],
    { absent, signal }: { readonly absent: ReadonlyMap<string, MirrorPath>; readonly signal: AbortSignal },
  ): Promise<void> {
    const placings = contents.flatMap(({ header: { file_id, sha256 }, bytes }) => {
      const [file, at] = [files.get(file_id), absent.get(file_id)];
      const isWhole = sha256 === createHash('sha256').update(bytes).digest('hex');
      return file && at && isWhole ? { file, at, bytes, sha256 } : [];
    });
    if (placings.length === 0) return;
    const refusals = await this.placements.place(row, placings, signal);
    for (const { file, at, sha256 } of placings) {
      const refused = refusals.get(file.id);
      outcomes.set(file.id, refused ? { refused } : { done: { sha256, changed: true, absolute: at.absolute } });
    }
  }

  /** A content that replaces another one, or one that is here already. */
  private async take(
    { row, files, force, outcomes }: Pulling,
    { header: { file_id, state, sha256, refused }, bytes }: Content,
    transferring: Transferring,
  ): Promise<void> {
    const file = files.get(file_id);
    if (!file || state === 'too_large') return;
    const take = async (): Promise<PulledFile> => {
      if (sha256 === undefined) throw new ServiceError('INTERNAL', 'A content came without its hash.');
      const content = { sha256, bytes: () => only(bytes) };
      return { sha256, changed: await this.transfers.take(file, { row, content, force }, transferring) };
    };
    outcomes.set(file_id, refused ? { refused } : await outcomeOf(take));
  }
}

/** Contents as they come, several at a time. */
async function* groups(contents: AsyncIterable<Content>): AsyncGenerator<Content[]> {
  let held: Content[] = [];
  let heldBytes = 0;
  for await (const content of contents) {
    held.push(content);
    heldBytes += content.bytes.length;
    if (held.length < GROUP && heldBytes < GROUP_BYTES) continue;
    yield held;
    held = [];
    heldBytes = 0;
  }
  if (held.length > 0) yield held;
}
