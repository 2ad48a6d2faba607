import type { Bus } from '@workspace-graph/bus';
import {
  beginDownload,
  beginUpload,
  type ContentTarget,
  confirmContent,
  type Envelope,
  type FileContent,
  type OpenContent,
  type OpenContentOptions,
  RawJson,
  ServiceError,
  TrackedFile,
  type WriteContentOptions,
} from '@workspace-graph/contracts';
import { download, upload, wayOf } from './byte-transfer.js';

/**
 * The bytes of files of a central workspace: every transfer is asked for over the bus, on behalf of the caller, and then
 * goes as one stream to the instance of the file service that waits for it.
 */
export class TransferredContent implements FileContent {
  constructor(private readonly bus: Pick<Bus, 'call'>) {}

  async confirm(nodeId: string, level: 'read' | 'write', envelope: Envelope): Promise<void> {
    await this.bus.call(confirmContent, { node_id: nodeId, level }, envelope);
  }

  /** Presentation bundles come as they are: their previews are made where the file lies on a disk. */
  async open(
    { nodeId, path }: ContentTarget,
    { signal }: OpenContentOptions,
    envelope: Envelope,
  ): Promise<OpenContent> {
    const options = signal ? { signal } : {};
    const told = parsed(await this.bus.call(beginDownload, { node_id: nodeId, path }, envelope, options));
    const ended = new AbortController();
    return {
      kind: 'file',
      filename: told.filename,
      mimeType: told.mime_type,
      sizeBytes: told.size_bytes,
      sha256: told.sha256,
      modifiedAt: new Date(told.modified_at),
      bytes: (range) => download(wayOf(told.transfer), { range, signal: ended.signal }),
      close: async () => ended.abort(new ServiceError('REQUEST_CANCELLED', 'The content is not read any more.')),
    };
  }

  create(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.upload({ ...target, ifMatch: null, ...options }, bytes, envelope);
  }

  replace(
    target: ContentTarget,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteContentOptions & { readonly ifMatch: string },
    envelope: Envelope,
  ): Promise<TrackedFile> {
    return this.upload({ ...target, ...options }, bytes, envelope);
  }

  private async upload(
    { nodeId, path, ifMatch, text }: ContentTarget & WriteContentOptions & { readonly ifMatch: string | null },
    bytes: AsyncIterable<Uint8Array>,
    envelope: Envelope,
  ): Promise<TrackedFile> {
    const input = { node_id: nodeId, path, if_match: ifMatch, text };
    const { transfer } = parsed(await this.bus.call(beginUpload, input, envelope));
    return TrackedFile.parse(await upload(wayOf(transfer), bytes));
  }
}

function parsed<T>(reply: T | RawJson): T {
  return reply instanceof RawJson ? (reply.parse() as T) : reply;
}
