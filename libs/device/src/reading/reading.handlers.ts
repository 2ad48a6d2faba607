import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  LIMITS,
  listFiles,
  type OutputOf,
  type ParsedInputOf,
  type PlacedFile,
  type ReplyOf,
  readFile,
  type TrackedFile,
} from '@workspace-graph/contracts';
import {
  EXCERPT_BYTES,
  excerptOf,
  fileNotFound,
  inlineContent,
  mimeTypeOf,
  openForReading,
  stampOf,
  tokensOfInline,
} from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { type ProjectedPaths, Projections } from '../projections/projections.js';
import { callerOf } from '../records/file-service.js';
import { beingWritten, ContentHashes } from './content-hashes.js';
import { type ReadableFile, ReadableFiles } from './readable-files.js';
import { toTrackedFile } from './tracked-file.js';

const READ_ATTEMPTS = 3;

/** Listing and reading files, for people and agents. */
@Controller()
export class ReadingHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(ReadableFiles) private readonly files: ReadableFiles,
    @Inject(ContentHashes) private readonly hashes: ContentHashes,
    @Inject(Projections) private readonly projections: Projections,
  ) {}

  @Handles(listFiles)
  async list(
    input: ParsedInputOf<typeof listFiles>,
    { envelope }: OperationContext,
  ): Promise<ReplyOf<typeof listFiles>> {
    const { items, ...page } = await this.parts.service.list(input, envelope);
    return { items: await this.withPaths(items, envelope), ...page };
  }

  @Handles(readFile)
  async read(
    { node_id, path, as_path, max_tokens, full }: ParsedInputOf<typeof readFile>,
    { envelope, signal }: OperationContext,
  ): Promise<ReplyOf<typeof readFile>> {
    const file = await this.files.find(node_id, path, envelope);
    const isTold = this.parts.localPaths.areShownTo(envelope);
    const inline = as_path && isTold ? null : await readInline(file);
    if (inline && (full || !isTold || tokensOfInline(inline.content ?? '') <= max_tokens)) return inline;
    const described = await this.described(file, isTold ? await this.projectedPath(file, envelope) : null, signal);
    return as_path && isTold ? described : { ...described, excerpt: await beginningOf(file) };
  }

  /** The folder of the home node is the agent's own; what it sees of other nodes are projections. */
  private async withPaths(items: readonly PlacedFile[], envelope: Envelope): Promise<TrackedFile[]> {
    const home = callerOf(envelope).home_node_id ?? null;
    const places = items.map(({ place }) => place);
    const folderOf = await this.parts.localPaths.foldersOf(places, envelope);
    const elsewhere = items.filter(({ file }) => home !== null && file.node_id !== home);
    const projected = await this.projected(elsewhere, envelope);
    return items.map((item) => {
      const { node_id, path } = item.file;
      if (home === null || node_id === home) return toTrackedFile(item, folderOf(node_id));
      return { ...toTrackedFile(item, null), local_path: projected(node_id, path) };
    });
  }

  private async projected(items: readonly PlacedFile[], envelope: Envelope): Promise<ProjectedPaths> {
    const here = items.filter(({ file }) => this.parts.store.mirror(file.node_id) !== null);
    if (here.length === 0 || !this.parts.localPaths.areShownTo(envelope)) return () => null;
    const byNode = Map.groupBy(here, ({ file }) => file.node_id);
    const wanted = new Map([...byNode].map(([nodeId, files]) => [nodeId, files.map(({ file }) => file.path)]));
    return this.projections.project(envelope, wanted);
  }

  private async projectedPath({ place, parts: { path } }: ReadableFile, envelope: Envelope): Promise<string> {
    const projected = await this.projections.project(envelope, new Map([[place.node_id, [path]]]));
    const onDisk = projected(place.node_id, path);
    if (onDisk === null) throw fileNotFound({ path });
    return onDisk;
  }

  /** A file without its content. */
  private async described(
    { place: { node_id: nodeId }, parts: { path }, at }: ReadableFile,
    onDisk: string | null,
    signal: AbortSignal,
  ): Promise<OutputOf<typeof readFile>> {
    await using handle = await openForReading(at);
    const { sha256, found } = await this.hashes.of({ nodeId, path, handle }, signal);
    return { bytes: Number(found.size), mime: mimeTypeOf(path), sha256, path: onDisk, content: null };
  }
}

/** The content of a file that is small enough; null for a larger one. */
async function readInline({ at, parts: { path } }: ReadableFile): Promise<OutputOf<typeof readFile> | null> {
  await using handle = await openForReading(at);
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
    const before = await handle.stat({ bigint: true });
    const bytes = before.size > LIMITS.inlineFileBytes ? null : await readUpTo(handle, LIMITS.inlineFileBytes);
    if (bytes === null) return null;
    if (stampOf(before) !== stampOf(await handle.stat({ bigint: true }))) continue;
    return {
      bytes: bytes.length,
      mime: mimeTypeOf(path),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      path: null,
      content: inlineContent(bytes),
    };
  }
  throw beingWritten(path);
}

/** All bytes of a file; null when there are more than `maxBytes`. */
async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer | null> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (length > maxBytes) return null;
    if (bytesRead === 0) return buffer.subarray(0, length);
  }
}

async function beginningOf({ at }: ReadableFile): Promise<string> {
  await using handle = await openForReading(at);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(EXCERPT_BYTES), 0, EXCERPT_BYTES, 0);
  return excerptOf(buffer.subarray(0, bytesRead), (await handle.stat()).size);
}
