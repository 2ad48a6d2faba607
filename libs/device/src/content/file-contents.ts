import type { FileHandle } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import type {
  ByteRange,
  ContentTarget,
  Envelope,
  FileContent,
  OpenContent,
  OpenContentOptions,
  TrackedFile,
  WriteContentOptions,
} from '@workspace-graph/contracts';
import { mimeTypeOf, openForReading } from '@workspace-graph/disk';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { FileChanges } from '../files/file-changes.js';
import { ContentHashes } from '../reading/content-hashes.js';
import { type ReadableFile, ReadableFiles } from '../reading/readable-files.js';
import { isDeck, readPreview } from './deck-preview.js';
import { bytesOf } from './held-content.js';

/** The bytes of the files of this device. */
@Injectable()
export class FileContents implements FileContent {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(ReadableFiles) private readonly files: ReadableFiles,
    @Inject(ContentHashes) private readonly hashes: ContentHashes,
    @Inject(FileChanges) private readonly changes: FileChanges,
  ) {}

  /** @throws ServiceError NODE_NOT_FOUND; FORBIDDEN to write on a node that the caller may only read */
  async confirm(nodeId: string, level: 'read' | 'write', asker: Envelope): Promise<void> {
    const { service } = this.parts;
    await (level === 'write' ? service.writablePlace(nodeId, asker) : service.place(nodeId, asker));
  }

  /** @throws ServiceError NODE_NOT_FOUND, VALIDATION_FAILED, NATIVE_FORMAT, NO_MIRROR, FILE_NOT_FOUND, UNSUPPORTED_MEDIA_TYPE */
  async open(
    { nodeId, path }: ContentTarget,
    { raw, signal }: OpenContentOptions,
    asker: Envelope,
  ): Promise<OpenContent> {
    const file = await this.files.find(nodeId, path, asker);
    const handle = await openForReading(file.at);
    try {
      if (!raw && isDeck(file.parts.filename)) return await this.openDeck(file, handle);
      return await this.openFile(file, handle, signal);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Makes a file where nothing lies. @throws ServiceError as `FileChanges.createFrom` */
  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    asker: Envelope,
  ): Promise<TrackedFile> {
    return this.changes.createFrom(target, bytes, { ...options, envelope: asker, action: 'create_file' });
  }

  /** Replaces content that has the hash `ifMatch`. @throws ServiceError as `FileChanges.replaceFrom` */
  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions & { readonly ifMatch: string },
    asker: Envelope,
  ): Promise<TrackedFile> {
    return this.changes.replaceFrom(target, bytes, { ...options, envelope: asker, action: 'write_file' });
  }

  private async openFile(
    { place: { node_id: nodeId }, parts: { path, filename } }: ReadableFile,
    handle: FileHandle,
    signal?: AbortSignal,
  ): Promise<OpenContent> {
    const hashed = await this.hashes.of({ nodeId, path, handle }, signal);
    const content = { path, handle, hashed, onWrongHash: () => this.hashes.distrust(hashed) };
    return {
      kind: 'file',
      filename,
      mimeType: mimeTypeOf(path),
      sizeBytes: Number(hashed.found.size),
      sha256: hashed.sha256,
      modifiedAt: hashed.found.mtime,
      bytes: (range) => bytesOf(content, range),
      close: () => handle.close(),
    };
  }

  private async openDeck({ parts: { path, filename } }: ReadableFile, handle: FileHandle): Promise<OpenContent> {
    const { mtime: modifiedAt } = await handle.stat();
    const preview = await readPreview(handle.fd, path);
    await handle.close();
    return {
      kind: preview ? 'preview' : 'no-preview',
      filename,
      mimeType: 'text/html',
      sizeBytes: preview?.html.length ?? 0,
      sha256: preview?.sha256 ?? '',
      modifiedAt,
      bytes: (range) => piecesOf(preview?.html ?? Buffer.alloc(0), range),
      close: () => Promise.resolve(),
    };
  }
}

async function* piecesOf(bytes: Uint8Array, range?: ByteRange): AsyncGenerator<Uint8Array> {
  const asked = range ? bytes.subarray(range.start, range.end + 1) : bytes;
  if (asked.length > 0) yield asked;
}
