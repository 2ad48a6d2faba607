import { Inject, Injectable } from '@nestjs/common';
import {
  type FileRecord,
  type FileRefusal,
  type Framed,
  LIMITS,
  type Pull,
  type Push,
  type PushedFile,
  refusalOf,
  type SentContent,
  ServiceError,
} from '@workspace-graph/contracts';
import pMap from 'p-map';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { MirrorRow } from '../store/device-store.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { LocalFiles } from './local-files.js';
import { type Transferring, Transfers } from './transfers.js';

/** What became of one of several files. */
export type Outcome<T> = { readonly done: T } | { readonly refused: FileRefusal };
export type Outcomes<T> = ReadonlyMap<string, Outcome<T>>;

/** What a folder has of a file after a pull. */
export interface PulledFile {
  readonly sha256: string;
  readonly changed: boolean;
}

type Found<T> = Map<string, Outcome<T>>;

/** Requests that are under way at once, and files that are put into a folder at once. */
const REQUESTS = 3;
const FILES = 8;

/**
 * Many files of one folder on their way to their remotes and from there: small ones together in one request, larger ones and
 * those that are out of the ordinary each by itself. What is refused of one is told of it, and the others go on.
 */
@Injectable()
export class BatchTransfers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(CENTRAL_FILES) private readonly centre: CentralFiles,
    @Inject(LocalFiles) private readonly files: LocalFiles,
    @Inject(Transfers) private readonly transfers: Transfers,
  ) {}

  /** Sends what lies in a folder of files of its node, by their ids. @throws what is no refusal; the reason of the signal */
  async push(row: MirrorRow, fileIds: readonly string[], transferring: Transferring): Promise<Outcomes<PushedFile>> {
    const outcomes: Found<PushedFile> = new Map();
    const sizeOf = (fileId: string): number => this.parts.store.file(fileId)?.sizeBytes ?? 0;
    const small = fileIds.filter((fileId) => sizeOf(fileId) <= LIMITS.batchedFileBytes);
    await pMap(portions(small, sizeOf), (ids) => this.pushTogether(row, { ids, outcomes }, transferring), {
      concurrency: REQUESTS,
    });
    const left = fileIds.filter((fileId) => !outcomes.has(fileId));
    await each(left, outcomes, (fileId) => this.transfers.push(fileId, transferring));
    return outcomes;
  }

  /** Lets a folder have what the remotes have of files of its node. @throws what is no refusal; the reason of the signal */
  async pull(
    row: MirrorRow,
    { files, force }: { readonly files: readonly FileRecord[]; readonly force: boolean },
    transferring: Transferring,
  ): Promise<Outcomes<PulledFile>> {
    const outcomes: Found<PulledFile> = new Map();
    const small = files.filter((file) => (file.size_bytes ?? 0) <= LIMITS.batchedFileBytes && this.liesInPlace(file));
    const sizeOf = (file: FileRecord): number => file.size_bytes ?? 0;
    await pMap(
      portions(small, sizeOf),
      (part) => this.pullTogether(row, { files: part, force, outcomes }, transferring),
      {
        concurrency: REQUESTS,
      },
    );
    const left = files.filter(({ id }) => !outcomes.has(id)).map(({ id }) => id);
    await each(left, outcomes, (fileId) => this.transfers.pull(fileId, { force }, transferring));
    return outcomes;
  }

  /** Files that have grown meanwhile get no outcome. */
  private async pushTogether(
    row: MirrorRow,
    { ids, outcomes }: { readonly ids: readonly string[]; readonly outcomes: Found<PushedFile> },
    { signal }: Transferring,
  ): Promise<void> {
    await this.transfers.inTurn(ids, async () => {
      const sent = new Map<string, string>();
      const contents = this.read(row, { ids, sent, outcomes }, signal);
      const told = await orRefused(ids, outcomes, () => this.centre.pushAll(row.nodeId, contents, signal));
      for (const { file_id, pushed, refused } of told ?? []) {
        if (pushed) outcomes.set(file_id, { done: pushed });
        else if (refused) outcomes.set(file_id, { refused });
      }
      const synced = [...sent].filter(([fileId]) => 'done' in (outcomes.get(fileId) ?? {}));
      await this.transfers.noteSynced(row.nodeId, new Map(synced));
    });
  }

  private async *read(
    row: MirrorRow,
    {
      ids,
      sent,
      outcomes,
    }: { readonly ids: readonly string[]; readonly sent: Map<string, string>; readonly outcomes: Found<PushedFile> },
    signal: AbortSignal,
  ): AsyncGenerator<Framed<Push>> {
    for (const fileId of ids) {
      try {
        await using content = await this.files.open(row, fileId, signal);
        if (content.sizeBytes > LIMITS.batchedFileBytes) continue;
        const header = {
          file_id: fileId,
          sha256: content.sha256,
          size_bytes: content.sizeBytes,
          modified_at: content.modifiedAt.toISOString(),
          builds_on: content.state.lastSyncedHash,
        };
        const bytes = await wholeOf(content.bytes());
        sent.set(fileId, content.sha256);
        yield { header, bytes };
      } catch (error) {
        signal.throwIfAborted();
        outcomes.set(fileId, { refused: refusalOf(error) });
      }
    }
  }

  /** Files that have grown meanwhile get no outcome. */
  private async pullTogether(
    row: MirrorRow,
    {
      files,
      force,
      outcomes,
    }: { readonly files: readonly FileRecord[]; readonly force: boolean; readonly outcomes: Found<PulledFile> },
    transferring: Transferring,
  ): Promise<void> {
    const byId = new Map(files.map((file) => [file.id, file]));
    await this.transfers.inTurn([...byId.keys()], async () => {
      const pulls = await pMap(files, (file) => this.wanted(row, file, transferring.signal), { concurrency: FILES });
      const sent = this.centre.pullAll(row.nodeId, pulls, transferring.signal);
      const put = async ({ header, bytes }: Framed<SentContent>): Promise<void> => {
        const { file_id, state, sha256, refused } = header;
        const file = byId.get(file_id);
        if (!file || state === 'too_large') return;
        const take = async (): Promise<PulledFile> => {
          if (sha256 === undefined) throw new ServiceError('INTERNAL', 'A content came without its hash.');
          const content = { sha256, bytes: () => only(bytes) };
          return { sha256, changed: await this.transfers.take(file, { row, content, force }, transferring) };
        };
        outcomes.set(file_id, refused ? { refused } : await outcomeOf(take));
      };
      await orRefused(byId.keys(), outcomes, () => pMap(sent, put, { concurrency: FILES }));
    });
  }

  /** What lies here is told, so that the same is not sent. */
  private async wanted(row: MirrorRow, file: FileRecord, signal: AbortSignal): Promise<Pull> {
    const { sha256 } = await this.files.look(row, file, signal);
    return { file_id: file.id, has: sha256 };
  }

  /** Whether a file has bytes on a remote, and was not moved since it was here. */
  private liesInPlace({ id, node_id, path, is_native_format, remote_name }: FileRecord): boolean {
    const state = this.parts.store.file(id);
    const isHere = state === null || state.isDeleted || (state.nodeId === node_id && state.path === path);
    return isHere && !is_native_format && remote_name !== null;
  }
}

/** In parts of which each may go in one request. */
function portions<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  const all: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = all.at(-1);
    bytes += sizeOf(item);
    if (last && last.length < LIMITS.filesPerBatch && bytes <= LIMITS.batchBytes) last.push(item);
    else {
      all.push([item]);
      bytes = sizeOf(item);
    }
  }
  return all;
}

/** What is refused of the whole is refused of each that has no outcome yet. */
async function orRefused<R, T>(
  fileIds: Iterable<string>,
  outcomes: Found<T>,
  work: () => Promise<R>,
): Promise<R | null> {
  try {
    return await work();
  } catch (error) {
    const refused = refusalOf(error);
    for (const fileId of fileIds) if (!outcomes.has(fileId)) outcomes.set(fileId, { refused });
    return null;
  }
}

async function each<T>(
  fileIds: readonly string[],
  outcomes: Found<T>,
  work: (fileId: string) => Promise<T>,
): Promise<void> {
  const one = async (fileId: string): Promise<void> => {
    outcomes.set(fileId, await outcomeOf(() => work(fileId)));
  };
  await pMap(fileIds, one, { concurrency: REQUESTS });
}

async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { done: await work() };
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

async function wholeOf(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
