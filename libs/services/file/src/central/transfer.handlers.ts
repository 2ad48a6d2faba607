import { Controller } from '@nestjs/common';
import {
  beginDownload,
  beginUpload,
  confirmContent,
  createFile,
  type OutputOf,
  type ParsedInputOf,
  writeFile,
} from '@workspace-graph/contracts';
import { mimeTypeOf } from '@workspace-graph/disk';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { ByteServer } from './bytes/byte-server.js';
import { nameOf, objectOf, pathNotFound, RemoteFiles } from './remote-files.js';
import { RemoteObjects } from './remote-objects.js';
import { RemoteWrites } from './remote-writes.js';
import { settled } from './settled-reads.js';

/** What a gateway asks before bytes move. Everything is looked at for the caller on whose behalf it asks. */
@Controller()
export class TransferHandlers {
  constructor(
    private readonly files: RemoteFiles,
    private readonly objects: RemoteObjects,
    private readonly writes: RemoteWrites,
    private readonly server: ByteServer,
  ) {}

  @Handles(confirmContent)
  async confirm(
    { node_id, level }: ParsedInputOf<typeof confirmContent>,
    { caller }: OperationContext,
  ): Promise<OutputOf<typeof confirmContent>> {
    await (level === 'write' ? this.files.writable(node_id, caller) : this.files.node(node_id, caller));
    return { level };
  }

  @Handles(beginDownload)
  async download(
    { node_id, path }: ParsedInputOf<typeof beginDownload>,
    { caller, signal }: OperationContext,
  ): Promise<OutputOf<typeof beginDownload>> {
    const found = await this.files.readable(node_id, path, caller);
    const object = objectOf(found);
    if (!object) throw pathNotFound(node_id, path);
    const { entry, sha256 } = await this.objects.look(object, found.file.path, (held) =>
      settled(path, () => this.objects.contents.require(held, found, signal)),
    );
    const { sizeBytes, revision } = entry;
    const content = { remote: object.remote, object: object.path, path: found.file.path, revision, sizeBytes, sha256 };
    return {
      filename: nameOf(found.file.path),
      mime_type: mimeTypeOf(found.file.path),
      size_bytes: sizeBytes,
      sha256,
      modified_at: new Date(entry.modifiedAt).toISOString(),
      transfer: this.server.expect({ kind: 'download', ...content }),
    };
  }

  @Handles(beginUpload)
  async upload(
    { node_id: nodeId, path, if_match: ifMatch, text }: ParsedInputOf<typeof beginUpload>,
    context: OperationContext,
  ): Promise<OutputOf<typeof beginUpload>> {
    const isNew = ifMatch === null;
    // The change itself is an operation that everybody knows, as the audit trail tells it.
    const change = { ...context, operation: isNew ? createFile : writeFile };
    await this.writes.mayBegin({ nodeId, path, field: 'path', context: change, isNew });
    return { transfer: this.server.expect({ kind: 'upload', nodeId, path, ifMatch, text, context: change }) };
  }
}
